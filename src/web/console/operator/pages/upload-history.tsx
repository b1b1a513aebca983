import { describeRejection } from '../../../../confirmations/rejection-reasons.ts';
import { apiPath } from '../../common/api-client.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatTime } from '../../common/format.ts';
import type { Route } from '../../common/route.ts';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { ConfirmationUploadEntry, Page } from '../api-types.ts';
import { limits } from '../limits.ts';
import { describeActor } from '../parts/actor.ts';

const outcomeWords = {
  processed: { text: 'processed', kind: 'good' },
  refused: { text: 'refused: nothing was booked', kind: 'bad' },
  failed: { text: 'failed', kind: 'bad' },
} as const;

const columns: readonly Column<ConfirmationUploadEntry>[] = [
  {
    header: 'Sent (UTC)',
    csvName: 'submitted_at',
    cell: ({ submitted_at }) => formatTime(submitted_at),
    value: ({ submitted_at }) => submitted_at,
  },
  {
    header: 'By',
    csvName: 'actor',
    cell: describeActor,
    value: ({ actor, actor_name }) => `${actor} ${actor_name ?? ''}`.trim(),
  },
  {
    header: 'Outcome',
    csvName: 'outcome',
    cell: ({ outcome }) =>
      outcome === null ? (
        <span class="word warn">not finished</span>
      ) : (
        <span class={`word ${outcomeWords[outcome]?.kind ?? ''}`}>{outcomeWords[outcome]?.text ?? outcome}</span>
      ),
    value: ({ outcome }) => outcome,
  },
  { header: 'Rows', csvName: 'rows', isNumber: true, cell: ({ rows }) => formatCount(rows), value: ({ rows }) => rows },
  {
    header: 'Booked',
    csvName: 'accepted',
    isNumber: true,
    cell: (row) => formatCount(row.accepted),
    value: (row) => row.accepted,
  },
  {
    header: 'Booked before',
    csvName: 'repeated',
    isNumber: true,
    cell: (row) => formatCount(row.repeated),
    value: (row) => row.repeated,
  },
  {
    header: 'Rejected',
    csvName: 'rejected',
    isNumber: true,
    cell: (row) => formatCount(row.rejected),
    value: (row) => row.rejected,
  },
  {
    header: 'Reasons of rejected rows',
    csvName: 'rejected_by_reason',
    cell: ({ rejected_by_reason }) => <Reasons reasons={rejected_by_reason} />,
    value: ({ rejected_by_reason }) => rejected_by_reason && JSON.stringify(rejected_by_reason),
  },
];

function Reasons({ reasons }: { readonly reasons: Readonly<Record<string, number>> | null }) {
  const counts = Object.entries(reasons ?? {}).sort(([, one], [, other]) => other - one);
  return (
    <ul class="details">
      {counts.map(([reason, count]) => (
        <li key={reason} title={describeRejection(reason)}>
          {formatCount(count)} <code>{reason}</code>
        </li>
      ))}
    </ul>
  );
}

/** History of the requests with confirmations, also of those of the command line. */
export function UploadHistory({ route, isSending }: { readonly route: Route; readonly isSending: boolean }) {
  const query = { limit: limits.uploadsPerPage, cursor: route.query.cursor };
  // While a file is sent, the history would be out of date with each batch.
  const path = isSending ? null : apiPath(['confirmations'], query);
  const loaded = useApi<Page<ConfirmationUploadEntry>>(path, ['data', 'next_cursor']);
  return (
    <section class="card section" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <p class="soft">
        Requests of this console, of the command line and of programs. A large file is several requests.
      </p>
      {isSending ? (
        <p>The history appears when the file is sent.</p>
      ) : (
        <WhenLoaded loaded={loaded} what="the history">
          {({ data, next_cursor }) => (
            <DataTable
              caption="History of confirmations"
              isCaptionHidden
              columns={columns}
              rows={data}
              rowKey={({ batch }) => batch}
              csvName="confirmations"
              paging={createCursorPaging(route, next_cursor)}
              empty={
                <Empty title="No confirmations yet">
                  <p>Each file or request with confirmations appears here with its outcome.</p>
                </Empty>
              }
            />
          )}
        </WhenLoaded>
      )}
    </section>
  );
}
