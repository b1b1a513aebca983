import type { ArmResults, SummaryResponse } from '../api/marketplace-api.ts';
import type { Results, VariantFigures } from '../experiment/results.ts';
import { type Variant, variants } from '../experiment/variants.ts';
import { previewSuffix } from '../experiment/visit.ts';
import type { Product } from '../products/product.ts';
import { type Html, html } from '../web/html.ts';
import { formatCount, formatDate, formatDollars, formatPercent } from './formatting.ts';
import { layout } from './layout.ts';

interface Row<Figures> {
  readonly label: string;
  readonly explanation: string;
  readonly format: (figures: Figures) => string;
}

const summaryRows: readonly Row<SummaryResponse>[] = [
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

const tooEarly = 'too early';

/** Returns the rows of the experiment. Until the experiment compares the variants, its revenue would only tempt to compare it. */
function experimentRows({ revenue }: Product, isCompared: boolean): readonly Row<ArmResults>[] {
  return [
    { label: 'Visitors', explanation: 'each in one variant', format: (arm) => formatCount(arm.units) },
    {
      label: 'Mature sessions',
      explanation: 'whose revenue is complete',
      format: (arm) => formatCount(arm.mature_sessions),
    },
    {
      label: 'Visitors with revenue',
      explanation: 'in these sessions',
      format: (arm) => formatCount(arm.units_with_revenue),
    },
    {
      label: 'Confirmed per mature session',
      explanation: revenue.confirmed,
      format: ({ revenue_per_session: usd }) => (isCompared && usd !== null ? formatDollars(usd) : tooEarly),
    },
    {
      label: '95% interval',
      explanation: 'of this variant alone',
      format: ({ interval }) =>
        isCompared && interval !== null
          ? `${formatDollars(interval.low)} to ${formatDollars(interval.high)}`
          : tooEarly,
    },
  ];
}

/** Renders the results page for the operator of the experiment. */
export function resultsPage(product: Product, results: Results): Html {
  const { experiment, response } = results;
  const { as_of: asOf } = results.a.summary;
  const isCompared = response.comparisons.every(({ difference }) => difference !== null);
  return layout({
    title: `Results of ${product.name}`,
    product,
    main: html`<h1>Which page earns more?</h1>
<p class="lead">${product.name}: the experiment <code>${experiment.name}</code>, since ${formatDate(experiment.starts_on)}.</p>
<section class="card verdict" aria-labelledby="verdict"><h2 id="verdict">Result</h2><p>${response.sentence}</p>
${response.warnings.map((warning) => html`<p>${warning}</p>`)}</section>
<div class="scroll" role="region" aria-label="Figures of both variants" tabindex="0">
<table>
<thead><tr><th scope="col"><span class="hidden">Figure</span></th>${(['a', 'b'] as const).map(
      (variant) => html`<th scope="col">Variant ${variants[variant].name}
<span class="means">${variants[variant].idea}</span> <code class="means">${variants[variant].referrerTag}</code></th>`,
    )}</tr></thead>
${rowGroup('Up to now: does the page work at all?', summaryRows, results, ({ summary }) => summary)}
${rowGroup(`Up to ${formatDate(response.as_of)} (UTC): what is it worth?`, experimentRows(product, isCompared), results, ({ arm }) => arm)}
</table>
</div>
<section class="prose">
<h2>How to read this</h2>
<p><strong>Decide by the result above the table.</strong> It is the sentence of the marketplace, which claims no more than the figures
allow, and you may read it every day. One of two equal pages always has the higher figures.</p>
<p>${product.revenue.timing} Revenue counts if it occurred within ${experiment.revenue_days} days of the session and was confirmed at most
${experiment.grace_days} days later. After that, the session is mature.</p>
<p>Click rate and attributed revenue come the same day. They show early that something is broken, or that a page persuades
nobody. They do not decide: offers that many people follow may be offers that few of them get. Offers shown again, as by
reloading the page, are one more view each.</p>
<p>Visits with <code>?variant=</code> in the address are in no variant. Their sessions have the tags of the variants with the ending
<code>${previewSuffix}</code>.</p>
</section>
${asOf !== null && html`<p class="small">Figures as of ${asOf.slice(0, 16).replace('T', ' ')} UTC.</p>`}`,
  });
}

function rowGroup<Figures>(
  title: string,
  rows: readonly Row<Figures>[],
  results: Results,
  select: (figures: VariantFigures) => Figures,
): Html {
  const cell = ({ format }: Row<Figures>, variant: Variant): string => format(select(results[variant]));
  return html`<tbody>
<tr class="group"><th colspan="3" scope="rowgroup">${title}</th></tr>
${rows.map(
  (row) => html`<tr>
<th scope="row">${row.label} <span class="means">${row.explanation}</span></th>
<td>${cell(row, 'a')}</td><td>${cell(row, 'b')}</td></tr>`,
)}
</tbody>`;
}
