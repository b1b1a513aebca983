import type { FieldVector } from '../domain/field-vector.ts';
import { BestOffers, emptyRanking } from './best-offers.ts';
import { CriteriaIndex } from './criteria-index.ts';
import { type MatchTables, meetsStateMinimumAge } from './match-tables.ts';
import { emptyOfferSet, lowestBitIndex, type OfferSet, removeOffer } from './offer-set.ts';
import type { RankedOffers } from './product-ranking.ts';
import { TopOffers } from './top-offers.ts';

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
  unavailable: Int32Array | null,
) => RankedOffers;

/** Index and reusable memory of a ranker for one catalog. Each thread has its own ranker state. */
interface RankerState {
  readonly criteria: CriteriaIndex;
  readonly eligible: OfferSet;
  /** Lower bounds of the keys of `lowest_apr` and `highest_amount`, by offer; NaN for an offer whose keys were computed. */
  readonly aprBounds: Float64Array;
  readonly amountBounds: Float64Array;
}

/**
 * Creates a function that finds the offers a borrower can get, and the best of these offers in four sort orders
 * (docs/contract.md#sort-orders). Bit sets apply all criteria to 32 offers at a time. Each remaining offer is then priced.
 */
export function createPricingRanker<Tables extends MatchTables, Applicant>(
  pricer: OfferPricer<Tables, Applicant>,
): OfferRanker<Tables> {
  const states = new WeakMap<Tables, RankerState>();
  const best = new BestOffers();
  const lowestAprBounds = new TopOffers();
  const lowestAmountBounds = new TopOffers();
  const keys: OfferSortKeys = { recommended: 0, lowestApr: 0, highestAmount: 0, revenue: 0 };
  const computeAprKeys = pricer.computeAprKeys?.bind(pricer);

  return (tables, borrower, today, unavailable) => {
    const applicant = pricer.readApplicant(tables, borrower);
    if (applicant === null || !meetsStateMinimumAge(tables, borrower, today)) return emptyRanking;
    const state = stateFor(tables);
    const { criteria, eligible } = state;
    fillOfferSet(eligible, tables.offerCount);
    criteria.filterOffers(eligible, borrower, today);
    return best.rank(tables, eligible, unavailable, () => rankEligible(tables, state, applicant));
  };

  function stateFor(tables: Tables): RankerState {
    let state = states.get(tables);
    if (state === undefined) {
      const boundCount = computeAprKeys === undefined ? 0 : tables.offerCount;
      state = {
        criteria: new CriteriaIndex(tables),
        eligible: emptyOfferSet(tables.offerCount),
        aprBounds: new Float64Array(boundCount),
        amountBounds: new Float64Array(boundCount),
      };
      states.set(tables, state);
    }
    return state;
  }

  /** Finds the best of the eligible offers for each sort order. Removes from `eligible` the offers that the applicant cannot get. */
  function rankEligible(tables: Tables, state: RankerState, applicant: Applicant): void {
    const { eligible, aprBounds, amountBounds } = state;
    best.reset(tables);
    lowestAprBounds.reset(tables.orderLength);
    lowestAmountBounds.reset(tables.orderLength);
    for (let word = 0; word < eligible.length; word++) {
      for (let bits = eligible[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        if (!pricer.computeSortKeys(tables, offer, applicant, keys)) {
          removeOffer(eligible, offer);
          continue;
        }
        best.recommended.add(offer, keys.recommended);
        best.revenue.add(offer, keys.revenue);
        if (computeAprKeys === undefined) {
          best.lowestApr.add(offer, keys.lowestApr);
          best.highestAmount.add(offer, keys.highestAmount);
        } else {
          aprBounds[offer] = keys.lowestApr;
          lowestAprBounds.add(offer, keys.lowestApr);
          amountBounds[offer] = keys.highestAmount;
          lowestAmountBounds.add(offer, keys.highestAmount);
        }
      }
    }
    if (computeAprKeys === undefined) return;
    const addWithAprKeys = (offer: number) => {
      if (Number.isNaN(aprBounds[offer]!)) return;
      computeAprKeys(tables, offer, applicant, keys);
      best.lowestApr.add(offer, keys.lowestApr);
      best.highestAmount.add(offer, keys.highestAmount);
      aprBounds[offer] = Number.NaN;
      amountBounds[offer] = Number.NaN;
    };
    // The offers with the lowest bounds are likely the best. With their keys, `canBeAmongBest` is false for nearly all other offers.
    lowestAprBounds.forEachOffer(addWithAprKeys);
    lowestAmountBounds.forEachOffer(addWithAprKeys);
    for (let word = 0; word < eligible.length; word++) {
      for (let bits = eligible[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        const canBeAmongBest =
          aprBounds[offer]! <= best.lowestApr.highestAcceptedSortKey ||
          amountBounds[offer]! <= best.highestAmount.highestAcceptedSortKey;
        if (canBeAmongBest) addWithAprKeys(offer);
      }
    }
  }
}

function fillOfferSet(offers: OfferSet, offerCount: number): void {
  offers.fill(-1);
  const rest = offerCount & 31;
  if (rest !== 0) offers[offers.length - 1] = (1 << rest) - 1;
}
