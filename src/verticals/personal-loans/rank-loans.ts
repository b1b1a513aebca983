import { bounds } from '../../bounds.ts';
import { meetsAgeOfContract } from '../../matching/age-of-contract.ts';
import { type RankedOffers, sortOrders } from '../../matching/matcher.ts';
import {
  countOffers,
  emptyOfferSet,
  hasOffer,
  lowestBitIndex,
  type OfferSet,
  removeOffer,
  subtractOffers,
} from '../../matching/offer-set.ts';
import { TopOffers } from '../../matching/top-offers.ts';
import type { FieldVector } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import { type BandIndex, MatchIndex, type TermIndex } from './match-index.ts';
import {
  emptyApplicant,
  emptyOfferPrice,
  maxMonthlyPayment,
  paymentUnitsPerUsd,
  priceOffer,
  readApplicant,
} from './price-offer.ts';
import { selectEligible } from './select-eligible.ts';
import { amountKey, aprKey, maxAmountFromKey, recommendedScore, revenueKey, type ScoreOffer } from './sort-keys.ts';

export type RankLoans = (
  tables: LoanTables,
  borrower: Readonly<FieldVector>,
  today: number,
  /** A bit for each offer that is at its daily cap (`UnavailableOffers`); null for none. */
  unavailable?: Int32Array | null,
) => RankedOffers;

/** A ranking, and what it knows beforehand of a catalog. */
type Ranker = RankLoans & { readonly indexFor: (tables: LoanTables) => MatchIndex };

/** What one thread keeps of a catalog to rank by it. */
interface RankerState {
  readonly index: MatchIndex;
  /** What the borrower at hand may have. */
  readonly eligible: OfferSet;
  /** What of it is quoted as usual, so that its place in the orders made beforehand is right. */
  readonly defaultTermOffers: OfferSet;
}

/**
 * Finds the offers a borrower may have, and the best in four orders (docs/contract.md#sort-orders). What a borrower may have,
 * and at what price, is for `priceOffer` to say; `MatchIndex` saves asking it about every offer
 * (docs/contributing/decisions/matching.md):
 *
 * 1. `selectEligible` applies all criteria and the state's rules, to 32 offers at a time;
 * 2. debts, the one rule that needs arithmetic for each offer, strike out some more, and what is left is the exact total. An
 *    offer that is quoted another term than usual is priced here, by itself;
 * 3. for all others the orders made beforehand are walked until nothing further on can be among the best.
 *
 * Closed offers are ranked like all others and left out of the total alone, so that an offer may close or open without another
 * ranking. Only where too few open ones are among the best for an answer, step 3 is done once more for the open ones.
 *
 * With `ordered`, the score is trusted to be a whole number below 2^31 that depends on its arguments alone, is never lower for
 * a higher `price.amountMax` or a lower `applicant.amount`, and never higher for a term no offer has than for none: then
 * `recommended` is walked, too. Any other score is worked out for every offer.
 */
