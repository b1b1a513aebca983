import type { SummaryResponse } from '../api/marketplace-api.ts';
import { decideWinner, isComparable, type Results, resultDays, sessionsWithRevenueMin } from '../experiment/results.ts';
import { variants } from '../experiment/variants.ts';
import type { Product } from '../products/product.ts';
import { type Html, html } from '../web/html.ts';
import { formatCount, formatDollars, formatPercent } from './formatting.ts';
import { layout } from './layout.ts';

interface Row {
  readonly label: string;
  readonly explanation: string;
  readonly format: (summary: SummaryResponse) => string;
  /** Whether this figure decides the experiment. */
  readonly decides?: true;
  /** Whether the figure is hidden until both variants have enough revenue to be compared. */
  readonly needsRevenue?: true;
}

const earlyRows: readonly Row[] = [
  { label: 'Sessions', explanation: 'page loads', format: (s) => formatCount(s.sessions_total) },
  { label: 'Views', explanation: 'times offers were shown', format: (s) => formatCount(s.marketplace_views) },
  {
    label: 'Clicks',
    explanation: 'offers followed, each once per session',
    format: (s) => formatCount(s.offer_clicks),
  },
  { label: 'Click rate', explanation: 'clicks per view', format: (s) => formatPercent(s.click_rate) },
  {
    label: 'Attributed',
    explanation: 'what the clicks are expected to earn',
    format: (s) => formatDollars(s.rev_attributed),
  },
];

const maturedRows = ({ revenue }: Product): readonly Row[] => [
  {
    label: 'Matured sessions',
    explanation: 'older than 45 days',
    format: ({ matured }) => formatCount(matured.sessions),
  },
  {
    label: 'Sessions with revenue',
    explanation: `of these; at least ${sessionsWithRevenueMin} are needed`,
    format: ({ matured: { sessions_with_revenue: count } }) => (count === null ? 'unknown' : formatCount(count)),
  },
  {
    label: 'Confirmed',
    explanation: revenue.confirmed,
    format: (s) => formatDollars(s.rev_confirmed),
    needsRevenue: true,
  },
  {
    label: 'Confirmed per session',
    explanation: 'over all sessions, also those too young to have earned',
    format: (s) => formatDollars(s.rev_per_session),
    needsRevenue: true,
  },
  {
    label: 'Confirmed per matured session',
    explanation: 'judge by this one',
    format: ({ matured }) => formatDollars(matured.rev_per_session!),
    decides: true,
    needsRevenue: true,
  },
  {
    label: '95% interval',
    explanation: 'where the true figure most likely lies',
    format: ({ matured: { ci95 } }) => `${formatDollars(ci95!.low)} to ${formatDollars(ci95!.high)}`,
    decides: true,
    needsRevenue: true,
  },
];

/** Renders the results page for the operator of the experiment. */
export function resultsPage(product: Product, results: Results): Html {
  const { headline, reason } = decideWinner(results);
  const { as_of: asOf } = results.a;
  return layout({
    title: `Results of ${product.name}`,
    product,
    main: html`<h1>Which page earns more?</h1>
<p class="lead">${product.name}: the last ${resultDays} days, from ${results.since} on. Reload for newer figures.</p>
<section class="card verdict" aria-labelledby="verdict"><h2 id="verdict">${headline}</h2><p>${reason}</p></section>
<div class="scroll" role="region" aria-label="Figures of both variants" tabindex="0">
<table>
<thead><tr><th scope="col"><span class="hidden">Figure</span></th>${(['a', 'b'] as const).map(
      (variant) => html`<th scope="col">Variant ${variants[variant].name}
<span class="means">${variants[variant].idea}</span> <code class="means">${variants[variant].referrerTag}</code></th>`,
    )}</tr></thead>
${rowGroup('At once: does the page work at all?', earlyRows, results)}
${rowGroup('After weeks: what is it worth?', maturedRows(product), results)}
</table>
</div>
<section class="prose">
<h2>Which figure to judge by, and when</h2>
<p><strong>Judge by “confirmed per matured session”, once both intervals are there and do not overlap.</strong>
${product.revenue.timing}</p>
<p>Click rate and attributed revenue come the same day. They show early that something is broken, or that a page persuades
nobody. They do not decide: offers that many people follow may be offers that few of them get. Offers shown again, as by
reloading the page, are one more view each.</p>
<p>Decide beforehand how long the experiment runs. Whoever looks every day and stops at the first lucky difference finds a
winner where there is none. Visits with <code>?variant=</code> in the address count as well; their sessions carry the metadata
<code>assignment: forced</code>, by which they can be left out when analytics is read session by session.</p>
</section>
${asOf !== null && html`<p class="small">Figures as of ${asOf.slice(0, 16).replace('T', ' ')} UTC.</p>`}`,
  });
}

function rowGroup(title: string, rows: readonly Row[], results: Results): Html {
  const comparable = isComparable(results);
  const cell = ({ format, needsRevenue }: Row, summary: SummaryResponse): string =>
    needsRevenue === true && !comparable ? 'too early' : format(summary);
  return html`<tbody>
<tr class="group"><th colspan="3" scope="rowgroup">${title}</th></tr>
${rows.map(
  (row) => html`<tr${row.decides === true && html` class="decides"`}>
<th scope="row">${row.label} <span class="means">${row.explanation}</span></th>
<td>${cell(row, results.a)}</td><td>${cell(row, results.b)}</td></tr>`,
)}
</tbody>`;
}
