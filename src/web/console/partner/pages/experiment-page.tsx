import type { ExperimentResponse, ExperimentResults } from '../../common/api-types.ts';
import { formatCount, formatUsdPerUnit, formatUtcDay, unitSpace } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { Plot } from '../../common/plot.tsx';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Notice, WhenLoaded } from '../../common/states.tsx';
import { type Loaded, useApi } from '../../common/use-api.ts';
import { decisionWordOf, describeStatus } from '../experiment-words.ts';
import { partnerPath } from '../partner-path.ts';
import { ArmTables } from '../parts/arm-tables.tsx';
import { Breakdown } from '../parts/breakdown.tsx';
import { ClosingSection } from '../parts/closing-section.tsx';
import { listDifferences } from '../parts/difference-series.ts';
import { Guardrails, Planning, SplitCheck } from '../parts/experiment-checks.tsx';
import { Funnel } from '../parts/funnel.tsx';
import { armNames, Sentence, StateWord } from '../parts/words.tsx';

/** Page of an experiment: the sentence with the result, the figures behind the sentence, and the closing. */
export function ExperimentPage({ name, route }: { readonly name: string; readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const path = ['experiments', name];
  const definition = useApi<ExperimentResponse>(partnerPath(login, path), ['arms', 'closing']);
  const resultsPath = partnerPath(login, [...path, 'results'], { series: true });
  const results = useApi<ExperimentResults>(resultsPath, ['sentence', 'arms']);
  return (
    <>
      <PageHeading title={name} lead={definition.value?.hypothesis ?? undefined} />
      <WhenLoaded loaded={joinLoaded(definition, results)} what="results">
        {(experiment) => (
          <ExperimentSections
            {...experiment}
            groupBy={route.query.group_by ?? null}
            onClosed={() => reloadAll(definition, results)}
          />
        )}
      </WhenLoaded>
    </>
  );
}

interface LoadedExperiment {
  readonly definition: ExperimentResponse;
  readonly results: ExperimentResults;
}

function reloadAll(...loaded: readonly Loaded<unknown>[]): void {
  for (const { reload } of loaded) reload();
}

/** Returns the definition and the results, when both are loaded. */
function joinLoaded(
  definition: Loaded<ExperimentResponse>,
  results: Loaded<ExperimentResults>,
): Loaded<LoadedExperiment> {
  const isComplete = definition.value !== null && results.value !== null;
  return {
    value: isComplete ? { definition: definition.value, results: results.value } : null,
    failure: definition.failure ?? results.failure,
    isLoading: definition.isLoading || results.isLoading,
    reload: () => reloadAll(definition, results),
  };
}

function ExperimentSections({
  definition,
  results,
  groupBy,
  onClosed,
}: LoadedExperiment & { readonly groupBy: string | null; readonly onClosed: () => void }) {
  return (
    <>
      <Verdict definition={definition} results={results} />
      <DifferencePlot results={results} />
      <ArmTables results={results} />
      <div class="columns">
        <SplitCheck results={results} />
        <Planning definition={definition} results={results} />
      </div>
      <Funnel results={results} />
      <RevenueByAge results={results} revenueDays={definition.revenue_days} />
      <Guardrails results={results} />
      <Breakdown definition={definition} groupBy={groupBy} />
      <ClosingSection definition={definition} onClosed={onClosed} />
    </>
  );
}

/** The sentence with its decision, and what a reader needs to judge it. */
function Verdict({ definition, results }: LoadedExperiment) {
  const { sentence, state, as_of, planned_day, warnings, left_out, comparisons, fill_progress } = results;
  const { word, text } = describeStatus(results, definition.closing);
  const nameOf = armNames(results.arms);
  const isPlanOpen = planned_day !== null && (state === 'running' || state === 'maturing');
  const daysLeft = isPlanOpen ? Math.round((Date.parse(planned_day) - Date.parse(as_of)) / 86_400_000) : null;
  const facts: readonly (readonly [label: string, value: string])[] = [
    ['State', text],
    ['Results up to', formatUtcDay(as_of)],
    ['First day', formatUtcDay(definition.starts_on)],
    ['Last day', definition.ends_on === null ? 'no planned end' : formatUtcDay(definition.ends_on)],
    ...(planned_day === null ? [] : [['Planned day', formatUtcDay(planned_day)] as const]),
    ...(daysLeft === null ? [] : [['Days to the planned day', String(daysLeft)] as const]),
    ['Control', nameOf(results.control)],
    ['Unit', definition.assignment === 'hash' ? 'visitor, assigned by hash' : definition.unit],
    ...(definition.cap_usd === null
      ? []
      : [['Largest revenue of a session that counts', `${definition.cap_usd}${unitSpace}USD`] as const]),
    [
      'Left out',
      `${formatCount(left_out.bots)} bots, ${formatCount(left_out.outside_dates)} outside the dates, ${formatCount(left_out.no_unit)} without visitor id`,
    ],
    ...(fill_progress === null
      ? []
      : [['Earlier sessions counted', `${Math.floor(fill_progress * 100)}${unitSpace}%`] as const]),
  ];
  return (
    <section class="card section">
      <h2 class="visually-hidden">Result</h2>
      <Notice kind={word.kind === '' ? 'info' : word.kind}>
        <StateWord word={word} />
        <p class="sentence">
          <Sentence text={sentence} arms={results.arms} />
        </p>
      </Notice>
      {comparisons.length > 1 && (
        <ul class="arm-sentences">
          {comparisons.map((comparison) => (
            <li key={comparison.arm}>
              <StateWord word={decisionWordOf(comparison.decision, state)} />{' '}
              <strong>
                <bdi>{nameOf(comparison.arm)}</bdi>
              </strong>
              : <Sentence text={comparison.sentence} arms={results.arms} />
            </li>
          ))}
        </ul>
      )}
      {warnings.map((warning) => (
        <Notice key={warning} kind="warn">
          <p>
            <Sentence text={warning} arms={results.arms} />
          </p>
        </Notice>
      ))}
      <dl class="figures">
        {facts.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {definition.closing === null && (
        <p>
          <a href={formatRoute(['experiments', definition.name, 'code'])}>Code for your page</a>
        </p>
      )}
    </section>
  );
}

function DifferencePlot({ results }: { readonly results: ExperimentResults }) {
  const { days, lines } = listDifferences(results, armNames(results.arms));
  return (
    <section class="card section">
      <h2>Difference over time</h2>
      {days.length > 0 ? (
        <>
          <p class="soft">
            Revenue per session of each arm minus that of the control. The band is the interval of the difference, and
            stays valid if you look every day. An arm differs from the control when its band no longer contains the line
            of no difference.
          </p>
          <Plot
            title="Difference from the control, USD per session"
            axis={{ kind: 'days', label: 'Day', days }}
            lines={lines}
            format={formatUsdPerUnit}
            zeroLabel="no difference"
            fileName={`${results.name}-difference`}
          />
        </>
      ) : (
        <p>
          There is no comparison yet. The comparison begins when each arm has 25 {results.unit}s with revenue and 14
          days with mature sessions.
        </p>
      )}
    </section>
  );
}

function RevenueByAge({ results, revenueDays }: { readonly results: ExperimentResults; readonly revenueDays: number }) {
  const weeks = Math.max(0, ...results.arms.map(({ revenue_by_age: ages = [] }) => ages.length));
  if (weeks === 0) return null;
  const lines = results.arms.map((arm) => ({
    label: arm.label ?? arm.referrer_tag,
    values: Array.from({ length: weeks }, (_, index) => arm.revenue_by_age?.[index]?.revenue_per_session ?? null),
  }));
  return (
    <section class="card section">
      <h2>When revenue arrives</h2>
      <p class="soft">
        Revenue per session that was confirmed within the first weeks of a session. Revenue counts if it occurred within{' '}
        {revenueDays} days. Later weeks have fewer sessions, so this plot is no comparison of the arms.
      </p>
      <Plot
        title="Revenue per session by age of the session"
        axis={{
          kind: 'numbers',
          label: 'Weeks since the session',
          numbers: Array.from({ length: weeks }, (_, index) => index + 1),
        }}
        lines={lines}
        format={formatUsdPerUnit}
        fileName={`${results.name}-revenue-by-age`}
        height={200}
      />
    </section>
  );
}
