import assert from 'node:assert/strict';
import { chance, type Random, wholeNumber } from '../../bench/population/random.ts';
import { daysSinceEpoch, monthOfDay } from '../../src/domain/calendar.ts';
import type { LoanCatalog, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';
import { drawOne, type Tally } from './expectations.ts';
import { visitLedgerClicks } from './ledger-clicks.ts';
import type { Partner } from './server-process.ts';
import { isAccepted, marketplaceOf, querySummary, type ServerConnections, sessionOf } from './wire.ts';

/** Redirects after this time may have no durable record (docs/contract.md#clicks-without-a-record). */
const lateClickMs = 500;
/** Number of unused links that a caller keeps, to click on them after the offer was hidden. */
const linksKept = 8;
/** No random borrower has this income, so no other caller gets the offers with budgets. */
const incomeOfBudgetCallers = 9_999_999;

const budgets = {
  'budget-asap': { per_day_usd: 551.11, pacing: 'asap' },
  'budget-even': { per_day_usd: 1_333.33, per_month_usd: 7_999.99, pacing: 'even' },
} as const satisfies Readonly<Record<string, NonNullable<LoanOffer['budget']>>>;
const offerIds = Object.keys(budgets) as (keyof typeof budgets)[];

/** Adds the offers with budgets to a catalog. Only borrowers with the income of the budget callers get these offers. */
export function withBudgetOffers(catalog: LoanCatalog): LoanCatalog {
  const [lender] = catalog.lenders;
  const model = lender!.offers[0]!;
  const offers = offerIds.map((id) => ({
    ...model,
    id,
    criteria: [{ field: 'annual_income', min: incomeOfBudgetCallers }],
    budget: budgets[id],
  }));
  return { ...catalog, lenders: [{ ...lender!, name: 'Budget Lender', offers }, ...catalog.lenders] };
}

/** Clicks that were sent, and clicks whose records must be in the ledger. */
export class BudgetClicks {
  readonly startedOn = daysSinceEpoch(Date.now());
  readonly sent = new Map<string, number>();
  readonly durable = new Map<string, number>();

  add(counts: Map<string, number>, offerId: string): void {
    counts.set(offerId, (counts.get(offerId) ?? 0) + 1);
  }
}

interface BudgetLoadOptions {
  readonly partner: Partner;
  readonly wire: ServerConnections;
  readonly random: Random;
  readonly clicks: BudgetClicks;
  readonly tally: Tally;
}

/** Clicks the offers with budgets, each click in a new session, until the connection is lost. */
export async function runBudgetLoad(options: BudgetLoadOptions): Promise<void> {
  const { wire, random, tally } = options;
  const links = new Map<string, string[]>(offerIds.map((id) => [id, []]));
  while (!wire.isLost) {
    const offerId = drawOne(random, offerIds)!;
    const kept = links.get(offerId)!;
    const path = await requestLink(options, offerId);
    if (path !== null) kept.push(path);
    else tally.add('requests without the offer with a budget');
    const isHidden = path === null && chance(random, 0.3);
    if (kept.length > wholeNumber(random, 0, linksKept) || (isHidden && kept.length > 0)) {
      await click(options, offerId, kept.shift()!);
    }
  }
}

/** Creates a session and returns the click path of the offer, or null if the answer does not contain the offer. */
async function requestLink({ partner, wire, random, tally }: BudgetLoadOptions, offerId: string) {
  const created = await wire.createSession(partner, { referrer_tag: offerId }, null);
  if (!isAccepted(created, tally)) return null;
  const { sub_id: subId } = sessionOf(created);
  const credit_score_range = drawOne(random, ['700-749', '750-799', '800+']);
  const fields = { ...personalLoansFixture.complete, annual_income: incomeOfBudgetCallers, credit_score_range };
  if (!isAccepted(await wire.submitInputs(partner, subId, fields), tally)) return null;
  const view = await wire.getMarketplace(partner, subId, 20);
  if (!isAccepted(view, tally)) return null;
  const offer = marketplaceOf(view).offers.find(({ svc_offer_id: id }) => id === offerId);
  if (offer === undefined) return null;
  const { pathname, search } = new URL(offer.click_url);
  return pathname + search;
}

async function click({ wire, clicks, tally }: BudgetLoadOptions, offerId: string, path: string): Promise<void> {
  clicks.add(clicks.sent, offerId);
  const sentMs = performance.now();
  const answer = await wire.click(path);
  if (answer === null) return;
  assert.equal(answer.status, 302);
  if (performance.now() - sentMs < lateClickMs) clicks.add(clicks.durable, offerId);
  tally.add('clicks on offers with a budget');
}

/** Checks the clicks and the revenue of the offers with budgets in the analytics. Returns the booked micro-dollars by offer. */
export async function checkBudgets(
  wire: ServerConnections,
  partner: Partner,
  clicks: BudgetClicks,
): Promise<ReadonlyMap<string, number>> {
  const booked = new Map<string, number>();
  for (const id of offerIds) {
    const summary = await querySummary(wire, partner, { referrer_tag: id });
    const micros = Math.round(summary.rev_attributed * 1_000_000);
    booked.set(id, micros);
    const isSameDay = daysSinceEpoch(Date.now()) === clicks.startedOn;
    if (isSameDay) assert.ok(micros <= budgets[id].per_day_usd * 1_000_000, `${id} booked ${micros} micro-dollars`);
    const [durable, sent] = [clicks.durable.get(id) ?? 0, clicks.sent.get(id) ?? 0];
    assert.ok(summary.offer_clicks >= durable && summary.offer_clicks <= sent, `${id}: ${summary.offer_clicks} clicks`);
  }
  return booked;
}

/**
 * Reads the ledger of a stopped server. Checks that its booked clicks exceed no budget of a day or month, that every click on an offer with
 * a budget has a decision, and that the analytics reported the same revenue.
 */
export async function checkBudgetsInLedger(
  folder: string,
  bookedMicros: ReadonlyMap<string, number>,
  tally: Tally,
): Promise<void> {
  const [days, months, totals] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  await visitLedgerClicks(folder, ([, wallMs, , , offerId, , micros, isBooked]) => {
    if (!offerIds.includes(offerId as keyof typeof budgets)) return;
    assert.notEqual(isBooked, undefined, 'a click on an offer with a budget has no decision');
    if (isBooked === false) tally.add('clicks beyond a budget');
    if (isBooked !== true) return;
    const day = daysSinceEpoch(wallMs);
    for (const [sums, key] of [
      [days, `${offerId} ${day}`],
      [months, `${offerId} ${monthOfDay(day).number}`],
      [totals, offerId],
    ] as const) {
      sums.set(key, (sums.get(key) ?? 0) + micros);
    }
  });
  for (const [sums, amount] of [
    [days, 'per_day_usd'],
    [months, 'per_month_usd'],
  ] as const) {
    for (const [key, micros] of sums) {
      const budget: NonNullable<LoanOffer['budget']> = budgets[key.split(' ')[0] as keyof typeof budgets];
      const usd = budget[amount] ?? Number.POSITIVE_INFINITY;
      assert.ok(micros <= usd * 1_000_000, `${key}: booked ${micros} micro-dollars`);
    }
  }
  for (const id of offerIds) {
    assert.equal(totals.get(id) ?? 0, bookedMicros.get(id), `revenue of ${id}`);
    tally.add(`micro-dollars booked on ${id}`, bookedMicros.get(id));
  }
}
