import { bounds } from '../bounds.ts';
import type { FieldVector } from '../domain/field-vector.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import { CriteriaIndex } from './criteria-index.ts';
import { type MatchTables, meetsStateMinimumAge } from './match-tables.ts';
import { emptyOfferSet, fillOfferSet, hasOffer, lowestBitIndex, type OfferSet } from './offer-set.ts';
import type { RankedOffers } from './product-ranking.ts';
import { selectLowest } from './select-lowest.ts';

/** Sort keys of one offer. In each sort order, the offer with the lowest key comes first; equal keys are ordered by offer number. */
export interface OfferSortKeys {
  recommended: number;
  lowestApr: number;
  highestAmount: number;
  revenue: number;
}

/** Pricing functions of a product, for a ranker that prices every offer whose criteria the borrower meets. */
export interface OfferPricer<Tables extends MatchTables, Applicant> {
  /** Returns the values of the borrower that prices depend on, or null if a required value is missing. May reuse the returned object. */
  readApplicant(tables: Tables, borrower: Readonly<FieldVector>): Applicant | null;
  /** Computes the sort keys of an offer. Returns false if the applicant cannot get the offer. */
  computeSortKeys(tables: Tables, offer: number, applicant: Applicant, keys: OfferSortKeys): boolean;
  /**
   * Computes the keys that depend on the APR, `lowestApr` and `highestAmount`, for products with slow APRs. `computeSortKeys` then sets both
   * keys to lower bounds, and `computeAprKeys` is called once for each offer that can be among the best.
   */
  computeAprKeys?(tables: Tables, offer: number, applicant: Applicant, keys: OfferSortKeys): void;
}

export type OfferRanker<Tables extends MatchTables> = (
  tables: Tables,
  borrower: Readonly<FieldVector>,
  today: number,
  /** Bit set of the offers that responses omit (`UnavailableOffers`); null if all offers are available. */
  unavailable?: Int32Array | null,
) => RankedOffers;

/** Index and reusable memory of a ranker for one catalog. Each thread has its own ranker state. */
interface RankerState {
  readonly criteria: CriteriaIndex;
  readonly eligible: OfferSet;
  readonly priced: PricedOffers;
  /** The offers of `priced` whose APR keys were computed; empty for a pricer without `computeAprKeys`. */
  readonly exact: Pick<PricedOffers, 'offers' | 'lowestApr' | 'highestAmount'>;
}

type PricedOffers = ReturnType<typeof createPricedOffers>;

/** Numbers of offers, ascending, and their sort keys: one array for each sort order, with the keys in the order of `offers`. */
function createPricedOffers(offerCount: number) {
  return {
    offers: new Uint16Array(offerCount),
    recommended: new Float64Array(offerCount),
    lowestApr: new Float64Array(offerCount),
    highestAmount: new Float64Array(offerCount),
    revenue: new Float64Array(offerCount),
  };
}

const emptyRanking: RankedOffers = { total: 0, availableOnly: false, orders: new Uint16Array(0) };

/** Creates a function that ranks the offers of a product. */
export function createPricingRanker<Tables extends MatchTables, Applicant>(
  pricer: OfferPricer<Tables, Applicant>,
): OfferRanker<Tables> {
  const ranker = new PricingRanker(pricer);
  return (tables, borrower, today, unavailable = null) => ranker.rank(tables, borrower, today, unavailable);
}

/**
 * Finds the offers a borrower can get, and the best of these offers in four sort orders (docs/contract.md#sort-orders). Bit sets apply all
 * criteria to 32 offers at a time. Each remaining offer is then priced.
 *
 * Unavailable offers are ranked like available offers, so that the ranking stays valid when an offer becomes available or unavailable. If
 * too few of the best offers are available, the ranking contains only available offers.
 */
class PricingRanker<Tables extends MatchTables, Applicant> {
  readonly #pricer: OfferPricer<Tables, Applicant>;
  readonly #states = new WeakMap<Tables, RankerState>();
  /** Keys and positions of the current ranking. */
  readonly #keys: OfferSortKeys = { recommended: 0, lowestApr: 0, highestAmount: 0, revenue: 0 };
  readonly #places = new Uint16Array(bounds.offersRankedMax);

  constructor(pricer: OfferPricer<Tables, Applicant>) {
    this.#pricer = pricer;
  }

