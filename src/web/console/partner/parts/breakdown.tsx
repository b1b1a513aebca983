import type { ExperimentResponse, ExperimentResults } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatRange, formatShare, formatUsd, formatUsdPerUnit } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { changeQuery } from '../../common/router.ts';
import { WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { partnerPath } from '../partner-path.ts';
import { armNames } from './words.tsx';

type Group = NonNullable<ExperimentResults['breakdown']>['groups'][number];
interface GroupRow {
  readonly group: string;
  readonly arm: Group['arms'][number];
  readonly difference: Group['comparisons'][number]['difference'];
}

function groupText({ kind, value }: Group): string {
  if (kind === 'none') return '(not set)';
  return kind === 'other' ? '(other values)' : (value ?? '');
}

/** Figures of groups of units, by device or by a dimension of the experiment. The group is part of the address. */
export function Breakdown({
  definition,
  groupBy,
}: {
  readonly definition: ExperimentResponse;
  readonly groupBy: string | null;
}) {
  const login = useLogin<PartnerLogin>();
  const path = ['experiments', definition.name, 'results'];
  const results = useApi<ExperimentResults>(groupBy === null ? null : partnerPath(login, path, { group_by: groupBy }));
  return (
    <section class="card section">
      <h2>
        Breakdown <span class="word warn">{results.value?.breakdown?.warning ?? 'For ideas, not for decisions.'}</span>
      </h2>
      <p class="soft">
        With many groups, some differ by chance. A group that looks better is an idea for the next experiment.
      </p>
      <div class="field filter">
        <label for="group-by">Group by</label>
        <select
          id="group-by"
          value={groupBy ?? ''}
          onChange={({ currentTarget }) => changeQuery({ group_by: currentTarget.value || null })}
        >
          <option value="">No groups</option>
          <option value="device">Device</option>
          {definition.dimensions.map((dimension) => (
            <option key={dimension} value={dimension}>
              {dimension}
            </option>
          ))}
        </select>
      </div>
      {groupBy !== null && (
        <WhenLoaded loaded={results} what="groups">
          {({ name, arms, breakdown }) => breakdown && <Groups name={name} arms={arms} breakdown={breakdown} />}
        </WhenLoaded>
      )}
    </section>
  );
}

function Groups({
  name,
  arms,
  breakdown,
}: {
  /** Name of the experiment. */
  readonly name: string;
  readonly arms: ExperimentResults['arms'];
  readonly breakdown: NonNullable<ExperimentResults['breakdown']>;
}) {
  const nameOf = armNames(arms);
  const rows = breakdown.groups.flatMap((group) =>
    group.arms.map(
      (arm): GroupRow => ({
        group: groupText(group),
        arm,
        difference: group.comparisons.find((each) => each.arm === arm.referrer_tag)?.difference ?? null,
      }),
    ),
  );
  const columns: readonly Column<GroupRow>[] = [
    { header: breakdown.group_by, cell: ({ group }) => group, value: ({ group }) => group },
    { header: 'Arm', cell: ({ arm }) => nameOf(arm.referrer_tag), value: ({ arm }) => arm.referrer_tag },
    {
      header: 'Sessions',
      isNumber: true,
      cell: ({ arm }) => formatCount(arm.sessions),
      value: ({ arm }) => arm.sessions,
    },
    {
      header: 'Clicks per view',
      isNumber: true,
      cell: ({ arm }) => formatShare(arm.click_rate),
      value: ({ arm }) => arm.click_rate,
    },
    {
      header: 'Confirmed revenue',
      isNumber: true,
      cell: ({ arm }) => formatUsd(arm.rev_confirmed),
      value: ({ arm }) => arm.rev_confirmed,
    },
    {
      header: 'With revenue',
      isNumber: true,
      cell: ({ arm }) => formatCount(arm.units_with_revenue),
      value: ({ arm }) => arm.units_with_revenue,
    },
    {
      header: 'Revenue per session',
      note: 'mature sessions',
      isNumber: true,
      cell: ({ arm }) => formatUsdPerUnit(arm.revenue_per_session),
      value: ({ arm }) => arm.revenue_per_session,
    },
    {
      header: 'Difference from control',
      isNumber: true,
      cell: ({ difference }) => formatUsdPerUnit(difference?.value),
      value: ({ difference }) => difference?.value,
    },
    {
      header: '99\u00a0% interval',
      isNumber: true,
      cell: ({ difference }) => formatRange(difference?.low, difference?.high, formatUsdPerUnit),
    },
  ];
  return (
    <DataTable
      caption={`Breakdown by ${breakdown.group_by}`}
      columns={columns}
      rows={rows}
      rowKey={({ group, arm }) => `${group} ${arm.referrer_tag}`}
      csvName={`${name}-breakdown`}
      empty={<p>No sessions are counted yet.</p>}
    />
  );
}
