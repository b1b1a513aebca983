import type { AnalyticsSummary, OfferAnalytics, SessionRowsResponse, TagsResponse } from '../../../src/index.ts';
import {
  formatCount,
  formatDecimal,
  formatShare,
  formatTime,
  formatUsd,
  formatUsdPerUnit,
  formatUtcDay,
  formatUtcTime,
} from '../../../src/web/console/common/format.ts';
import { findBusiestTag } from '../../../src/web/console/partner/day-filter.ts';
import { type Api, column, type ExpectedColumn, type FigurePage, memberColumns, table } from './expected-page.ts';

type Lender = AnalyticsSummary['top_lenders'][number];
type Offer = OfferAnalytics['data'][number];
type Session = SessionRowsResponse['data'][number];

/** The tag that pages choose at first. */
export const findUsualTag = async ({ partner }: Api) => findBusiestTag((await partner<TagsResponse>('tags')).data);

const lenderColumns: readonly ExpectedColumn<Lender>[] = [
  {
    ...column('Lender', ({ lender }: Lender) => lender, String, 'lender'),
    cell: ({ lender, clicks }) => (clicks < 50 ? `${lender} too few clicks to compare` : lender),
  },
  ...memberColumns<Lender>([
    ['Confirmed per click', 'rev_confirmed_per_click', formatUsdPerUnit],
    ['Clicks', 'clicks', formatCount],
    ['Confirmed revenue', 'rev_confirmed', formatUsd],
  ]),
];

const offerColumns: readonly ExpectedColumn<Offer>[] = [
  {
    ...column('Offer', ({ svc_offer_id: id }: Offer) => id, String, 'svc_offer_id'),
    cell: ({ lender_name: lender, svc_offer_id: id }) => `${lender} ${id}`,
  },
  ...memberColumns<Offer>([
    ['Shown', 'shown', formatCount],
    ['Average position', 'average_position', formatDecimal],
    ['Clicks', 'offer_clicks', formatCount],
    ['Click rate', 'click_rate', formatShare],
    ['Confirmed per click', 'rev_confirmed_per_click', formatUsdPerUnit],
    ['Expected per click', 'rev_attributed_per_click', formatUsdPerUnit],
    ['Confirmed per time shown', 'rev_confirmed_per_shown', formatUsdPerUnit],
    ['Expected per time shown', 'rev_attributed_per_shown', formatUsdPerUnit],
    ['Confirmed revenue', 'rev_confirmed', formatUsd],
  ]),
];

type Device = { readonly device: string } & NonNullable<AnalyticsSummary['by_device']['mobile']>;
const deviceColumns: readonly ExpectedColumn<Device>[] = [
  column('Device', ({ device }) => device, String, 'device'),
  ...memberColumns<Device>([
    ['Sessions', 'sessions_total', formatCount],
    ['Clicks', 'offer_clicks', formatCount],
    ['Click rate', 'click_rate', formatShare],
    ['Confirmed per session', 'rev_per_session', formatUsdPerUnit],
  ]),
];

/** Returns the table of the positions at which an offer was shown. The last position stands for all later ones. */
function positionsTable({ shown_by_position: counts }: Offer) {
  const positions = counts.map((shown, index) => ({ position: index + 1, shown })).filter(({ shown }) => shown > 0);
  return table(positions, [
    column(
      'Position',
      ({ position }) => position,
      (position) => (position === counts.length ? `${position} and later` : String(position)),
      'position',
    ),
    ...memberColumns<(typeof positions)[number]>([['Shown', 'shown', formatCount]]),
  ]);
}

interface OffersQuery {
  readonly tag?: string;
  /** First day of the sessions. */
  readonly from: string;
  readonly days: number;
  readonly sort?: 'shown' | 'click_rate';
  readonly offer?: string;
}

export function offersPage({ tag, from, days, sort = 'shown', offer }: OffersQuery): FigurePage {
  const query = tag === undefined ? '' : `?${new URLSearchParams({ tag, days: String(days), sort, offer: offer! })}`;
  return {
    name: `offers-${days}-days`,
    place: `#/offers${query}`,
    async expect(api) {
      const sessions = `analytics?referrer_tag=${tag ?? (await findUsualTag(api))}&date_from=${from}`;
      const summary = await api.partner<AnalyticsSummary>(sessions);
      const { data } = await api.partner<OfferAnalytics>(`${sessions}&granularity=offer&limit=100`);
      const perClick = (one: Lender, other: Lender) => other.rev_confirmed_per_click - one.rev_confirmed_per_click;
      const lenders = summary.top_lenders.filter(({ clicks }) => clicks >= 50).sort(perClick);
      const fewClicks = summary.top_lenders.filter(({ clicks }) => clicks < 50).sort(perClick);
      const [best] = lenders;
      const offers = data.toSorted((one, other) => other[sort] - one[sort]);
      const shownOffer = offers.find(({ svc_offer_id: id }) => id === offer) ?? offers[0]!;
      const devices = Object.entries(summary.by_device)
        .map(([device, figures]) => ({ device, ...figures }))
        .sort((one, other) => other.sessions_total - one.sessions_total);
      const { cap, budget, too_fast: tooFast, too_many_offers: tooMany } = summary.clicks_not_booked;
      const isMature = summary.matured.to === summary.date_to;
      return {
        fields: [`Sessions of: the last ${days} days`],
        tables: {
          'Lenders by confirmed revenue per click': table([...lenders, ...fewClicks], lenderColumns),
          'Offers that were shown': table(offers, offerColumns),
          [`Positions at which ${shownOffer.svc_offer_id} was shown`]: positionsTable(shownOffer),
          'Figures by device': table(devices, deviceColumns),
        },
        figures: {
          'Daily cap': formatCount(cap),
          Budget: formatCount(budget),
          'Too fast': formatCount(tooFast),
          'Too many offers': formatCount(tooMany),
        },
        texts: [
          best === undefined || best.rev_confirmed === 0
            ? 'No lender has confirmed revenue from at least 50 clicks in these days.'
            : `${best.lender} pays most per click: ${formatUsdPerUnit(best.rev_confirmed_per_click)} confirmed per click, from ${formatCount(best.clicks)} clicks.`,
          `Sessions from ${formatUtcDay(summary.date_from)} to ${formatUtcDay(summary.date_to)}. Lenders with fewer than 50 clicks come last, because chance decides their revenue per click. ${isMature ? 'The revenue of these sessions is complete.' : 'Lenders confirm payouts up to 45 days after a session, so the revenue of recent sessions is not complete.'}`,
          'The visitor had already clicked 10 offers.',
        ],
      };
    },
  };
}

