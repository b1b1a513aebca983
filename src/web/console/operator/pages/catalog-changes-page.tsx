import { apiPath } from '../../common/api-client.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatUtcTime } from '../../common/format.ts';
import { tableRowsPerPage } from '../../common/limits.ts';
import { formatRoute, type Route } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { ChangedMember, ChangedOffer, CatalogChangesPage as ChangesAnswer } from '../api-types.ts';
import { offerColumns } from '../parts/offer-columns.tsx';

const changeKinds = { added: 'good', removed: 'bad', changed: 'warn' } as const;

const columns: readonly Column<ChangedOffer>[] = [
  ...offerColumns,
  {
    header: 'Change',
    csvName: 'change',
    cell: ({ change }) => <span class={`word ${changeKinds[change] ?? ''}`}>{change}</span>,
    value: ({ change }) => change,
  },
  {
    header: 'Before and now',
    csvName: 'members',
    cell: ({ members }) => (
      <ul class="details">
        {members.map((member) => (
          <Member key={member.name} member={member} />
        ))}
      </ul>
    ),
    value: ({ members }) => JSON.stringify(members),
  },
];

function Member({ member: { name, before, after, too_long } }: { readonly member: ChangedMember }) {
  return (
    <li>
      <code>{name}</code>{' '}
      {too_long ? (
        'changed; the values are too long to show'
      ) : (
        <>
          <del>{describeValue(before)}</del> <span class="visually-hidden">is now</span>
          <span aria-hidden="true">→</span> <ins>{describeValue(after)}</ins>
        </>
      )}
    </li>
  );
}

function describeValue(value: unknown): string {
  if (value === undefined) return 'absent';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Page with the differences between a catalog in use and the version before. */
export function CatalogChangesPage({
  vertical,
  mode,
  route,
}: {
  readonly vertical: string;
  readonly mode: string;
  readonly route: Route;
}) {
  const query = { limit: tableRowsPerPage, cursor: route.query.cursor };
  const loaded = useApi<ChangesAnswer>(apiPath(['catalogs', vertical, mode, 'changes'], query), ['data', 'offers']);
  const title = `Changes of ${vertical}, ${mode}`;
  return (
    <>
      <PageHeading
        title={title}
        lead={<a href={formatRoute(['catalogs', vertical, mode])}>Offers of this catalog</a>}
      />
      <WhenLoaded loaded={loaded} what="the changes">
        {(changes) => <Changes changes={changes} route={route} />}
      </WhenLoaded>
    </>
  );
}

function Changes({ changes, route }: { readonly changes: ChangesAnswer; readonly route: Route }) {
  const { version, activated_at, previous_version, replaced_at, offers, catalog_members, data, next_cursor } = changes;
  if (previous_version === null) {
    return (
      <Empty title="No earlier version is known">
        <p>
          Version {version} is in use since {formatUtcTime(activated_at)}. The next change of the catalog’s file appears
          here.
        </p>
      </Empty>
    );
  }
  return (
    <section class="card section">
      <p>
        Version <code>{version}</code> replaced <code>{previous_version}</code> on {formatUtcTime(replaced_at)}.
      </p>
      <dl class="figures">
        {(['added', 'removed', 'changed'] as const).map((change) => (
          <div key={change}>
            <dt>{`Offers ${change}`}</dt>
            <dd>{formatCount(offers[change])}</dd>
          </div>
        ))}
      </dl>
      {catalog_members.length > 0 && (
        <p>
          Also changed: <code>{catalog_members.join(', ')}</code>
        </p>
      )}
      <DataTable
        caption="Changed offers"
        columns={columns}
        rows={data}
        rowKey={({ svc_offer_id }) => svc_offer_id}
        csvName="catalog-changes"
        paging={createCursorPaging(route, next_cursor)}
        empty={<Empty title="No offer changed" />}
      />
    </section>
  );
}
