import { bounds } from '../bounds.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import type { MatchTables } from './match-tables.ts';
import { countOffers, hasOffer, type OfferSet, subtractOffers } from './offer-set.ts';
import type { RankedOffers } from './product-ranking.ts';
import { TopOffers } from './top-offers.ts';

export const emptyRanking: RankedOffers = { total: 0, availableOnly: false, orders: new Uint16Array(0) };

/** Lists of the best offers of one ranking, one list for each sort order. A thread can reuse the lists for every ranking. */
export class BestOffers {
  readonly recommended = new TopOffers();
  readonly lowestApr = new TopOffers();
  readonly highestAmount = new TopOffers();
  readonly revenue = new TopOffers();
  /** The lists in the order of `sortOrderNames`. */
  readonly #lists = [this.recommended, this.lowestApr, this.highestAmount, this.revenue];

  /**
   * Ranks the offers in `eligible`. The callback `rankEligible` gets the number of offers in `eligible`. The callback must reset the lists,
   * add the offers of `eligible` to the lists, and remove from `eligible` the offers that the borrower cannot get.
   *
   * Unavailable offers are ranked like available offers, so that the ranking stays valid when an offer becomes available or unavailable. If
   * too few of the best offers are available, the method ranks again without the unavailable offers.
   *
   * @param unavailable bit set of the offers that responses omit (`UnavailableOffers`); null if all offers are available
   */
  rank(
    tables: MatchTables,
    eligible: OfferSet,
    unavailable: Int32Array | null,
    rankEligible: (count: number) => void,
  ): RankedOffers {
    rankEligible(countOffers(eligible));
    const total = countOffers(eligible);
    const orders = this.#copySortOrders(tables, total);
    if (unavailable === null) return { total, availableOnly: false, orders };
    subtractOffers(eligible, unavailable);
    const available = countOffers(eligible);
    if (hasEnoughAvailable(orders, eligible, available)) return { total, availableOnly: false, orders };
    rankEligible(available);
    return { total, availableOnly: true, orders: this.#copySortOrders(tables, available) };
  }

  /** Clears all lists. */
  reset({ orderLength }: MatchTables): void {
    for (const list of this.#lists) list.reset(orderLength);
  }

  #copySortOrders(tables: MatchTables, count: number): Uint16Array {
    const places = Math.min(count, tables.orderLength);
    const orders = new Uint16Array(places * this.#lists.length);
    for (let at = 0; at < this.#lists.length; at++) this.#lists[at]!.copyOffers(orders, at * places);
    return orders;
  }
}

/** Whether each sort order contains at least `min(count, bounds.offersShownMax)` available offers. */
function hasEnoughAvailable(orders: Uint16Array, available: OfferSet, count: number): boolean {
  const wanted = Math.min(count, bounds.offersShownMax);
  const places = orders.length / sortOrderNames.length;
  for (let from = 0; from < orders.length; from += places) {
    let found = 0;
    for (let at = from; at < from + places; at++) if (hasOffer(available, orders[at]!)) found++;
    if (found < wanted) return false;
  }
  return true;
}