  rank(tables: Tables, borrower: Readonly<FieldVector>, today: number, unavailable: Int32Array | null): RankedOffers {
    const applicant = this.#pricer.readApplicant(tables, borrower);
    if (applicant === null || !meetsStateMinimumAge(tables, borrower, today)) return emptyRanking;
    const state = this.#getState(tables);
    fillOfferSet(state.eligible, tables.offerCount);
    state.criteria.filterOffers(state.eligible, borrower, today);
    const total = this.#priceEligible(tables, state, applicant);
    const orders = this.#selectBest(tables, state, total, applicant);
    if (unavailable === null) return { total, availableOnly: false, orders };
    const available = removeUnavailable(state.priced, total, unavailable);
    if (hasEnoughAvailable(orders, unavailable, available)) return { total, availableOnly: false, orders };
    return { total, availableOnly: true, orders: this.#selectBest(tables, state, available, applicant) };
  }

  #getState(tables: Tables): RankerState {
    let state = this.#states.get(tables);
    if (state === undefined) {
      const { offerCount } = tables;
      state = {
        criteria: new CriteriaIndex(tables),
        eligible: emptyOfferSet(offerCount),
        priced: createPricedOffers(offerCount),
        exact: createPricedOffers(this.#pricer.computeAprKeys === undefined ? 0 : offerCount),
      };
      this.#states.set(tables, state);
    }
    return state;
  }

  /** Writes the offers in `eligible` that the applicant can get, and their sort keys, into `priced`. Returns the number of these offers. */
  #priceEligible(tables: Tables, { eligible, priced }: RankerState, applicant: Applicant): number {
    const pricer = this.#pricer;
    const keys = this.#keys;
    const { offers, recommended, lowestApr, highestAmount, revenue } = priced;
    let count = 0;
    for (let word = 0; word < eligible.length; word++) {
      for (let bits = eligible[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        if (!pricer.computeSortKeys(tables, offer, applicant, keys)) continue;
        offers[count] = offer;
        recommended[count] = keys.recommended;
        lowestApr[count] = keys.lowestApr;
        highestAmount[count] = keys.highestAmount;
        revenue[count] = keys.revenue;
        count++;
      }
    }
    return count;
  }

  /** Returns the best of the first `count` offers in `priced`, in the format of `RankedOffers.orders`. */
  #selectBest(tables: Tables, state: RankerState, count: number, applicant: Applicant): Uint16Array {
    const { priced } = state;
    const length = Math.min(count, tables.orderLength);
    const orders = new Uint16Array(length * sortOrderNames.length);
    const exact = this.#pricer.computeAprKeys === undefined ? priced : state.exact;
    const exactCount = exact === priced ? count : this.#computeExactKeys(tables, state, count, length, applicant);
    this.#copyLowest(priced.recommended, priced.offers, count, orders, 0, length);
    this.#copyLowest(exact.lowestApr, exact.offers, exactCount, orders, length, length);
    this.#copyLowest(exact.highestAmount, exact.offers, exactCount, orders, 2 * length, length);
    this.#copyLowest(priced.revenue, priced.offers, count, orders, 3 * length, length);
    return orders;
  }

  #copyLowest(
    sortKeys: Float64Array,
    offers: Uint16Array,
    count: number,
    orders: Uint16Array,
    from: number,
    length: number,
  ): void {
    const places = this.#places;
    selectLowest(sortKeys, count, places, length);
    for (let place = 0; place < length; place++) orders[from + place] = offers[places[place]!]!;
  }

  /**
   * Computes the APR keys of the offers that can be among the `length` best in `lowest_apr` or `highest_amount`, and writes the offers and
   * keys into `exact`. Returns the number of these offers.
   */
  #computeExactKeys(
    tables: Tables,
    { priced, exact }: RankerState,
    count: number,
    length: number,
    applicant: Applicant,
  ): number {
    const pricer = this.#pricer;
    const keys = this.#keys;
    const places = this.#places;
    exact.lowestApr.fill(Number.NaN, 0, count);
    const computeOnce = (at: number) => {
      if (!Number.isNaN(exact.lowestApr[at]!)) return;
      pricer.computeAprKeys!(tables, priced.offers[at]!, applicant, keys);
      exact.lowestApr[at] = keys.lowestApr;
      exact.highestAmount[at] = keys.highestAmount;
    };
    // The offers with the lowest bounds are likely the best. The highest of their keys excludes nearly all other offers.
    const highestOfLikelyBest = (keyBounds: Float64Array, exactKeys: Float64Array) => {
      selectLowest(keyBounds, count, places, length);
      const likelyBest = places.subarray(0, length);
      likelyBest.forEach(computeOnce);
      return likelyBest.reduce((highest, at) => Math.max(highest, exactKeys[at]!), Number.NEGATIVE_INFINITY);
    };
    const aprMax = highestOfLikelyBest(priced.lowestApr, exact.lowestApr);
    const amountKeyMax = highestOfLikelyBest(priced.highestAmount, exact.highestAmount);
    let exactCount = 0;
    for (let at = 0; at < count; at++) {
      if (priced.lowestApr[at]! <= aprMax || priced.highestAmount[at]! <= amountKeyMax) computeOnce(at);
      if (Number.isNaN(exact.lowestApr[at]!)) continue;
      exact.offers[exactCount] = priced.offers[at]!;
      exact.lowestApr[exactCount] = exact.lowestApr[at]!;
      exact.highestAmount[exactCount] = exact.highestAmount[at]!;
      exactCount++;
    }
    return exactCount;
  }
}

/** Removes the unavailable offers from the first `count` offers in `priced`. Returns the number of the remaining offers. */
function removeUnavailable(priced: PricedOffers, count: number, unavailable: OfferSet): number {
  const { offers, recommended, lowestApr, highestAmount, revenue } = priced;
  let available = 0;
  for (let at = 0; at < count; at++) {
    if (hasOffer(unavailable, offers[at]!)) continue;
    offers[available] = offers[at]!;
    recommended[available] = recommended[at]!;
    lowestApr[available] = lowestApr[at]!;
    highestAmount[available] = highestAmount[at]!;
    revenue[available] = revenue[at]!;
    available++;
  }
  return available;
}

/** Whether each sort order contains at least `min(available, bounds.offersShownMax)` available offers. */
function hasEnoughAvailable(orders: Uint16Array, unavailable: OfferSet, available: number): boolean {
  const wanted = Math.min(available, bounds.offersShownMax);
  const places = orders.length / sortOrderNames.length;
  for (let from = 0; from < orders.length; from += places) {
    let found = 0;
    for (let at = from; at < from + places; at++) if (!hasOffer(unavailable, orders[at]!)) found++;
    if (found < wanted) return false;
  }
  return true;
}
