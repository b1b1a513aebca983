import type { ExperimentResponse, ExperimentsResponse, TagFigures, TagsResponse } from '../../../src/index.ts';
import {
  formatCount,
  formatRange,
  formatShare,
  formatTime,
  formatUsd,
  formatUsdPerUnit,
  formatUtcDay,
} from '../../../src/web/console/common/format.ts';
import { describeStatus } from '../../../src/web/console/partner/experiment-words.ts';
import { nameArm, type Results } from './arm-names.ts';
import { column, type ExpectedColumn, type FigurePage, shownColumn, table } from './expected-page.ts';

type Recent = NonNullable<TagFigures['recent']>;

/** Column with a plot of the complete days, which screen readers get as a sentence. */
function dailyColumn(
  header: string,
  member: 'sessions_total' | 'rev_confirmed',
  format: (value: number) => string,
): ExpectedColumn<TagFigures> {
  return shownColumn(header, ({ recent }) => {
    const values = recent!.daily.slice(0, -1).map((day) => day[member]);
    const sorted = values.toSorted((one, other) => one - other);
    return `[${header}: from ${format(sorted[0]!)} to ${format(sorted.at(-1)!)}, last ${format(values.at(-1)!)}]`;
  });
}

const recentColumn = (
  header: string,
  member: Exclude<keyof Recent, 'daily'>,
  format: (value: number | undefined) => string,
): ExpectedColumn<TagFigures> => column(header, ({ recent }) => recent?.[member], format, member);

const tagColumns: readonly ExpectedColumn<TagFigures>[] = [
  column('Tag', ({ referrer_tag: tag }) => tag, String, 'referrer_tag'),
  recentColumn('Sessions', 'sessions_total', formatCount),
  dailyColumn('Sessions a day', 'sessions_total', formatCount),
  recentColumn('Clicks', 'offer_clicks', formatCount),
  recentColumn('Clicks per view', 'click_rate', formatShare),
  recentColumn('Expected revenue', 'rev_attributed', formatUsd),
  recentColumn('Confirmed revenue', 'rev_confirmed', formatUsd),
  dailyColumn('Confirmed a day', 'rev_confirmed', formatUsd),
  column('Last session UTC', (tag) => tag.last_session_at, formatTime, 'last_session_at'),
];

interface Experiment {
  readonly definition: ExperimentResponse;
  readonly results: Results;
}

const latestDecision = ({ definition: { closing }, results }: Experiment) =>
  [closing?.closed_at.slice(0, 10), ...results.comparisons.map(({ decided_on: day }) => day)]
    .map((day) => day ?? '')
    .sort()
    .at(-1)!;

/** Arms that the list shows with a plot. */
const listCompared = ({ decision, comparisons }: Results) =>
  comparisons.filter(({ difference }) => difference !== null && decision !== 'invalid');

/** Returns the texts of an experiment in the list. */
function listTexts({ definition, results }: Experiment): string[] {
  const { state, sentence, planned_day: plannedDay } = results;
  const day = latestDecision({ definition, results });
  const dayText = () => {
    if (day === '') return plannedDay === null ? '' : `, planned day ${formatUtcDay(plannedDay)}`;
    return state === 'closed' ? '' : `, decided on ${formatUtcDay(day)}`;
  };
  return [
    `${describeStatus(results, definition.closing).text}${dayText()}`,
    sentence,
    ...listCompared(results).map(({ arm, difference }) => {
      const { value, low, high } = difference!;
      return `${nameArm(results, arm)}: difference ${formatUsdPerUnit(value)} per session, interval ${formatRange(low, high, formatUsdPerUnit)}`;
    }),
  ];
}

export const overviewPage: FigurePage = {
  name: 'overview',
  place: '#/',
  async expect({ partner }) {
    const { data: tags } = await partner<TagsResponse>('tags?recent_days=30&limit=25');
    const { data } = await partner<ExperimentsResponse>('experiments?recent_days=30&limit=8');
    const experiments = await Promise.all(
      data.map(async (definition) => ({
        definition,
        results: await partner<Results>(`experiments/${definition.name}/results?series=true`),
      })),
    );
    experiments.sort(
      (one, other) =>
        latestDecision(other).localeCompare(latestDecision(one)) ||
        other.definition.created_at.localeCompare(one.definition.created_at),
    );
    const [first, last] = [tags[0]!.recent!.daily[0]!.date, tags[0]!.recent!.daily.at(-1)!.date];
    return {
      tables: { 'Tags with sessions in the last 30 days': table(tags, tagColumns) },
      texts: [
        'Experiments and tags of the last 30 days.',
        ...experiments.flatMap(listTexts),
        `Sessions from ${formatUtcDay(first)} to ${formatUtcDay(last)}. Lenders confirm revenue weeks after the click, so do not compare recent tags by confirmed revenue. An experiment says which page earns more.`,
        ...experiments.flatMap(({ results }) =>
          listCompared(results).map(({ arm }) => `Difference of ${nameArm(results, arm)} over time, with its interval`),
        ),
      ],
    };
  },
};
