import type { OfferAnalytics } from '../../common/api-types.ts';
import { createCursorPaging } from '../../common/cursor-paging.ts';
import { type Column, DataTable } from '../../common/data-table.tsx';
import {
  formatCount,
  formatDecimal,
  formatShare,
  formatUsd,
  formatUsdPerUnit,
  formatUtcDay,
} from '../../common/format.ts';
import { offersPerPage } from '../../common/limits.ts';
import type { Route } from '../../common/route.ts';
import { changeQuery } from '../../common/router.ts';
import { Empty } from '../../common/states.tsx';
import { offerOrders, parseOfferOrder, sortOffers } from '../sort-offers.ts';

type Offer = OfferAnalytics['data'][number];

const offerColumns: readonly Column<Offer>[] = [
  {
    header: 'Offer',
    csvName: 'svc_offer_id',
    cell: ({ lender_name, svc_offer_id }) => (
      <>
        {lender_name ?? 'Unknown lender'}
        <span class="note">{svc_offer_id}</span>
      </>
    ),
    value: ({ svc_offer_id }) => svc_offer_id,
  },
  ...numberColumns([
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

type NumberMember = { [Name in keyof Offer]: Offer[Name] extends number | null ? Name : never }[keyof Offer];

function numberColumns(
  columns: readonly (readonly [header: string, member: NumberMember, format: (value: number | null) => string])[],
): Column<Offer>[] {
  return columns.map(([header, member, format]) => ({
    header,
    csvName: member,
    isNumber: true,
    cell: (offer) => format(offer[member]),
    value: (offer) => offer[member],
  }));
}

/** Table of the offers, and the positions at which one of them was shown. */
export function Offers({ answer, route }: { readonly answer: OfferAnalytics; readonly route: Route }) {
  const { data, has_more: hasMore, next_cursor: nextCursor, offers_counted_from: countedFrom } = answer;
  const isOnePage = !hasMore && route.query.cursor === undefined;
  const order = parseOfferOrder(route.query.sort);
  const rows = isOnePage ? sortOffers(data, order) : data;
  return (
    <section class="card section offers">
      <div class="heading-row">
        <h2>Offers</h2>
        {isOnePage && data.length > 1 && (
          <label class="inline">
            Sort by
            <select value={order} onChange={({ currentTarget }) => changeQuery({ sort: currentTarget.value })}>
              {Object.entries(offerOrders).map(([value, label]) => (
                <option key={value} value={value}>
                  {label}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      <p class="soft">
        Expected revenue is estimated at the click. Confirmed revenue is what lenders have reported.
        {!isOnePage && ` The offers are in the alphabetical order of their ids, ${offersPerPage} on a page.`}
        {countedFrom !== null && ` Offers are counted from ${formatUtcDay(countedFrom)} on.`}
      </p>
      <DataTable
        caption="Offers that were shown"
        isCaptionHidden
        columns={offerColumns}
        rows={rows}
        rowKey={({ svc_offer_id }) => svc_offer_id}
        csvName="offers"
        {...(isOnePage ? {} : { paging: createCursorPaging(route, nextCursor) })}
        empty={
          <Empty title="No offers in these days">
            <p>No visitor of this page has seen offers. Choose more days or another page.</p>
          </Empty>
        }
      />
      {rows.length > 0 && <Positions offers={rows} route={route} />}
    </section>
  );
}

interface Position {
  readonly position: number;
  readonly shown: number;
}

/** How often one offer was shown at each position of the list. */
function Positions({ offers, route }: { readonly offers: readonly Offer[]; readonly route: Route }) {
  const chosen = offers.find(({ svc_offer_id }) => svc_offer_id === route.query.offer) ?? offers[0]!;
  const positions = chosen.shown_by_position
    .map((shown, index): Position => ({ position: index + 1, shown }))
    .filter(({ shown }) => shown > 0);
  const lastPosition = chosen.shown_by_position.length;
  return (
    <details class="part" open={route.query.offer !== undefined}>
      <summary>Positions of an offer</summary>
      <div class="section">
        <label class="inline">
          Offer
          <select
            value={chosen.svc_offer_id}
            onChange={({ currentTarget }) => changeQuery({ offer: currentTarget.value })}
          >
            {offers.map(({ svc_offer_id: id, lender_name }) => (
              <option key={id} value={id}>
                {lender_name ?? 'Unknown lender'}: {id}
              </option>
            ))}
          </select>
        </label>
        <DataTable
          caption={`Positions at which ${chosen.svc_offer_id} was shown`}
          columns={[
            {
              header: 'Position',
              csvName: 'position',
              cell: ({ position }) => (position === lastPosition ? `${position} and later` : String(position)),
              value: ({ position }) => position,
            },
            {
              header: 'Shown',
              csvName: 'shown',
              isNumber: true,
              cell: ({ shown }) => formatCount(shown),
              value: ({ shown }) => shown,
            },
          ]}
          rows={positions}
          rowKey={({ position }) => String(position)}
          csvName={`positions-${chosen.svc_offer_id}`}
        />
      </div>
    </details>
  );
}
