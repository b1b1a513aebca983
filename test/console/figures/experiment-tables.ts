import {
  formatCount,
  formatPValue,
  formatRange,
  formatRatio,
  formatRelative,
  formatShare,
  formatUsd,
  formatUsdPerUnit,
  noValue,
} from '../../../src/web/console/common/format.ts';
import { decisionWordOf } from '../../../src/web/console/partner/experiment-words.ts';
import { type Arm, nameArm, type Results } from './arm-names.ts';
import { column, csvColumn, type ExpectedColumn, shownColumn } from './expected-page.ts';

type Comparison = Results['comparisons'][number];
type Guardrail = Results['guardrails'][number];
type Group = NonNullable<Results['breakdown']>['groups'][number];
interface GroupArm {
  readonly group: Group;
  readonly arm: Group['arms'][number];
}

const nameOf = ({ label, referrer_tag: tag }: Pick<Arm, 'label' | 'referrer_tag'>) => label ?? tag;
const armColumn: ExpectedColumn<Arm> = column('Arm', nameOf);

/** Column that also shows the tag of an arm, and which one is the control. */
const namedArmColumn = (control: string): ExpectedColumn<Arm> => ({
  ...armColumn,
  cell: (arm) => {
    const role = arm.referrer_tag === control ? 'control' : '';
    return [nameOf(arm), role, arm.label === null ? '' : arm.referrer_tag].join(' ');
  },
});

const comparisonOf = ({ comparisons }: Results, { referrer_tag: tag }: Arm): Comparison | undefined =>
  comparisons.find(({ arm }) => arm === tag);

export function matureColumns(results: Results): ExpectedColumn<Arm>[] {
  const of = (arm: Arm) => comparisonOf(results, arm);
  const withInterval = (
    header: string,
    member: 'difference' | 'relative',
    format: (value: number | null | undefined) => string,
  ): ExpectedColumn<Arm> => ({
    ...column(`${header} with its interval`, (arm: Arm) => of(arm)?.[member]?.value, format, member),
    cell: (arm) => {
      const figures = of(arm)?.[member] ?? null;
      return figures === null ? noValue : `${format(figures.value)} ${formatRange(figures.low, figures.high, format)}`;
    },
  });
  return [
    namedArmColumn(results.control),
    column('Mature sessions', (arm) => arm.mature_sessions, formatCount),
    column(`Mature ${results.unit}s with revenue`, (arm) => arm.units_with_revenue, formatCount),
    column('Revenue per session', (arm) => arm.revenue_per_session, formatUsdPerUnit),
    withInterval('Difference from control', 'difference', formatUsdPerUnit),
    withInterval('Relative difference', 'relative', formatRelative),
    column('p value', (arm) => of(arm)?.p_value, formatPValue),
    column(
      'Decision',
      (arm) => of(arm)?.decision,
      (decision) => (decision === undefined ? noValue : decisionWordOf(decision, results.state).text),
    ),
    csvColumn('difference low', (arm) => of(arm)?.difference?.low),
    csvColumn('difference high', (arm) => of(arm)?.difference?.high),
    csvColumn('relative low', (arm) => of(arm)?.relative?.low),
    csvColumn('relative high', (arm) => of(arm)?.relative?.high),
  ];
}

export const trafficColumns = ({ unit, control }: Results): ExpectedColumn<Arm>[] => [
  namedArmColumn(control),
  column('Intended share', (arm) => arm.weight, formatShare),
  ...(unit === 'visitor' ? [column('Visitors', (arm: Arm) => arm.units, formatCount)] : []),
  column('Sessions', (arm) => arm.sessions, formatCount),
  column('Views', (arm) => arm.views, formatCount),
  column('Clicks', (arm) => arm.clicks, formatCount),
  column('Clicks per view', (arm) => arm.click_rate, formatShare),
  column('Expected revenue', (arm) => arm.rev_attributed, formatUsd),
  column('Confirmed revenue so far', (arm) => arm.rev_confirmed, formatUsd, 'Confirmed revenue'),
  column(
    'Share of the largest payout of mature revenue',
    (arm) => arm.largest_payout_share,
    formatShare,
    'Share of the largest payout',
  ),
];

export const earlyReadColumns = ({ control }: Results): ExpectedColumn<Arm>[] => [
  namedArmColumn(control),
  column('Predicted revenue per session', (arm) => arm.early_read?.revenue_per_session, formatUsdPerUnit),
  shownColumn('95 % interval of the prediction', ({ early_read: read }) =>
    formatRange(read?.low, read?.high, formatUsdPerUnit),
  ),
];