const sessionColumns: readonly ExpectedColumn<Session>[] = [
  column('Created (UTC)', (session) => session.created_at, formatTime, 'created_at'),
  column(
    'Id',
    ({ sub_id: id }) => id,
    (id) => `…${id.slice(-8)} [${id}]`,
    'sub_id',
  ),
  column('Device', ({ device }) => device, String, 'device'),
  ...memberColumns<Session>([
    ['Views', 'marketplace_views', formatCount],
    ['Clicks', 'offer_clicks', formatCount],
    ['Expected', 'rev_attributed', formatUsd],
    ['Confirmed', 'rev_confirmed', formatUsd],
  ]),
  column('Clicked lenders', ({ lenders }) => lenders.map(({ lender }) => lender).join(', '), String, 'lenders'),
];

const toTotals = (figures: AnalyticsSummary) => ({
  Sessions: formatCount(figures.sessions_total),
  'Sessions of declared bots': formatCount(figures.bot_sessions),
  Views: formatCount(figures.marketplace_views),
  Clicks: formatCount(figures.offer_clicks),
  Expected: formatUsd(figures.rev_attributed),
  Confirmed: formatUsd(figures.rev_confirmed),
});

interface SessionsQuery {
  readonly from: string;
  /** Null for the last seven days, which the page shows at first. */
  readonly to: string | null;
  readonly page: 1 | 2;
}

export function sessionsPage({ from, to, page }: SessionsQuery): FigurePage {
  return {
    name: `sessions-${page}`,
    place: to === null ? '#/sessions' : `#/sessions?from=${from}&to=${to}`,
    async prepare(shown) {
      if (page === 1) return;
      await shown.getByRole('button', { name: 'Next page' }).click();
      await shown.getByText(`Page ${page}`).waitFor();
      await shown.locator('main .loading').first().waitFor({ state: 'detached' });
    },
    async expect(api) {
      const tag = await findUsualTag(api);
      const query = `analytics?referrer_tag=${tag}&date_from=${from}${to === null ? '' : `&date_to=${to}`}`;
      const summary = await api.partner<AnalyticsSummary>(query);
      const rowsQuery = `${query}&granularity=row&order=newest&limit=25`;
      const first = await api.partner<SessionRowsResponse>(rowsQuery);
      const rows =
        page === 1 ? first : await api.partner<SessionRowsResponse>(`${rowsQuery}&cursor=${first.next_cursor}`);
      return {
        fields: to === null ? ['Sessions of: the last 7 days'] : [`First day (UTC): ${from}`, `Last day (UTC): ${to}`],
        tables: { [`Sessions of ${tag}, the newest first`]: table(rows.data, sessionColumns) },
        figures: toTotals(summary),
        texts: [
          `${formatUtcDay(summary.date_from)} to ${formatUtcDay(summary.date_to)}, the newest session first.`,
          `Page ${page}`,
        ],
      };
    },
  };
}

/** Returns the session with the most clicked lenders of the last days. */
export async function findSession(api: Api): Promise<Session> {
  const query = `analytics?referrer_tag=${await findUsualTag(api)}&date_from=2026-11-01&granularity=row&limit=100`;
  const { data } = await api.partner<SessionRowsResponse>(query);
  return data.toSorted((one, other) => other.lenders.length - one.lenders.length)[0]!;
}

export const sessionPage: FigurePage = {
  name: 'session',
  place: async (api) => `#/sessions/${(await findSession(api)).sub_id}`,
  async expect(api) {
    const session = await findSession(api);
    return {
      figures: {
        'Page (tag)': session.referrer_tag!,
        Created: formatUtcTime(session.created_at),
        'Latest event': formatUtcTime(session.last_event_at),
        Device: session.device,
        Sandbox: session.sandbox ? 'yes: clicks earn nothing' : 'no',
        Views: formatCount(session.marketplace_views),
        Clicks: formatCount(session.offer_clicks),
        Expected: formatUsd(session.rev_attributed),
        Confirmed: formatUsd(session.rev_confirmed),
      },
      tables: {
        'Lenders of the session': table(session.lenders, [
          column('Lender', ({ lender }) => lender, String, 'lender'),
          ...memberColumns<Session['lenders'][number]>([
            ['Clicks', 'clicks', formatCount],
            ['Confirmed', 'rev_confirmed', formatUsd],
          ]),
        ]),
        'Metadata of the session': table(Object.entries(session.metadata!), [
          column('Name', ([name]) => name, String, 'name'),
          column('Value', ([, value]) => value, String, 'value'),
        ]),
      },
      texts: [`Session …${session.sub_id.slice(-8)}`, `Id: ${session.sub_id}`],
    };
  },
};
