import {
  formatCount,
  formatShare,
  formatTime,
  formatUsd,
  formatUtcDay,
  formatUtcTime,
} from '../../../src/web/console/common/format.ts';
import type {
  Catalog,
  CatalogChangesPage,
  CatalogOffer,
  CatalogOffersPage,
  ChangedOffer,
  OfferState,
} from '../../../src/web/console/operator/api-types.ts';
import { type Api, column, csvColumn, type ExpectedColumn, type FigurePage, plot, table } from './expected-page.ts';

const stateWords: Readonly<Record<OfferState, string>> = {
  shown: 'shown',
  outdated: 'outdated',
  daily_cap: 'at daily cap',
  budget: 'budget used up',
  paced: 'paced',
};

/** A count above 0 is a link, which screen readers get with the state. */
const stateColumn = (header: string, state: OfferState): ExpectedColumn<Catalog> =>
  column(
    header,
    ({ offers }) => offers[state],
    (count) => (count === 0 ? '0' : `${formatCount(count)} [${count} offers ${stateWords[state]}]`),
    state,
  );

const catalogColumns: readonly ExpectedColumn<Catalog>[] = [
  {
    ...column('Catalog', ({ vertical, mode }: Catalog) => `${vertical} ${mode}`, String, 'catalog'),
    cell: ({ vertical, mode }) => `${vertical}, ${mode}`,
  },
  column('Offers', ({ offers }) => offers.total, formatCount, 'offers'),
  stateColumn('Shown', 'shown'),
  stateColumn('At daily cap', 'daily_cap'),
  stateColumn('Budget used up', 'budget'),
  stateColumn('Paced', 'paced'),
  stateColumn('Outdated', 'outdated'),
  column(
    'Version',
    ({ version }) => version,
    (version) => version.slice(0, 12),
    'version',
  ),
  column('In use since (UTC)', (catalog) => catalog.activated_at, formatTime, 'activated_at'),
];

export const catalogsPage: FigurePage = {
  name: 'catalogs',
  place: '#/catalogs',
  async expect({ operator }) {
    return { tables: { Catalogs: table(await operator<Catalog[]>('catalogs'), catalogColumns) } };
  },
};

const offerColumns: readonly ExpectedColumn<{ readonly svc_offer_id: string; readonly lender_name: string }>[] = [
  {
    header: 'Offer',
    csvName: 'svc_offer_id',
    cell: ({ svc_offer_id: id, lender_name: lender }) => `${id} ${lender}`,
    value: ({ svc_offer_id: id }) => id,
  },
  csvColumn('lender_name', (offer) => offer.lender_name),
];

function describeBudget({ svc_offer_id: id, budget }: CatalogOffer): string {
  if (budget === null) return 'none';
  const periods = (['day', 'month'] as const).flatMap((name) => {
    const period = budget[name];
    if (period === null) return [];
    const { spent_usd: spent, limit_usd: limit } = period;
    return [`${formatUsd(spent)} of ${formatUsd(limit)} a ${name} ${formatShare(spent! / limit)}`];
  });
  return [...periods, `Spend curve of ${id}`].join(' ');
}

type Total = keyof NonNullable<CatalogOffer['last_30_days']>;
const totalColumn = (header: string, member: Total, format: typeof formatCount): ExpectedColumn<CatalogOffer> =>
  column(`${header} 30 days`, ({ last_30_days: figures }) => figures?.[member], format, member);

const catalogOfferColumns: readonly ExpectedColumn<CatalogOffer>[] = [
  ...offerColumns,
  {
    ...column('State now', ({ state }: CatalogOffer) => state, String, 'state'),
    cell: ({ reasons }) => (reasons.length === 0 ? 'shown' : reasons.map((state) => stateWords[state]).join(' ')),
  },
  {
    ...column('Daily cap clicks of the UTC day', (offer: CatalogOffer) => offer.daily_cap?.used, String),
    csvName: 'daily_cap_used',
    cell: ({ daily_cap: cap }) => (cap === null ? 'none' : `${formatCount(cap.used)} of ${formatCount(cap.limit)}`),
  },
  {
    header: 'Budget booked in the UTC day or month',
    csvName: 'budget_spent_today_usd',
    cell: describeBudget,
    value: ({ budget }) => budget?.spent_today_usd,
  },
  totalColumn('Shown', 'shown', formatCount),
  totalColumn('Clicks', 'offer_clicks', formatCount),
  totalColumn('Attributed', 'rev_attributed', formatUsd),
  totalColumn('Confirmed', 'rev_confirmed', formatUsd),
];

