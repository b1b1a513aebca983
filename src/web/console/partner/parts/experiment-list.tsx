import { useCallback, useEffect, useState } from 'preact/hooks';
import { callApi } from '../../common/api-client.ts';
import type { ExperimentResponse, ExperimentResults, ExperimentsResponse } from '../../common/api-types.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { PagingControls } from '../../common/data-table.tsx';
import { formatRange, formatUsdPerUnit, formatUtcDay } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { Sparkline } from '../../common/sparkline.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { type Loaded, useApi, useRetry } from '../../common/use-api.ts';
import { describeStatus } from '../experiment-words.ts';
import { overviewDays, overviewExperiments } from '../limits.ts';
import { partnerPath } from '../partner-path.ts';
import { listDifferences } from './difference-series.ts';
import { armNames, Sentence, StateWord } from './words.tsx';

interface ListedExperiment {
  readonly definition: ExperimentResponse;
  readonly results: ExperimentResults;
}

/** Day of the latest decision of an experiment: of its closing, or of an arm. Empty without a decision. */
function decisionDay({ definition, results }: ListedExperiment): string {
  const days = results.comparisons.map(({ decided_on }) => decided_on ?? '');
  return [definition.closing?.closed_at.slice(0, 10) ?? '', ...days].sort().at(-1)!;
}

/** The newest decisions first, then experiments that are invalid or not decided, the newest first. */
function compareExperiments(one: ListedExperiment, other: ListedExperiment): number {
  return (
    decisionDay(other).localeCompare(decisionDay(one)) ||
    other.definition.created_at.localeCompare(one.definition.created_at)
  );
}

/** List of the experiments that were not over before the last days, with their sentences and small plots. */
export function ExperimentList({ route }: { readonly route: Route }) {
  const login = useLogin<PartnerLogin>();
  const path = partnerPath(login, ['experiments'], {
    recent_days: overviewDays,
    limit: overviewExperiments,
    cursor: route.query.experiments_cursor,
  });
  const list = useApi<ExperimentsResponse>(path, ['data', 'next_cursor']);
  return (
    <section class="card section">
      <h2>Experiments</h2>
      <WhenLoaded loaded={list} what="experiments">
        {({ data, next_cursor }) => {
          const paging = createCursorPaging(route, next_cursor, 'experiments_');
          return (
            <>
              {data.length === 0 ? <NoExperiments scope={login.scope} /> : <ExperimentItems definitions={data} />}
              {(paging.onNext ?? paging.onPrevious) !== null && (
                <PagingControls paging={paging} caption="Experiments" />
              )}
            </>
          );
        }}
      </WhenLoaded>
    </section>
  );
}

function NoExperiments({ scope }: Pick<PartnerLogin, 'scope'>) {
  return (
    <Empty title="No experiments">
      <p>
        An experiment compares pages by the confirmed revenue per session, and says in one sentence which page earns
        more.
      </p>
      {scope === 'full' && (
        <p>
          <a href="#/new-experiment">Define an experiment</a>
        </p>
      )}
    </Empty>
  );
}

function ExperimentItems({ definitions }: { readonly definitions: readonly ExperimentResponse[] }) {
  const loaded = useResults(definitions);
  return (
    <WhenLoaded loaded={loaded} what="results">
      {(listed) => (
        <ul class="experiments">
          {listed.map((experiment) => (
            <ExperimentItem key={experiment.definition.name} {...experiment} />
          ))}
        </ul>
      )}
    </WhenLoaded>
  );
}

/** Loads the results of some experiments. */
function useResults(definitions: readonly ExperimentResponse[]): Loaded<readonly ListedExperiment[]> {
  const login = useLogin<PartnerLogin>();
  const [value, setValue] = useState<Omit<Loaded<readonly ListedExperiment[]>, 'reload'>>(nothing);
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const ended = new AbortController();
    const requests = definitions.map(async (definition) => {
      const path = partnerPath(login, ['experiments', definition.name, 'results'], { series: true });
      const result = await callApi<ExperimentResults>(path, {
        members: ['sentence', 'comparisons'],
        signal: ended.signal,
      });
      return { definition, result };
    });
    void Promise.all(requests).then((answers) => {
      if (ended.signal.aborted) return;
      const failure = answers.flatMap(({ result }) => (result.ok ? [] : [result.failure]))[0] ?? null;
      const listed = answers.flatMap(({ definition, result }) =>
        result.ok ? [{ definition, results: result.value }] : [],
      );
      setValue({ value: listed.sort(compareExperiments), failure, isLoading: false });
    });
    return () => ended.abort();
  }, [login, definitions, attempt]);
  const reload = useCallback(() => setAttempt((count) => count + 1), []);
  useRetry(value.failure, reload);
  return { ...value, reload };
}

const nothing = { value: null, failure: null, isLoading: true };

function ExperimentItem({ definition, results }: ListedExperiment) {
  const nameOf = armNames(results.arms);
  const { lines } = listDifferences(results, nameOf);
  const day = decisionDay({ definition, results });
  const { word, text } = describeStatus(results, definition.closing);
  return (
    <li class="experiment">
      <div class="experiment-head">
        <h3>
          <a href={formatRoute(['experiments', definition.name])}>{definition.name}</a>
        </h3>
        <StateWord word={word} />
        <span class="soft">
          {text}
          {day !== '' && results.state !== 'closed' && `, decided on ${formatUtcDay(day)}`}
          {day === '' && results.planned_day !== null && `, planned day ${formatUtcDay(results.planned_day)}`}
        </span>
      </div>
      <p class="experiment-sentence">
        <Sentence text={results.sentence} arms={results.arms} />
      </p>
      <ul class="experiment-plots">
        {results.comparisons.map(({ arm, difference }, index) => (
          <li key={arm}>
            {difference !== null && results.decision !== 'invalid' && (
              <>
                <Sparkline
                  values={lines[index]!.values}
                  band={lines[index]!.band}
                  label={`Difference of ${nameOf(arm)} over time, with its interval`}
                />
                <span class="soft">
                  <bdi>{nameOf(arm)}</bdi>: difference <strong>{formatUsdPerUnit(difference.value)}</strong> per
                  session, interval {formatRange(difference.low, difference.high, formatUsdPerUnit)}
                </span>
              </>
            )}
          </li>
        ))}
      </ul>
    </li>
  );
}
