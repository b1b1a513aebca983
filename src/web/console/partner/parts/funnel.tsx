import type { ExperimentResults } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatShare, formatUtcDay, noValue } from '../../common/format.ts';
import { armName } from './words.tsx';

type Arm = ExperimentResults['arms'][number];
type Step = keyof NonNullable<Arm['funnel']>;

function StepCell({ arm: { funnel }, step }: { readonly arm: Arm; readonly step: Step }) {
  if (funnel === undefined) return <>{noValue}</>;
  const share = funnel.units === 0 ? null : funnel[step] / funnel.units;
  return (
    <>
      {formatCount(funnel[step])}
      {step !== 'units' && (
        <>
          <span class="note">{formatShare(share)}</span>
          <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
            <rect width="100" height="4" class="bar-ground" />
            <rect width={(share ?? 0) * 100} height="4" />
          </svg>
        </>
      )}
    </>
  );
}

/** How far the units of each arm got. */
export function Funnel({ results: { name, arms, unit, as_of } }: { readonly results: ExperimentResults }) {
  if (arms.every(({ funnel }) => funnel === undefined)) return null;
  const step = (header: string, member: Step, note?: string): Column<Arm> => ({
    header,
    isNumber: true,
    cell: (arm) => <StepCell arm={arm} step={member} />,
    value: ({ funnel }) => funnel?.[member],
    csvName: member,
    ...(note === undefined ? {} : { note }),
  });
  const columns = [
    { header: 'Arm', cell: armName, value: armName },
    {
      header: 'Sessions',
      isNumber: true,
      cell: ({ sessions }: Arm) => formatCount(sessions),
      value: ({ sessions }: Arm) => sessions,
      csvName: 'sessions',
    },
    ...(unit === 'visitor' ? [step('Visitors', 'units')] : []),
    step('Inputs complete and offers viewed', 'with_offers'),
    step('Clicked an offer', 'with_clicks'),
    step('Confirmed revenue', 'with_revenue', 'so far'),
  ];
  return (
    <section class="card section">
      <h2>Funnel</h2>
      <p class="soft">
        {unit === 'visitor' ? 'Visitors' : 'Sessions'} by how far they got, up to the end of {formatUtcDay(as_of)}.
        Recent {unit}s still lack confirmed revenue. Percentages refer to all {unit}s of the arm.
      </p>
      <DataTable
        caption="Funnel"
        isCaptionHidden
        columns={columns}
        rows={arms}
        rowKey={({ referrer_tag }) => referrer_tag}
        csvName={`${name}-funnel`}
      />
    </section>
  );
}
