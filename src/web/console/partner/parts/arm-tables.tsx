import type { ExperimentResults } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import {
  formatCount,
  formatPValue,
  formatRange,
  formatRelative,
  formatShare,
  formatUsd,
  formatUsdPerUnit,
  noValue,
} from '../../common/format.ts';
import { Notice } from '../../common/states.tsx';
import { decisionWordOf } from '../experiment-words.ts';
import { armName, StateWord } from './words.tsx';

type Arm = ExperimentResults['arms'][number];
type Comparison = ExperimentResults['comparisons'][number];
interface ArmRow extends Arm {
  readonly isControl: boolean;
  readonly comparison: Comparison | null;
}

function ArmCell({ arm }: { readonly arm: ArmRow }) {
  return (
    <>
      {armName(arm)}
      {arm.isControl && <span class="note">control</span>}
      {arm.label !== null && <span class="note">{arm.referrer_tag}</span>}
    </>
  );
}

const armColumn: Column<ArmRow> = { header: 'Arm', cell: (arm) => <ArmCell arm={arm} />, value: armName };

/** Returns a column with a figure of an arm that is a number. */
function figure(
  header: string,
  format: (value: number | null) => string,
  value: (arm: ArmRow) => number | null,
  note?: string,
): Column<ArmRow> {
  const column = { header, isNumber: true, cell: (arm: ArmRow) => format(value(arm)), value };
  return note === undefined ? column : { ...column, note };
}

/** Returns a column with a figure of the comparison, and its interval below. */
function intervalColumn(
  header: string,
  name: 'difference' | 'relative',
  format: (value: number | null | undefined) => string,
): Column<ArmRow> {
  return {
    header,
    note: 'with its interval',
    isNumber: true,
    csvName: name,
    cell: ({ comparison }) => {
      const figures = comparison?.[name] ?? null;
      if (figures === null) return noValue;
      return (
        <>
          {format(figures.value)}
          <span class="note">{formatRange(figures.low, figures.high, format)}</span>
        </>
      );
    },
    value: ({ comparison }) => comparison?.[name]?.value,
  };
}

function listRevenueColumns({ unit, state }: ExperimentResults): Column<ArmRow>[] {
  return [
    armColumn,
    figure('Mature sessions', formatCount, (arm) => arm.mature_sessions),
    figure(`Mature ${unit}s with revenue`, formatCount, (arm) => arm.units_with_revenue),
    figure('Revenue per session', formatUsdPerUnit, (arm) => arm.revenue_per_session),
    intervalColumn('Difference from control', 'difference', formatUsdPerUnit),
    intervalColumn('Relative difference', 'relative', formatRelative),
    figure('p value', formatPValue, ({ comparison }) => comparison?.p_value ?? null),
    {
      header: 'Decision',
      cell: ({ comparison }) =>
        comparison === null ? noValue : <StateWord word={decisionWordOf(comparison.decision, state)} />,
      value: ({ comparison }) => comparison?.decision,
    },
    ...(['difference', 'relative'] as const).flatMap((name) =>
      (['low', 'high'] as const).map(
        (limit): Column<ArmRow> => ({
          header: `${name} ${limit}`,
          isHidden: true,
          cell: () => null,
          value: ({ comparison }) => comparison?.[name]?.[limit],
        }),
      ),
    ),
  ];
}

function listTrafficColumns(unit: ExperimentResults['unit']): Column<ArmRow>[] {
  return [
    armColumn,
    figure('Intended share', formatShare, (arm) => arm.weight),
    ...(unit === 'visitor' ? [figure('Visitors', formatCount, (arm) => arm.units)] : []),
    figure('Sessions', formatCount, (arm) => arm.sessions),
    figure('Views', formatCount, (arm) => arm.views),
    figure('Clicks', formatCount, (arm) => arm.clicks),
    figure('Clicks per view', formatShare, (arm) => arm.click_rate),
    figure('Expected revenue', formatUsd, (arm) => arm.rev_attributed),
    figure('Confirmed revenue', formatUsd, (arm) => arm.rev_confirmed, 'so far'),
    figure('Share of the largest payout', formatShare, (arm) => arm.largest_payout_share, 'of mature revenue'),
  ];
}

/** Tables of the arms: mature revenue, on which the sentence rests, the traffic, and the early read. */
export function ArmTables({ results }: { readonly results: ExperimentResults }) {
  const { name, unit, control, comparisons } = results;
  const rows = results.arms.map((arm) => ({
    ...arm,
    isControl: arm.referrer_tag === control,
    comparison: comparisons.find((each) => each.arm === arm.referrer_tag) ?? null,
  }));
  const table = { rows, rowKey: ({ referrer_tag }: ArmRow) => referrer_tag };
  return (
    <>
      <section class="card section">
        <h2>Arms</h2>
        <DataTable
          {...table}
          caption="Mature revenue: sessions whose revenue is complete"
          columns={listRevenueColumns(results)}
          csvName={`${name}-arms`}
        />
        <DataTable
          {...table}
          caption="All sessions so far"
          columns={listTrafficColumns(unit)}
          csvName={`${name}-traffic`}
        />
      </section>
      <EarlyRead rows={rows} name={name} />
    </>
  );
}

const earlyColumns: readonly Column<ArmRow>[] = [
  armColumn,
  figure('Predicted revenue per session', formatUsdPerUnit, (arm) => arm.early_read?.revenue_per_session ?? null),
  {
    header: '95\u00a0% interval of the prediction',
    isNumber: true,
    cell: ({ early_read: early }) => formatRange(early?.low, early?.high, formatUsdPerUnit),
  },
];

function EarlyRead({ rows, name }: { readonly rows: readonly ArmRow[]; readonly name: string }) {
  if (rows.every(({ early_read }) => early_read === null)) return null;
  return (
    <section class="card section preliminary">
      <h2>
        Early read <span class="word warn">Preliminary</span>
      </h2>
      <Notice kind="warn">
        <p>Use this prediction to plan your work, not to decide. It assumes that revenue arrives as late as before.</p>
      </Notice>
      <DataTable
        caption="Predicted final revenue of the sessions so far"
        columns={earlyColumns}
        rows={rows}
        rowKey={({ referrer_tag }) => referrer_tag}
        csvName={`${name}-early-read`}
      />
    </section>
  );
}
