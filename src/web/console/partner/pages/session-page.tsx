import type { SessionRowsResponse } from '../../common/api-types.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import { formatCount, formatUsd, formatUtcTime } from '../../common/format.ts';
import { type PartnerLogin, useLogin } from '../../common/login.ts';
import { formatRoute } from '../../common/route.ts';
import { PageHeading } from '../../common/shell.tsx';
import { Empty, WhenLoaded } from '../../common/states.tsx';
import { useApi } from '../../common/use-api.ts';
import { partnerPath } from '../partner-path.ts';
import { isSubId, shortenSubId } from '../sub-id.ts';

type Session = SessionRowsResponse['data'][number];
type Lender = Session['lenders'][number];

/** Before the first session of any service. Without it, the API searches the last 30 days only. */
const earliestDay = '2000-01-01';

/** Page with the details of one session. */
export function SessionPage({ subId }: { readonly subId: string }) {
  const login = useLogin<PartnerLogin>();
  const isValid = isSubId(subId);
  const query = { sub_id_list: subId, granularity: 'row', date_from: earliestDay };
  const loaded = useApi<SessionRowsResponse>(isValid ? partnerPath(login, ['analytics'], query) : null, ['data']);
  return (
    <>
      <PageHeading title={`Session ${shortenSubId(subId)}`} lead={<a href="#/sessions">All sessions</a>}>
        Session <code>{shortenSubId(subId)}</code>
      </PageHeading>
      {!isValid ? (
        <UnknownSession />
      ) : (
        <WhenLoaded loaded={loaded} what="the session">
          {({ data: [session] }) => (session === undefined ? <UnknownSession /> : <Details session={session} />)}
        </WhenLoaded>
      )}
    </>
  );
}

function UnknownSession() {
  return (
    <Empty title="This account has no session with this id">
      <p>
        The id may be incomplete or may belong to another account, or the session may have been deleted because of its
        age.
      </p>
    </Empty>
  );
}

function Details({ session }: { readonly session: Session }) {
  const { sub_id, referrer_tag, metadata } = session;
  const facts: readonly (readonly [label: string, text: string])[] = [
    ['Created', formatUtcTime(session.created_at)],
    ['Latest event', formatUtcTime(session.last_event_at)],
    ['Device', session.device],
    ['Sandbox', session.sandbox ? 'yes: clicks earn nothing' : 'no'],
    ['Views', formatCount(session.marketplace_views)],
    ['Clicks', formatCount(session.offer_clicks)],
    ['Expected', formatUsd(session.rev_attributed)],
    ['Confirmed', formatUsd(session.rev_confirmed)],
  ];
  return (
    <>
      <section class="card section">
        <dl class="figures">
          <div>
            <dt>Page (tag)</dt>
            <dd>
              <a href={formatRoute(['sessions'], { tag: referrer_tag })}>{referrer_tag}</a>
            </dd>
          </div>
          {facts.map(([label, text]) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{text}</dd>
            </div>
          ))}
        </dl>
        <p class="soft">
          Id: <code>{sub_id}</code>
        </p>
      </section>
      <div class="columns">
        <section class="card section">
          <h2>Lenders that were clicked</h2>
          <DataTable
            caption="Lenders of the session"
            isCaptionHidden
            columns={lenderColumns}
            rows={session.lenders}
            rowKey={({ lender }) => lender}
            csvName="session-lenders"
            empty={<Empty title="No clicks" />}
          />
        </section>
        <section class="card section free-text">
          <h2>Metadata</h2>
          <Metadata metadata={metadata} />
        </section>
      </div>
    </>
  );
}

const lenderColumns: readonly Column<Lender>[] = [
  { header: 'Lender', csvName: 'lender', cell: ({ lender }) => lender, value: ({ lender }) => lender },
  {
    header: 'Clicks',
    csvName: 'clicks',
    isNumber: true,
    cell: ({ clicks }) => formatCount(clicks),
    value: ({ clicks }) => clicks,
  },
  {
    header: 'Confirmed',
    csvName: 'rev_confirmed',
    isNumber: true,
    cell: (lender) => formatUsd(lender.rev_confirmed),
    value: (lender) => lender.rev_confirmed,
  },
];

/** Names and values that the partner's page sent. They are shown as text. */
function Metadata({ metadata }: { readonly metadata: Session['metadata'] }) {
  const entries = Object.entries(metadata ?? {});
  if (entries.length === 0) return <p class="soft">Your page sent no metadata with this session.</p>;
  return (
    <DataTable
      caption="Metadata of the session"
      isCaptionHidden
      columns={[
        { header: 'Name', csvName: 'name', cell: ([name]) => name, value: ([name]) => name },
        {
          header: 'Value',
          csvName: 'value',
          cell: ([, value]) => (value === null ? 'null' : String(value)),
          value: ([, value]) => value,
        },
      ]}
      rows={entries}
      rowKey={([name]) => name}
      csvName="session-metadata"
    />
  );
}