export function createRanker(score: ScoreOffer, { ordered = false } = {}): Ranker {
  const workplaces = new WeakMap<LoanTables, RankerState>();
  const applicant = emptyApplicant();
  const price = emptyOfferPrice();
  const recommended = new TopOffers();
  const lowestApr = new TopOffers();
  const highestAmount = new TopOffers();
  const revenue = new TopOffers();
  // In the order of `sorts`.
  const best = [recommended, lowestApr, highestAmount, revenue];

  const rank: RankLoans = (tables, borrower, today, unavailable = null) => {
    if (!readApplicant(tables, borrower, applicant) || !meetsAgeOfContract(tables, borrower, today))
      return emptyRanking;
    const workplace = workplaceFor(tables);
    const { index, eligible } = workplace;
    const chosen = selectEligible(tables, index, borrower, applicant, today, eligible);
    placeBest(tables, workplace, borrower, chosen);
    const all = countOffers(eligible);
    const orders = bestOrders(tables, all);
    if (unavailable === null) return { total: all, availableOnly: false, orders };
    subtractOffers(eligible, unavailable);
    const total = countOffers(eligible);
    if (hasEnoughAvailable(orders, eligible, total)) return { total, availableOnly: false, orders };
    placeBest(tables, workplace, borrower, total);
    return { total, availableOnly: true, orders: bestOrders(tables, total) };
  };
  return Object.assign(rank, { indexFor: (tables: LoanTables) => workplaceFor(tables).index });

  /** Places the best of the `count` eligible offers in all orders, and strikes out of `eligible` those the debts leave no room for. */
  function placeBest(tables: LoanTables, workplace: RankerState, borrower: Readonly<FieldVector>, count: number): void {
    const { index, eligible } = workplace;
    for (const list of best) list.reset(tables.orderLength);
    if (shouldPriceAll(tables, count)) {
      priceAll(tables, eligible, eligible);
    } else {
      const ofBand = index.indexForBand(applicant.creditBand);
      const ofTerm = index.indexForTerm(applicant.creditBand, applicant.termIndex);
      markUsual(tables, workplace, borrower);
      walkAmounts(tables, workplace, ofBand, ofTerm);
      settleDebts(tables, workplace, ofBand, ofTerm);
      walkAprs(tables, workplace, ofTerm);
      walkScores(tables, workplace, ofTerm);
      walkRevenue(tables, workplace, ofBand);
    }
  }

  function bestOrders(tables: LoanTables, count: number): Uint16Array {
    const places = Math.min(count, tables.orderLength);
    const orders = new Uint16Array(places * best.length);
    for (let at = 0; at < best.length; at++) best[at]!.copyTo(orders, at * places);
    return orders;
  }

  function workplaceFor(tables: LoanTables): RankerState {
    let workplace = workplaces.get(tables);
    if (workplace === undefined) {
      workplace = {
        index: new MatchIndex(tables, ordered ? score : null),
        eligible: emptyOfferSet(tables.offerCount),
        defaultTermOffers: emptyOfferSet(tables.offerCount),
      };
      workplaces.set(tables, workplace);
    }
    return workplace;
  }

  /** Places offers in all orders by their own prices, and strikes out of `eligible` those that have none. */
  function priceAll(tables: LoanTables, offers: OfferSet, eligible: OfferSet): void {
    const { bandCount } = tables;
    for (let word = 0; word < offers.length; word++) {
      for (let bits = offers[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        if (!priceAlone(tables, offer, eligible)) continue;
        revenue.add(offer, revenueKey(tables, offer * bandCount + applicant.creditBand));
      }
    }
  }

  /** As `priceAll`, for one offer and all orders but `svc_revenue`, which no price decides. */
  function priceAlone(tables: LoanTables, offer: number, eligible: OfferSet): boolean {
    if (!priceOffer(tables, offer, applicant, price)) {
      removeOffer(eligible, offer);
      return false;
    }
    recommended.add(offer, -score(tables, offer, applicant, price));
    lowestApr.add(offer, aprKey(tables, price.slot));
    highestAmount.add(offer, amountKey(tables, price.slot, price.amountMax));
    return true;
  }

  function markUsual(tables: LoanTables, workplace: RankerState, borrower: Readonly<FieldVector>): void {
    const { index, eligible, defaultTermOffers } = workplace;
    defaultTermOffers.set(eligible);
    const unusual = index.indexForState(borrower[tables.roles.state]!, applicant).nonDefaultTerm[
      applicant.termIndex + 1
    ];
    if (unusual !== undefined) subtractOffers(defaultTermOffers, unusual);
  }

  /**
   * Strikes out what the borrower's debts leave no room for. Offers limited by them find their places in `highest_amount`
   * here, since how much this borrower can get of one is nobody else's figure.
   */
  function settleDebts(tables: LoanTables, workplace: RankerState, ofBand: BandIndex, ofTerm: TermIndex): void {
    const { amount } = applicant;
    const { index, eligible, defaultTermOffers } = workplace;
    const { debtLimited } = index;
    const { minPaymentFactor, amountMax } = ofBand;
    const { defaultPaymentFactor } = ofTerm;
    const { annualIncome, monthlyDebt } = applicant;
    const known = annualIncome >= 0 && monthlyDebt >= 0;
    const { debtToIncomeMax } = tables;
    const amountUnits = amount * paymentUnitsPerUsd;
    // Of an offer that goes up to less, no place among the best is to be had.
    let amountNeeded = maxAmountFromKey(highestAmount.keyLimit);
    for (let word = 0; word < eligible.length; word++) {
      for (let bits = eligible[word]! & ~defaultTermOffers[word]!; bits !== 0; bits &= bits - 1) {
        priceAlone(tables, (word << 5) + lowestBitIndex(bits), eligible);
      }
      for (let bits = defaultTermOffers[word]! & debtLimited[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBitIndex(bits);
        const room = known ? maxMonthlyPayment(debtToIncomeMax[offer]!, annualIncome, monthlyDebt) : -1;
        if (amountUnits * defaultPaymentFactor[offer]! > room) {
          removeOffer(defaultTermOffers, offer);
          if (amountUnits * minPaymentFactor[offer]! > room) removeOffer(eligible, offer);
          else priceAlone(tables, offer, eligible);
        } else if (amountMax[offer]! >= amountNeeded) {
          // Not less than `priceOffer` may find, whatever its division rounds to.
          const payable =
            amount >= amountNeeded || room * (1 + 1e-9) >= amountNeeded * paymentUnitsPerUsd * minPaymentFactor[offer]!;
          if (!payable || !priceOffer(tables, offer, applicant, price)) continue;
          highestAmount.add(offer, amountKey(tables, price.slot, price.amountMax));
          amountNeeded = maxAmountFromKey(highestAmount.keyLimit);
        }
      }
    }
  }

  /** Unlimited offers alone: `byAmount` has no others. */
  function walkAmounts(
    tables: LoanTables,
    { defaultTermOffers }: RankerState,
    { amountMax }: BandIndex,
    ofTerm: TermIndex,
  ): void {
    const { byAmount, defaultSlot } = ofTerm;
    for (let at = 0, found = 0; at < byAmount.length && found < tables.orderLength; at++) {
      const offer = byAmount[at]!;
      if (!hasOffer(defaultTermOffers, offer)) continue;
      highestAmount.add(offer, amountKey(tables, defaultSlot[offer]!, amountMax[offer]!));
      found++;
    }
  }

  function walkAprs(tables: LoanTables, { defaultTermOffers }: RankerState, { byApr, defaultSlot }: TermIndex): void {
    for (let at = 0, found = 0; at < byApr.length && found < tables.orderLength; at++) {
      const offer = byApr[at]!;
      if (!hasOffer(defaultTermOffers, offer)) continue;
      lowestApr.add(offer, aprKey(tables, defaultSlot[offer]!));
      found++;
    }
  }

  /** The scores beside the order are those of the luckiest borrower, so the walk ends where even they are too low. */
  function walkScores(
    tables: LoanTables,
    { defaultTermOffers }: RankerState,
    { byScore, bestScores }: TermIndex,
  ): void {
    if (!ordered) {
      for (let word = 0; word < defaultTermOffers.length; word++) {
        for (let bits = defaultTermOffers[word]!; bits !== 0; bits &= bits - 1)
          weigh(tables, (word << 5) + lowestBitIndex(bits));
      }
      return;
    }
    for (let at = 0; at < byScore.length && -bestScores[at]! <= recommended.keyLimit; at++) {
      const offer = byScore[at]!;
      if (hasOffer(defaultTermOffers, offer)) weigh(tables, offer);
    }
  }

  function weigh(tables: LoanTables, offer: number): void {
    if (!priceOffer(tables, offer, applicant, price)) return;
    recommended.add(offer, -score(tables, offer, applicant, price));
  }

  function walkRevenue(tables: LoanTables, { eligible }: RankerState, { byRevenue }: BandIndex): void {
    for (let at = 0, found = 0; at < byRevenue.length && found < tables.orderLength; at++) {
      const offer = byRevenue[at]!;
      if (!hasOffer(eligible, offer)) continue;
      revenue.add(offer, revenueKey(tables, offer * tables.bandCount + applicant.creditBand));
      found++;
    }
  }
}

/** The ranking of the service: `recommended` by the documented weights. */
export const rankLoans = createRanker(recommendedScore, { ordered: true });

/** Makes beforehand what `rankLoans` takes longest to make, so that the first borrowers to come wait for little of it. */
export function prepareRanking(tables: LoanTables): void {
  rankLoans.indexFor(tables).buildCommonIndexes();
}

const emptyRanking: RankedOffers = { total: 0, availableOnly: false, orders: new Uint16Array(0) };

/** Whether each order has as many of these offers as the largest answer shows; `count` is how many there are. */
function hasEnoughAvailable(orders: Uint16Array, open: OfferSet, count: number): boolean {
  const wanted = Math.min(count, bounds.offersShownMax);
  const places = orders.length / sortOrders.length;
  for (let from = 0; from < orders.length; from += places) {
    let found = 0;
    for (let at = from; at < from + places; at++) if (hasOffer(open, orders[at]!)) found++;
    if (found < wanted) return false;
  }
  return true;
}

/**
 * Whether to price these offers one by one: with as few as that it takes longer to come across the best of them in the orders
 * of all `offerCount`, where one in `offerCount / count` is among them.
 */
function shouldPriceAll({ offerCount, orderLength }: LoanTables, count: number): boolean {
  return count <= orderLength || count ** 2 <= offerCount;
}