const hours = Array.from({ length: 24 }, (_, index) => index);

/** Plot of what an offer booked until the end of each hour, up to the last hour with revenue. */
function spendPlot({ svc_offer_id: id, lender_name: lender, budget }: CatalogOffer) {
  const { spent_by_hour_usd: byHour, even_pacing: pacing, day } = budget!;
  const bookedUntil = (hour: number) => byHour!.slice(0, hour + 1).reduce((sum, amount) => sum + amount, 0);
  const lastHour = byHour!.findLastIndex((amount) => amount > 0);
  return plot({
    title: `Revenue booked today by ${id} of ${lender}`,
    points: hours,
    axis: 'End of the hour (UTC)',
    x: (hour) => hour + 1,
    format: formatUsd,
    lines: [
      { label: 'Booked', value: (hour) => (hour > lastHour ? null : bookedUntil(hour)) },
      ...(pacing === null
        ? []
        : [{ label: 'Target of even pacing', value: (hour: number) => pacing.target_by_hour_usd[hour]! }]),
      ...(day === null ? [] : [{ label: 'Budget of the day', value: () => day.limit_usd }]),
    ],
  });
}

const findOffers = ({ operator }: Api, query = '') =>
  operator<CatalogOffersPage>(`catalogs/personal-loans/live/offers?limit=25${query}`);

/** Page of the live catalog, with the spend curve of the first offer with a budget of this kind. */
export function catalogPage(
  options: { readonly curve?: 'asap' | 'even'; readonly state?: OfferState } = {},
): FigurePage {
  const { curve, state } = options;
  const isChosen = ({ budget }: CatalogOffer) => curve !== undefined && budget?.pacing === curve;
  return {
    name: ['catalog', ...Object.values(options)].join('-'),
    async place(api) {
      const { data } = await findOffers(api);
      const query = { ...(state && { state }), ...(curve && { offer: data.find(isChosen)!.svc_offer_id }) };
      return `#/catalogs/personal-loans/live?${new URLSearchParams(query)}`;
    },
    async expect(api) {
      const { data, from, to, next_cursor: next } = await findOffers(api, state && `&state=${state}`);
      const chosen = data.find(isChosen);
      const plots = chosen === undefined ? [] : [spendPlot(chosen)];
      const hiddenUntil = chosen?.budget?.even_pacing?.hidden_until ?? null;
      return {
        tables: { Offers: table(data, catalogOfferColumns) },
        plots,
        texts: [
          hiddenUntil === null ? '' : `Pacing hides this offer until ${formatUtcTime(hiddenUntil)}`,
          hiddenUntil === null
            ? ''
            : `Clicks on the offer booked ${formatUsd(chosen!.budget!.spent_today_usd)} today. The target of even pacing by now is ${formatUsd(chosen!.budget!.even_pacing!.target_usd)} of the day’s budget of ${formatUsd(chosen!.budget!.even_pacing!.day_budget_usd)}.`,
          ...plots.map(({ reading }) => reading),
          `Figures of sessions that were created from ${formatUtcDay(from)} to ${formatUtcDay(to)}, of all accounts.`,
          next === null ? '' : 'Page 1',
        ],
      };
    },
  };
}

const describeValue = (value: unknown) =>
  value === undefined ? 'absent' : typeof value === 'string' ? value : JSON.stringify(value);

const changeColumns: readonly ExpectedColumn<ChangedOffer>[] = [
  ...offerColumns,
  column('Change', ({ change }) => change, String, 'change'),
  {
    header: 'Before and now',
    csvName: 'members',
    cell: ({ members }) =>
      members
        .map(({ name, before, after, too_long: isTooLong }) =>
          isTooLong
            ? `${name} changed; the values are too long to show`
            : `${name} ${describeValue(before)} is now → ${describeValue(after)}`,
        )
        .join(' '),
    value: ({ members }) => JSON.stringify(members),
  },
];

export const changesPage: FigurePage = {
  name: 'catalog-changes',
  place: '#/catalogs/personal-loans/live/changes',
  async expect({ operator }) {
    const changes = await operator<CatalogChangesPage>('catalogs/personal-loans/live/changes?limit=25');
    const { offers, version, previous_version: previous, replaced_at: replacedAt, data } = changes;
    return {
      figures: {
        'Offers added': formatCount(offers.added),
        'Offers removed': formatCount(offers.removed),
        'Offers changed': formatCount(offers.changed),
      },
      tables: { 'Changed offers': table(data, changeColumns) },
      texts: [`Version ${version} replaced ${previous} on ${formatUtcTime(replacedAt)}.`],
    };
  },
};
