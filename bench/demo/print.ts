import { styleText } from 'node:util';
import type { Borrower } from '../population/borrower.ts';
import type { MarketplaceResponse, Offer, SummaryResponse } from './marketplace-client.ts';

export function printStepTitle(text: string): void {
  console.log(`\n${styleText(['bold', 'cyan'], text)}`);
}

export function printNote(text: string): void {
  console.log(styleText('dim', text));
}

export function printRequestAndResponse(request: string, sent: unknown, status: number, body: unknown): void {
  console.log(`\n${styleText('bold', request)}`);
  if (sent !== undefined) console.log(indent(JSON.stringify(sent, null, 2)));
  console.log(styleText('dim', `  status: ${status}`));
  if (body !== null) console.log(indent(JSON.stringify(body, null, 2)));
}

export function describeBorrower(borrower: Borrower): string {
  return (
    `${formatUsd(borrower.loan_amount)} for ${borrower.loan_purpose}, score ${borrower.credit_score_range}, ` +
    `${formatUsd(borrower.annual_income)} a year, ${borrower.employment_status}, ${borrower.state}`
  );
}

export function formatOffersTable(offers: readonly Offer[]): string {
  return textTable(
    ['', 'Lender', 'APR %', 'Monthly', 'Stars'],
    offers.map((offer, index) => [
      String(index + 1),
      offer.lender_name,
      `${offer.apr_range.min.toFixed(2)} to ${offer.apr_range.max.toFixed(2)}`,
      `$${offer.monthly_payment_estimate.toFixed(2)}`,
      offer.svc_star_rating.toFixed(1),
    ]),
  );
}

export function formatBorrowerLine(number: number, variant: string, borrower: Borrower, seen: BorrowerOutcome): string {
  const best = seen.marketplace.offers[0];
  const found =
    best === undefined
      ? 'no offer'
      : `${seen.marketplace.total_offers} ${seen.marketplace.total_offers === 1 ? 'offer' : 'offers'}, first by ${seen.sort}: ${best.lender_name} ` +
        `${best.apr_range.min.toFixed(2)} % ${formatUsd(best.monthly_payment_estimate)}/month`;
  const clicked = seen.clickedHost === null ? '' : ` -> ${seen.clickedHost}`;
  return `${String(number).padStart(3)} ${variant}  ${describeBorrower(borrower)}: ${seen.readiness}, ${found}${clicked}`;
}

/** Result of one borrower. */
export interface BorrowerOutcome {
  readonly readiness: string;
  readonly sort: string;
  readonly marketplace: MarketplaceResponse;
  /** Host of the redirect after the click; null if the borrower clicked no offer. */
  readonly clickedHost: string | null;
}

/** Formats the analytics of both variants as one table. */
export function formatAnalyticsTable(summaries: readonly SummaryResponse[]): string {
  const row = (name: string, figure: (summary: SummaryResponse) => string) => [name, ...summaries.map(figure)];
  return textTable(
    ['', ...summaries.map(({ referrer_tag }) => referrer_tag)],
    [
      row('sessions_total', ({ sessions_total }) => String(sessions_total)),
      row('marketplace_views', ({ marketplace_views }) => String(marketplace_views)),
      row('offer_clicks', ({ offer_clicks }) => String(offer_clicks)),
      row('click_rate', ({ click_rate }) => click_rate.toFixed(3)),
      row('rev_attributed', ({ rev_attributed }) => `$${rev_attributed.toFixed(2)}`),
      row('rev_confirmed', ({ rev_confirmed }) => `$${rev_confirmed.toFixed(2)}`),
      row('rev_per_session', ({ rev_per_session }) => `$${rev_per_session.toFixed(2)}`),
      row('top lender', ({ top_lenders }) => top_lenders[0]?.lender ?? '-'),
    ],
  );
}

function formatUsd(amount: number): string {
  return `$${Math.round(amount).toLocaleString('en-US')}`;
}

function indent(text: string): string {
  return text.replaceAll(/^/gm, '  ');
}

/** Pads columns to their widest cell. The first column is left-aligned. */
function textTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map((row) => row[column]!.length)));
  const line = (cells: readonly string[]) =>
    `  ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join('  ')}`.trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}
