import type { FieldVector } from '../../domain/field-vector.ts';
import { BestOffers, emptyRanking } from '../../matching/best-offers.ts';
import { meetsStateMinimumAge } from '../../matching/match-tables.ts';
import {
  emptyOfferSet,
  hasOffer,
  lowestBitIndex,
  type OfferSet,
  removeOffer,
  subtractOffers,
} from '../../matching/offer-set.ts';
import type { RankedOffers } from '../../matching/product-ranking.ts';
import type { LoanTables } from './loan-tables.ts';
import { MatchIndex, type OffersByCreditBand, type OffersByLoanTerm } from './match-index.ts';
import {
  calculatePrice,
  createEmptyLoanPrice,
  emptyApplicant,
  maxMonthlyPayment,
  paymentUnitsPerUsd,
  readApplicant,
} from './price-offer.ts';
import { selectEligibleOffers } from './select-eligible.ts';
import {
  amountFromSortKey,
  amountSortKey,
  aprSortKey,
  computeRecommendationScore,
  type OfferScorer,
  revenueSortKey,
} from './sort-keys.ts';

export type LoanRanker = (
  tables: LoanTables,
  borrower: Readonly<FieldVector>,
  today: number,
  /** Bit set of the unavailable offers (`UnavailableOffers`); null if there are none. */
  unavailable?: Int32Array | null,
) => RankedOffers;

/** Function that ranks the offers of a loan catalog. `indexFor` returns the `MatchIndex` of a catalog. */
type Ranker = LoanRanker & { readonly indexFor: (tables: LoanTables) => MatchIndex };

/** Index and reusable bit sets of a ranker for one catalog. Each thread has its own ranker state. */
interface RankerState {
  readonly index: MatchIndex;
  /** Offers that the borrower of the current request can get. */
  readonly eligible: OfferSet;
  /** Eligible offers that are quoted at their default term. The prebuilt sort orders are valid only for offers at their default term. */
  readonly defaultTermOffers: OfferSet;
}

/**
 * Creates a function that finds the offers a borrower can get, and the best of these offers in four sort orders
 * (docs/contract.md#sort-orders). `calculatePrice` defines which offers and prices a borrower gets. The ranker uses a `MatchIndex` instead
 * of calling `calculatePrice` for every offer (docs/contributing/decisions/matching.md):
 *
 * 1. `selectEligibleOffers` applies all criteria and the rules for US states with bit sets, 32 offers per operation.
 * 2. `applyDebtLimits` removes the offers whose debt-to-income limit the borrower would exceed. Only debt-to-income limits need a
 *    calculation for each offer. After `applyDebtLimits`, `eligible` contains exactly the offers that the borrower can get.
 *    `applyDebtLimits` also prices the offers whose quoted term is not their default term (see `OffersByLoanTerm`).
 * 3. The offers quoted at their default term are read from the sort orders in the `MatchIndex` until each list of best offers is full.
 *
 * The scoring function `score` must be pure and must return a whole number below 2^31. An offer must score highest for the largest
 * `price.amountMax` and an `applicant.amount` of 0, because `MatchIndex` computes the highest score of an offer from these two values. If
 * an applicant requests a term that no offer has, no offer may score higher than without a requested term.
 */
