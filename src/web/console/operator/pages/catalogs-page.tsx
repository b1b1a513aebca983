import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatTime } from '../../common/format.ts';
import { formatRoute } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, Notice, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import type { Catalog, OfferState } from '../api-types.ts';
import { offerStateWords } from '../parts/offer-state-word.tsx';

const stateHeaders: Readonly<Record<OfferState, string>> = {
  shown: 'Shown',
  daily_cap: 'At daily cap',
  budget: 'Budget used up',
  paced: 'Paced',
  outdated: 'Outdated',
};

const columns: readonly Column<Catalog>[] = [
  {
    header: 'Catalog',
    csvName: 'catalog',
    cell: ({ vertical, mode }) => (
      <a href={formatRoute(['catalogs', vertical, mode])}>
        {vertical}, {mode}
      </a>
    ),
    value: ({ vertical, mode }) => `${vertical} ${mode}`,
  },
  {
    header: 'Offers',
    csvName: 'offers',
    isNumber: true,
    cell: ({ offers }) => formatCount(offers.total),
    value: ({ offers }) => offers.total,
  },
  ...(Object.keys(stateHeaders) as OfferState[]).map(
    (state): Column<Catalog> => ({
      header: stateHeaders[state],
      csvName: state,
      isNumber: true,
      cell: ({ vertical, mode, offers }) =>
        offers[state] > 0 ? (
          <a
            href={formatRoute(['catalogs', vertical, mode], { state })}
            aria-label={`${offers[state]} offers ${offerStateWords[state].text}`}
          >
            {formatCount(offers[state])}
          </a>
        ) : (
          formatCount(offers[state])
        ),
      value: ({ offers }) => offers[state],
    }),
  ),
  {
    header: 'Version',
    csvName: 'version',
    cell: ({ version }) => <code>{version.slice(0, 12)}</code>,
    value: ({ version }) => version,
  },
  {
    header: 'In use since (UTC)',
    csvName: 'activated_at',
    cell: ({ activated_at }) => formatTime(activated_at),
    value: ({ activated_at }) => activated_at,
  },
];

/** Page with the catalogs in use. */
export function CatalogsPage() {
  const loaded = useApi<readonly Catalog[]>('catalogs');
  return (
    <>
      <PageHeading
        title="Catalogs"
        lead="Offers in use for each vertical and mode. A catalog changes when its file changes (SVC_CATALOG)."
      />
      <WhenLoaded loaded={loaded} what="catalogs">
        {(catalogs) => (
          <>
            {catalogs
              .filter(({ reload_failed }) => reload_failed)
              .map((catalog) => (
                <FailedReload key={`${catalog.vertical} ${catalog.mode}`} catalog={catalog} />
              ))}
            <section class="card section">
              <DataTable
                caption="Catalogs"
                isCaptionHidden
                columns={columns}
                rows={catalogs}
                rowKey={({ vertical, mode }) => `${vertical} ${mode}`}
                csvName="catalogs"
                foot={<p class="soft">An offer can be hidden for several reasons.</p>}
                empty={<Empty title="No catalogs" />}
              />
            </section>
          </>
        )}
      </WhenLoaded>
    </>
  );
}

function FailedReload({ catalog: { vertical, mode, file, reload_errors } }: { readonly catalog: Catalog }) {
  return (
    <Notice kind="bad" title={`The changed catalog of ${vertical}, ${mode} is not valid`}>
      <p>
        The earlier version stays in use. Correct {file === null ? 'the catalog' : <code>{file}</code>}; the service
        reads it again.
      </p>
      <ul class="reasons">
        {reload_errors.map((error, index) => {
          const text = typeof error === 'string' ? error : JSON.stringify(error);
          return <li key={`${index} ${text}`}>{text}</li>;
        })}
      </ul>
    </Notice>
  );
}
