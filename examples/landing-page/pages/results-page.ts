import type { SummaryAnswer } from '../api/shapes.ts';
import { type Results, resultDays } from '../experiment/results.ts';
import { variants } from '../experiment/variants.ts';
import { verdictOf } from '../experiment/verdict.ts';
import { type Html, html } from '../web/html.ts';
import { layout } from './layout.ts';
import { count, dollars, share } from './numbers.ts';

interface Row {
  readonly label: string;
  readonly means: string;
  readonly figure: (summary: SummaryAnswer) => string;
  /** What the experiment is judged by. */
  readonly decides?: true;
}

const early: readonly Row[] = [
  { label: 'Sessions', means: 'page loads', figure: (s) => count(s.sessions_total) },
  { label: 'Views', means: 'times offers were shown', figure: (s) => count(s.marketplace_views) },
  { label: 'Clicks', means: 'offers followed, each once a session', figure: (s) => count(s.offer_clicks) },
  { label: 'Click rate', means: 'clicks a view', figure: (s) => share(s.click_rate) },
  { label: 'Attributed', means: 'what the clicks are expected to earn', figure: (s) => dollars(s.rev_attributed) },
];

const settled: readonly Row[] = [
  { label: 'Confirmed', means: 'what lenders owe for funded loans', figure: (s) => dollars(s.rev_confirmed) },
  {
    label: 'Confirmed a session',
    means: 'over all sessions, also those too young to have earned',
    figure: (s) => dollars(s.rev_per_session),
  },
  { label: 'Matured sessions', means: 'older than 45 days', figure: (s) => count(s.sessions_matured) },
  {
    label: 'Confirmed a matured session',
    means: 'judge by this one',
    figure: (s) => (s.rev_per_session_matured === null ? 'none yet' : dollars(s.rev_per_session_matured)),
    decides: true,
  },
  {
    label: '95% interval',
    means: 'where the true figure most likely lies',
    figure: ({ rev_per_session_ci95: interval }) =>
      interval === null ? 'from 30 sessions on' : `${dollars(interval.low)} to ${dollars(interval.high)}`,
    decides: true,
  },
];

/** For whoever runs the experiment. */
export function resultsPage(results: Results): Html {
  const { headline, reason } = verdictOf(results);
  const { as_of: asOf } = results.a;
  return layout({
    title: 'Results',
    main: html`<h1>Which page earns more?</h1>
<p class="lead">The last ${resultDays} days, from ${results.since} on. Reload for newer figures.</p>
<section class="card verdict" aria-labelledby="verdict"><h2 id="verdict">${headline}</h2><p>${reason}</p></section>
<div class="scroll" role="region" aria-label="Figures of both variants" tabindex="0">
<table>
<thead><tr><th scope="col"><span class="hidden">Figure</span></th>${(['a', 'b'] as const).map(
      (variant) => html`<th scope="col">Variant ${variants[variant].name}
<span class="means">${variants[variant].idea}</span> <code class="means">${variants[variant].referrerTag}</code></th>`,
    )}</tr></thead>
${group('At once: does the page work at all?', early, results)}
${group('After weeks: what is it worth?', settled, results)}
</table>
</div>
<section class="prose">
<h2>Which figure to judge by, and when</h2>
<p><strong>Judge by “confirmed a matured session”, once both intervals are there and do not overlap.</strong> A lender confirms
a loan two to six weeks after the click. Until then a session has earned nothing, whatever it will be worth, so that the
sessions of the last weeks pull “confirmed a session” down. Matured sessions have had their 45 days.</p>
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

function group(title: string, rows: readonly Row[], { a, b }: Results): Html {
  return html`<tbody>
<tr class="group"><th colspan="3" scope="rowgroup">${title}</th></tr>
${rows.map(
  ({ label, means, figure, decides }) => html`<tr${decides === true && html` class="decides"`}>
<th scope="row">${label} <span class="means">${means}</span></th><td>${figure(a)}</td><td>${figure(b)}</td></tr>`,
)}
</tbody>`;
}