export function createRanker(score: OfferScorer): Ranker {
  const states = new WeakMap<LoanTables, RankerState>();
  const applicant = emptyApplicant();
  const price = createEmptyLoanPrice();
  const best = new BestOffers();
  const { recommended, lowestApr, highestAmount, revenue } = best;

  const rank: LoanRanker = (tables, borrower, today, unavailable = null) => {
    if (!readApplicant(tables, borrower, applicant) || !meetsStateMinimumAge(tables, borrower, today))
      return emptyRanking;
    const state = stateFor(tables);
    const { index, eligible } = state;
    selectEligibleOffers(tables, index, borrower, applicant, today, eligible);
    return best.rank(tables, eligible, unavailable, (count) => rankEligible(tables, state, borrower, count));
  };
  return Object.assign(rank, { indexFor: (tables: LoanTables) => stateFor(tables).index });

  /**
   * Finds the best of the `count` eligible offers for each sort order. Removes from `eligible` the offers whose debt-to-income limit the
   * borrower would exceed.
   */
  function rankEligible(tables: LoanTables, state: RankerState, borrower: Readonly<FieldVector>, count: number): void {
    const { index, eligible } = state;
    best.reset(tables);
    if (shouldPriceAll(tables, count)) {
      priceAll(tables, eligible, eligible);
    } else {
      const bandIndex = index.getOffersByCreditBand(applicant.creditBand);
      const termIndex = index.getOffersByLoanTerm(applicant.creditBand, applicant.termIndex);
      markDefaultTermOffers(tables, state, borrower);
      takeTopByAmount(tables, state, bandIndex, termIndex);
      applyDebtLimits(tables, state, bandIndex, termIndex);
      takeTopByApr(tables, state, termIndex);
      takeTopByScore(tables, state, termIndex);
      takeTopByRevenue(tables, state, bandIndex);
    }
  }

  function stateFor(tables: LoanTables): RankerState {
    let state = states.get(tables);
    if (state === undefined) {
      state = {
        index: new MatchIndex(tables, score),
        eligible: emptyOfferSet(tables.offerCount),
        defaultTermOffers: emptyOfferSet(tables.offerCount),
      };
      states.set(tables, state);
    }
    return state;
  }

  /**
   * Prices each offer and adds the offer to the lists of all sort orders. Removes from `eligible` the offers that the borrower cannot get.
   */
  function priceAll(tables: LoanTables, offers: OfferSet, eligible: OfferSet): void {
    const { bandCount } = tables;
    for (let word = 0; word < offers.length; word++) {
      for (let bits = offers[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        if (!priceAlone(tables, offer, eligible)) continue;
        revenue.add(offer, revenueSortKey(tables, offer * bandCount + applicant.creditBand));
      }
    }
  }

  /** Prices one offer and adds the offer to the lists whose order depends on prices: all lists except `revenue`. */
  function priceAlone(tables: LoanTables, offer: number, eligible: OfferSet): boolean {
    if (!calculatePrice(tables, offer, applicant, price)) {
      removeOffer(eligible, offer);
      return false;
    }
    recommended.add(offer, -score(tables, offer, applicant, price));
    lowestApr.add(offer, aprSortKey(tables, price.slot));
    highestAmount.add(offer, amountSortKey(tables, price.slot, price.amountMax));
    return true;
  }

  function markDefaultTermOffers(tables: LoanTables, state: RankerState, borrower: Readonly<FieldVector>): void {
    const { index, eligible, defaultTermOffers } = state;
    defaultTermOffers.set(eligible);
    const nonDefault = index.getOffersByUsState(borrower[tables.roles.state]!, applicant).nonDefaultTerm[
      applicant.termIndex + 1
    ];
    if (nonDefault !== undefined) subtractOffers(defaultTermOffers, nonDefault);
  }

  /**
   * Removes the offers whose debt-to-income limit the borrower would exceed. Offers whose debt-to-income limit the borrower meets are
   * added to the list `highestAmount`. The prebuilt sort order by amount excludes offers with a debt-to-income limit, because the largest
   * amounts of these offers depend on the borrower's income.
   */
  function applyDebtLimits(
    tables: LoanTables,
    state: RankerState,
    bandIndex: OffersByCreditBand,
    termIndex: OffersByLoanTerm,
  ): void {
    const { amount } = applicant;
    const { index, eligible, defaultTermOffers } = state;
    const { debtLimited } = index;
    const { minPaymentFactor, amountMax } = bandIndex;
    const { defaultPaymentFactor } = termIndex;
    const { annualIncome, monthlyDebt } = applicant;
    const debtsKnown = annualIncome >= 0 && monthlyDebt >= 0;
    const { debtToIncomeMax } = tables;
    const amountUnits = amount * paymentUnitsPerUsd;
    // Smallest `amountMax` in USD with which an offer can still enter the list `highestAmount`.
    let amountNeeded = amountFromSortKey(highestAmount.highestAcceptedSortKey);
    for (let word = 0; word < eligible.length; word++) {
      for (let bits = eligible[word]! & ~defaultTermOffers[word]!; bits !== 0; bits &= bits - 1) {
        priceAlone(tables, (word << 5) + lowestBitIndex(bits), eligible);
      }
      for (let bits = defaultTermOffers[word]! & debtLimited[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        const room = debtsKnown ? maxMonthlyPayment(debtToIncomeMax[offer]!, annualIncome, monthlyDebt) : -1;
        if (amountUnits * defaultPaymentFactor[offer]! > room) {
          removeOffer(defaultTermOffers, offer);
          if (amountUnits * minPaymentFactor[offer]! > room) removeOffer(eligible, offer);
          else priceAlone(tables, offer, eligible);
        } else if (amountMax[offer]! >= amountNeeded) {
          // The factor `1 + 1e-9` ensures that a rounding error never excludes an offer that belongs in the list.
          const payable =
            amount >= amountNeeded || room * (1 + 1e-9) >= amountNeeded * paymentUnitsPerUsd * minPaymentFactor[offer]!;
          if (!payable || !calculatePrice(tables, offer, applicant, price)) continue;
          highestAmount.add(offer, amountSortKey(tables, price.slot, price.amountMax));
          amountNeeded = amountFromSortKey(highestAmount.highestAcceptedSortKey);
        }
      }
    }
  }

  /** Adds the offers with the largest amounts to the list `highestAmount`, except offers with a debt-to-income limit. */
  function takeTopByAmount(
    tables: LoanTables,
    { defaultTermOffers }: RankerState,
    { amountMax }: OffersByCreditBand,
    termIndex: OffersByLoanTerm,
  ): void {
    const { byAmount, defaultSlot } = termIndex;
    for (let at = 0, found = 0; at < byAmount.length && found < tables.orderLength; at++) {
      const offer = byAmount[at]!;
      if (!hasOffer(defaultTermOffers, offer)) continue;
      highestAmount.add(offer, amountSortKey(tables, defaultSlot[offer]!, amountMax[offer]!));
      found++;
    }
  }

  function takeTopByApr(
    tables: LoanTables,
    { defaultTermOffers }: RankerState,
    { byApr, defaultSlot }: OffersByLoanTerm,
  ): void {
    for (let at = 0, found = 0; at < byApr.length && found < tables.orderLength; at++) {
      const offer = byApr[at]!;
      if (!hasOffer(defaultTermOffers, offer)) continue;
      lowestApr.add(offer, aprSortKey(tables, defaultSlot[offer]!));
      found++;
    }
  }

  /** Adds the offers with the highest scores to `recommended`, until no remaining offer can have a score high enough for this list. */
  function takeTopByScore(
    tables: LoanTables,
    { defaultTermOffers }: RankerState,
    { byScore, bestScores }: OffersByLoanTerm,
  ): void {
    for (let at = 0; at < byScore.length && -bestScores[at]! <= recommended.highestAcceptedSortKey; at++) {
      const offer = byScore[at]!;
      if (!hasOffer(defaultTermOffers, offer) || !calculatePrice(tables, offer, applicant, price)) continue;
      recommended.add(offer, -score(tables, offer, applicant, price));
    }
  }

  function takeTopByRevenue(tables: LoanTables, { eligible }: RankerState, { byRevenue }: OffersByCreditBand): void {
    for (let at = 0, found = 0; at < byRevenue.length && found < tables.orderLength; at++) {
      const offer = byRevenue[at]!;
      if (!hasOffer(eligible, offer)) continue;
      revenue.add(offer, revenueSortKey(tables, offer * tables.bandCount + applicant.creditBand));
      found++;
    }
  }
}

/** Ranks the offers of a loan catalog with the documented `recommended` score. */
export const rankLoans = createRanker(computeRecommendationScore);

/** Whether it is faster to price all `count` eligible offers than to read the prebuilt sort orders. */
function shouldPriceAll({ offerCount, orderLength }: LoanTables, count: number): boolean {
  return count <= orderLength || count ** 2 <= offerCount;
}
