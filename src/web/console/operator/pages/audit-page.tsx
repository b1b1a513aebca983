import { useId } from 'preact/hooks';
import { auditActions } from '../../../../audit/audit-actions.ts';
import { apiPath } from '../../common/api-client.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatTime } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import type { Route } from '../../common/route.ts';
import { changeQuery } from '../../common/router.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { AuditEntry, Page } from '../api-types.ts';
import { describeActor } from '../parts/actor.ts';

const columns: readonly Column<AuditEntry>[] = [
  {
    header: 'Time (UTC)',
    csvName: 'time',
    cell: ({ time, number }) => (
      <>
        {formatTime(time)}
        <span class="note">entry {number}</span>
      </>
    ),
    value: ({ time }) => time,
  },
  {
    header: 'Who',
    csvName: 'actor',
    cell: describeActor,
    value: ({ actor, actor_name }) => `${actor} ${actor_name ?? ''}`.trim(),
  },
  {
    header: 'What',
    csvName: 'action',
    cell: ({ action, subject }) => (
      <>
        <code>{action}</code>
        <span class="subject">{subject}</span>
      </>
    ),
    value: ({ action }) => action,
  },
  { header: 'Number', csvName: 'number', isHidden: true, cell: () => null, value: ({ number }) => number },
  { header: 'Subject', csvName: 'subject', isHidden: true, cell: () => null, value: ({ subject }) => subject },
  {
    header: 'Details',
    csvName: 'details',
    cell: ({ details }) => <Details details={details} />,
    value: ({ details }) => JSON.stringify(details),
  },
  {
    header: 'Hash',
    csvName: 'hash',
    cell: ({ hash }) => <code title={hash}>{hash.slice(0, 8)}</code>,
    value: ({ hash }) => hash,
  },
];

function Details({ details }: Pick<AuditEntry, 'details'>) {
  const shown = Object.entries(details).filter(([, value]) => value !== null);
  if (shown.length === 0) return null;
  return (
    <ul class="details">
      {shown.map(([name, value]) => (
        <li key={name}>
          <span class="soft">{name}</span> {typeof value === 'string' ? value : JSON.stringify(value)}
        </li>
      ))}
    </ul>
  );
}

/** Page with the changes of operators and partners, newest first. */
export function AuditPage({ route }: { readonly route: Route }) {
  const { action, since, cursor } = route.query;
  const path = apiPath(['audit'], { limit: tableRowsPerPage, cursor, action, since });
  const loaded = useApi<Page<AuditEntry>>(path, ['data', 'next_cursor']);
  return (
    <>
      <PageHeading
        title="Audit log"
        lead="Changes, who made them and when, newest first. Each entry contains the hash of the entry before. The command marketplace audit verify checks these hashes."
      />
      <AuditFilters action={action ?? ''} since={since ?? ''} />
      <section class="card section">
        <WhenLoaded loaded={loaded} what="the audit log">
          {({ data, next_cursor }) => (
            <DataTable
              caption="Audit log"
              isCaptionHidden
              columns={columns}
              rows={data}
              rowKey={({ number }) => String(number)}
              csvName="audit-log"
              paging={createCursorPaging(route, next_cursor)}
              empty={
                <Empty title="No entries">
                  <p>No change matches these filters.</p>
                </Empty>
              }
            />
          )}
        </WhenLoaded>
      </section>
    </>
  );
}

function AuditFilters({ action, since }: { readonly action: string; readonly since: string }) {
  const id = useId();
  const change = (changes: Readonly<Record<string, string | null>>) =>
    changeQuery({ ...changes, cursor: null, page: null });
  return (
    <div class="toolbar">
      <div class="inline-form">
        <div class="field">
          <label for={`${id}-action`}>Change</label>
          <select
            id={`${id}-action`}
            value={action}
            onChange={({ currentTarget }) => change({ action: currentTarget.value || null })}
          >
            <option value="">all changes</option>
            {[...new Set<string>([...auditActions, ...(action === '' ? [] : [action])])].map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </div>
        <div class="field">
          <label for={`${id}-since`}>Since (UTC day)</label>
          <input
            id={`${id}-since`}
            type="date"
            value={since}
            onChange={({ currentTarget }) => change({ since: currentTarget.value || null })}
          />
        </div>
        {(action !== '' || since !== '') && (
          <button type="button" class="quiet" onClick={() => change({ action: null, since: null })}>
            All entries
          </button>
        )}
      </div>
    </div>
  );
}
