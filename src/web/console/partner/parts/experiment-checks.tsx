import type { ExperimentResponse, ExperimentResults } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import {
  formatCount,
  formatPValue,
  formatRange,
  formatRatio,
  formatShare,
  noValue,
  unitSpace,
} from '../../common/format.ts';
import { armName, armNames } from './words.tsx';

type Arm = ExperimentResults['arms'][number];

/** Check whether the units arrived in the intended split. */
export function SplitCheck({ results }: { readonly results: ExperimentResults }) {
  const { split_check: check, arms, unit } = results;
  const total = arms.reduce((sum, { units }) => sum + units, 0);
  const columns: readonly Column<Arm>[] = [
    { header: 'Arm', cell: armName, value: armName },
    {
      header: 'Intended share',
      isNumber: true,
      cell: ({ weight }) => formatShare(weight),
      value: ({ weight }) => weight,
    },
    {
      header: 'Share that arrived',
      isNumber: true,
      cell: ({ units }) => (total === 0 ? noValue : formatShare(units / total)),
      value: ({ units }) => (total === 0 ? null : units / total),
    },
    {
      header: unit === 'visitor' ? 'Visitors' : 'Sessions',
      isNumber: true,
      cell: ({ units }) => formatCount(units),
      value: ({ units }) => units,
    },
  ];
  const isRight = !check.invalid && total > 0;
  return (
    <section class="card section">
      <h2>
        Split check {check.invalid && <span class="word bad">Split is wrong</span>}
        {isRight && <span class="word good">Split is right</span>}
      </h2>
      <p class="soft">
        {check.invalid &&
          'The units did not arrive in the intended split, so the figures must not be used. Check redirects, caching and bots first.'}
        {isRight && 'The units arrived in the intended split, within chance.'}
        {!check.invalid && !isRight && 'No units have arrived yet, so there is nothing to check.'}
      </p>
      <DataTable
        caption="Units of each arm"
        isCaptionHidden
        columns={columns}
        rows={arms}
        rowKey={({ referrer_tag }) => referrer_tag}
        csvName={`${results.name}-split`}
      />
      <dl class="figures">
        <div>
          <dt>p value of one look (chi-square)</dt>
          <dd>{formatPValue(check.chi_square_p)}</dd>
        </div>
        {check.assignment_mismatches !== null && (
          <div>
            <dt>Sessions with another arm than assigned</dt>
            <dd>{formatCount(check.assignment_mismatches)}</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

/** Units and days that are still needed to find the smallest difference that matters. */
export function Planning({
  definition,
  results,
}: {
  readonly definition: ExperimentResponse;
  readonly results: ExperimentResults;
}) {
  const { comparisons, unit, arms } = results;
  const nameOf = armNames(arms);
  const planned = comparisons.flatMap(({ arm, planning, decided_on }) =>
    planning === null || decided_on !== null ? [] : [{ arm, planning }],
  );
  const effect = definition.min_effect_percent;
  type Row = (typeof planned)[number];
  const columns: readonly Column<Row>[] = [
    { header: 'Arm', cell: ({ arm }) => nameOf(arm), value: ({ arm }) => arm },
    {
      header: `Mature ${unit}s needed`,
      isNumber: true,
      cell: ({ planning }) => formatCount(planning.units_per_arm),
      value: ({ planning }) => planning.units_per_arm,
    },
    {
      header: 'Still missing',
      isNumber: true,
      cell: ({ planning }) => formatCount(planning.units_left),
      value: ({ planning }) => planning.units_left,
    },
    {
      header: 'Days left',
      isNumber: true,
      cell: ({ planning }) => formatCount(planning.days_left),
      value: ({ planning }) => planning.days_left,
    },
  ];
  return (
    <section class="card section">
      <h2>How long it takes</h2>
      {effect === null ? (
        <p class="soft">The experiment has no smallest difference that matters, so its length cannot be estimated.</p>
      ) : planned.length === 0 ? (
        <p class="soft">
          There is nothing to estimate: the experiment is decided, its plan is over, or no arm has mature revenue yet.
        </p>
      ) : (
        <>
          <p class="soft">
            Needed to find a difference of {effect}
            {unitSpace}% in 80 of 100 experiments, at the present number of sessions per day:
          </p>
          <DataTable
            caption="Units and days that are missing"
            isCaptionHidden
            columns={columns}
            rows={planned}
            rowKey={({ arm }) => arm}
            csvName={`${results.name}-planning`}
          />
          {planned.map(({ arm, planning }) =>
            planning.smallest_effect_percent === null ? null : (
              <p key={arm}>
                By the planned day, only a difference of at least {planning.smallest_effect_percent.toFixed(0)}
                {unitSpace}% is likely to be found for <bdi>{nameOf(arm)}</bdi>.
              </p>
            ),
          )}
        </>
      )}
    </section>
  );
}

type Guardrail = ExperimentResults['guardrails'][number];

const guardrailTexts: Readonly<Record<Guardrail['name'], string>> = {
  sessions_per_visitor: 'Sessions per visitor',
  clicks_per_session: 'Clicks per session',
  inputs_completed: 'Share of sessions with complete inputs',
  widget_errors: 'Widget errors per session',
  reversed_share: 'Share of reversed payouts',
};

function GuardrailWord({ word }: Pick<Guardrail, 'word'>) {
  if (word === null) return <span class="soft">too few events</span>;
  return <span class={`word ${word === 'worse' ? 'bad' : ''}`}>{word}</span>;
}

/** Ratios that may show harm. They are never a reason to ship an arm. */
export function Guardrails({ results: { name, guardrails, arms } }: { readonly results: ExperimentResults }) {
  const nameOf = armNames(arms);
  const columns: readonly Column<Guardrail>[] = [
    { header: 'Guardrail', cell: (each) => guardrailTexts[each.name] ?? each.name, value: (each) => each.name },
    { header: 'Arm', cell: ({ arm }) => nameOf(arm), value: ({ arm }) => arm },
    { header: 'Control', isNumber: true, cell: ({ control }) => formatRatio(control), value: ({ control }) => control },
    { header: 'This arm', isNumber: true, cell: ({ value }) => formatRatio(value), value: ({ value }) => value },
    {
      header: 'Difference',
      isNumber: true,
      cell: ({ difference }) => formatRatio(difference),
      value: ({ difference }) => difference,
    },
    { header: '99\u00a0% interval', isNumber: true, cell: ({ low, high }) => formatRange(low, high, formatRatio) },
    { header: 'Sign of harm', cell: ({ word }) => <GuardrailWord word={word} />, value: ({ word }) => word },
  ];
  return (
    <section class="card section">
      <h2>Guardrails</h2>
      <p class="soft">
        Ratios that may show that a page is broken. A guardrail can be a reason to stop an arm, but never a reason to
        ship an arm.
      </p>
      <DataTable
        caption="Guardrails"
        isCaptionHidden
        columns={columns}
        rows={guardrails}
        rowKey={(each) => `${each.arm} ${each.name}`}
        csvName={`${name}-guardrails`}
      />
    </section>
  );
}