export function splitColumns({ unit, arms }: Results): ExpectedColumn<Arm>[] {
  const total = arms.reduce((sum, { units }) => sum + units, 0);
  return [
    armColumn,
    column('Intended share', (arm) => arm.weight, formatShare),
    column('Share that arrived', ({ units }) => (total === 0 ? null : units / total), formatShare),
    column(unit === 'visitor' ? 'Visitors' : 'Sessions', ({ units }) => units, formatCount),
  ];
}

export function planningColumns(results: Results): ExpectedColumn<Comparison>[] {
  const armOf = ({ arm }: Comparison) => nameArm(results, arm);
  return [
    { ...column('Arm', ({ arm }: Comparison) => arm), cell: armOf },
    column(`Mature ${results.unit}s needed`, ({ planning }) => planning!.units_per_arm, formatCount),
    column('Still missing', ({ planning }) => planning!.units_left, formatCount),
    column('Days left', ({ planning }) => planning!.days_left, formatCount),
  ];
}

export function funnelColumns(unit: Results['unit']): ExpectedColumn<Arm>[] {
  const step = (header: string, member: 'with_offers' | 'with_clicks' | 'with_revenue'): ExpectedColumn<Arm> => ({
    ...column(header, ({ funnel }: Arm) => funnel?.[member], formatCount, member),
    cell: ({ funnel }) =>
      `${formatCount(funnel![member])} ${formatShare(funnel!.units === 0 ? null : funnel![member] / funnel!.units)}`,
  });
  return [
    armColumn,
    column('Sessions', (arm) => arm.sessions, formatCount, 'sessions'),
    ...(unit === 'visitor' ? [column('Visitors', (arm: Arm) => arm.funnel?.units, formatCount, 'units')] : []),
    step('Inputs complete and offers viewed', 'with_offers'),
    step('Clicked an offer', 'with_clicks'),
    step('Confirmed revenue so far', 'with_revenue'),
  ];
}

const guardrailWords: Readonly<Record<Guardrail['name'], string>> = {
  sessions_per_visitor: 'Sessions per visitor',
  clicks_per_session: 'Clicks per session',
  inputs_completed: 'Share of sessions with complete inputs',
  widget_errors: 'Widget errors per session',
  reversed_share: 'Share of reversed payouts',
};

export function guardrailColumns(results: Results): ExpectedColumn<Guardrail>[] {
  return [
    column(
      'Guardrail',
      ({ name }) => name,
      (name) => guardrailWords[name],
    ),
    column(
      'Arm',
      ({ arm }) => arm,
      (arm) => nameArm(results, arm),
    ),
    column('Control', ({ control }) => control, formatRatio),
    column('This arm', ({ value }) => value, formatRatio),
    column('Difference', ({ difference }) => difference, formatRatio),
    shownColumn('99 % interval', ({ low, high }) => formatRange(low, high, formatRatio)),
    column(
      'Sign of harm',
      ({ word }) => word,
      (word) => word ?? 'too few events',
    ),
  ];
}

export function breakdownColumns(results: Results): ExpectedColumn<GroupArm>[] {
  const differenceOf = ({ group, arm }: GroupArm) =>
    group.comparisons.find((each) => each.arm === arm.referrer_tag)?.difference;
  const groupText = ({ group: { kind, value } }: GroupArm) =>
    ({ none: '(not set)', other: '(other values)', value })[kind];
  return [
    column(results.breakdown!.group_by, groupText),
    column(
      'Arm',
      ({ arm }) => arm.referrer_tag,
      (tag) => nameArm(results, tag),
    ),
    column('Sessions', ({ arm }) => arm.sessions, formatCount),
    column('Clicks per view', ({ arm }) => arm.click_rate, formatShare),
    column('Confirmed revenue', ({ arm }) => arm.rev_confirmed, formatUsd),
    column('With revenue', ({ arm }) => arm.units_with_revenue, formatCount),
    column(
      'Revenue per session mature sessions',
      ({ arm }) => arm.revenue_per_session,
      formatUsdPerUnit,
      'Revenue per session',
    ),
    column('Difference from control', (row) => differenceOf(row)?.value, formatUsdPerUnit),
    shownColumn('99 % interval', (row) =>
      formatRange(differenceOf(row)?.low, differenceOf(row)?.high, formatUsdPerUnit),
    ),
  ];
}
