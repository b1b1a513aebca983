import type { AnalyticsSummary, OfferAnalytics } from '../common/api-types.ts';

type Offer = OfferAnalytics['data'][number];
type Lender = AnalyticsSummary['top_lenders'][number];

/** Orders in which the page can show offers, the first one by default. */
export const offerOrders = {
  shown: 'times shown',
  offer_clicks: 'clicks',
  click_rate: 'click rate',
  rev_confirmed_per_click: 'confirmed per click',
  rev_attributed_per_click: 'expected per click',
  rev_confirmed_per_shown: 'confirmed per time shown',
  rev_attributed_per_shown: 'expected per time shown',
  rev_confirmed: 'confirmed revenue',
} as const satisfies Partial<Record<keyof Offer, string>>;

export type OfferOrder = keyof typeof offerOrders;

/** Parses the order of an address. */
export function parseOfferOrder(text: string | undefined): OfferOrder {
  return (Object.keys(offerOrders).find((order) => order === text) as OfferOrder | undefined) ?? 'shown';
}

/** Returns the offers with the largest figure first; offers with equal figures stay in alphabetical order. */
export function sortOffers(offers: readonly Offer[], order: OfferOrder): Offer[] {
  return [...offers].sort((one, other) => other[order] - one[order]);
}

/** With fewer clicks, the revenue per click of a lender is mostly chance. */
export const lenderClicksMin = 50;

/** Returns the lenders with the most revenue per click first. Those with too few clicks come last. */
export function sortLenders(lenders: readonly Lender[]): Lender[] {
  const hasFewClicks = ({ clicks }: Lender) => Number(clicks < lenderClicksMin);
  return [...lenders].sort(
    (one, other) =>
      hasFewClicks(one) - hasFewClicks(other) || other.rev_confirmed_per_click - one.rev_confirmed_per_click,
  );
}

/** Returns the lender that pays most per click, of those with enough clicks; null if none has revenue. */
export function findBestLender(lenders: readonly Lender[]): Lender | null {
  const [best] = sortLenders(lenders);
  return best !== undefined && best.clicks >= lenderClicksMin && best.rev_confirmed > 0 ? best : null;
}
