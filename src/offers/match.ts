import { bounds } from '../bounds.ts';
import type { PocketVector } from '../verticals/pocket-vector.ts';
import { isOfContractAge } from './age-of-contract.ts';
import { BestOffers } from './best-offers.ts';
import { chooseEligible } from './eligible-offers.ts';
import { type BandIndex, MatchIndex, type TermIndex } from './match-index.ts';
import type { MatchTables } from './match-tables.ts';
import { sorts } from './matcher.ts';
import { countOf, hasOffer, leaveOut, lowestBit, noOffers, type OfferBits, removeOffer } from './offer-bits.ts';
import { paymentRoom, roomUnitsOfUsd } from './payment-room.ts';
import { newApplicant, newOfferPrice, priceOffer, readApplicant } from './price-offer.ts';
import { recommendedScore, type Score } from './recommended-score.ts';
import { amountKey, amountOfKey, aprKey, revenueKey } from './sort-keys.ts';

/** A ranking as it comes to be; `Ranking` says what is in it, and holds the orders packed. */
export interface RankedOffers {
  readonly total: number;
  readonly openOnly: boolean;
  readonly orders: Uint16Array;
}

export type RankOffers = (
  tables: MatchTables,
  borrower: Readonly<PocketVector>,
  today: number,
  /** The closed offers, a bit each (`ClosedOffers`); null: none. */
  closed?: Int32Array | null,
) => RankedOffers;

/** A ranking, and what it knows beforehand of a catalog. */
export type Ranker = RankOffers & { readonly indexOf: (tables: MatchTables) => MatchIndex };

/** What one thread keeps of a catalog to rank by it. */
interface Workplace {
  readonly index: MatchIndex;
  /** What the borrower at hand may have. */
  readonly eligible: OfferBits;
  /** What of it is quoted as usual, so that its place in the orders made beforehand is right. */
  readonly usual: OfferBits;
}

/**
 * Finds the offers a borrower may have, and the best in four orders (docs/contract.md#sort-orders). What a borrower may have,
 * and at what price, is for `priceOffer` to say; `MatchIndex` saves asking it about every offer
 * (docs/contributing/decisions/matching.md):
 *
 * 1. `chooseEligible` applies all criteria and the state's rules, to 32 offers at a time;
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
export function createRanker(score: Score, { ordered = false } = {}): Ranker {
  const workplaces = new WeakMap<MatchTables, Workplace>();
  const applicant = newApplicant();
  const price = newOfferPrice();
  const recommended = new BestOffers();
  const lowestApr = new BestOffers();
  const highestAmount = new BestOffers();
  const revenue = new BestOffers();
  // In the order of `sorts`.
  const best = [recommended, lowestApr, highestAmount, revenue];

  const rank: RankOffers = (tables, borrower, today, closed = null) => {
    if (!readApplicant(tables, borrower, applicant) || !isOfContractAge(tables, borrower, today)) return nothing;
    const workplace = workplaceFor(tables);
    const { index, eligible } = workplace;
    const chosen = chooseEligible(tables, index, borrower, applicant, today, eligible);
    placeBest(tables, workplace, borrower, chosen);
    const all = countOf(eligible);
    const orders = bestOrders(tables, all);
    if (closed === null) return { total: all, openOnly: false, orders };
    leaveOut(eligible, closed);
    const total = countOf(eligible);
    if (haveEnough(orders, eligible, total)) return { total, openOnly: false, orders };
    placeBest(tables, workplace, borrower, total);
    return { total, openOnly: true, orders: bestOrders(tables, total) };
  };
  return Object.assign(rank, { indexOf: (tables: MatchTables) => workplaceFor(tables).index });

  /** Places the best of the `count` eligible offers in all orders, and strikes out of `eligible` those the debts leave no room for. */
  function placeBest(tables: MatchTables, workplace: Workplace, borrower: Readonly<PocketVector>, count: number): void {
    const { index, eligible } = workplace;
    for (const list of best) list.clear(tables.places);
    if (isFew(tables, count)) {
      priceAll(tables, eligible, eligible);
    } else {
      const ofBand = index.band(applicant.creditBand);
      const ofTerm = index.term(applicant.creditBand, applicant.term);
      markUsual(tables, workplace, borrower);
      walkAmounts(tables, workplace, ofBand, ofTerm);
      settleDebts(tables, workplace, ofBand, ofTerm);
      walkAprs(tables, workplace, ofTerm);
      walkScores(tables, workplace, ofTerm);
      walkRevenue(tables, workplace, ofBand);
    }
  }

  function bestOrders(tables: MatchTables, count: number): Uint16Array {
    const places = Math.min(count, tables.places);
    const orders = new Uint16Array(places * best.length);
    for (let at = 0; at < best.length; at++) best[at]!.copyTo(orders, at * places);
    return orders;
  }

  function workplaceFor(tables: MatchTables): Workplace {
    let workplace = workplaces.get(tables);
    if (workplace === undefined) {
      workplace = {
        index: new MatchIndex(tables, ordered ? score : null),
        eligible: noOffers(tables.offerCount),
        usual: noOffers(tables.offerCount),
      };
      workplaces.set(tables, workplace);
    }
    return workplace;
  }

  /** Places offers in all orders by their own prices, and strikes out of `eligible` those that have none. */
  function priceAll(tables: MatchTables, offers: OfferBits, eligible: OfferBits): void {
    const { bandCount } = tables;
    for (let word = 0; word < offers.length; word++) {
      for (let bits = offers[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBit(bits);
        if (!priceAlone(tables, offer, eligible)) continue;
        revenue.add(offer, revenueKey(tables, offer * bandCount + applicant.creditBand));
      }
    }
  }

  /** As `priceAll`, for one offer and all orders but `svc_revenue`, which no price decides. */
  function priceAlone(tables: MatchTables, offer: number, eligible: OfferBits): boolean {
    if (!priceOffer(tables, offer, applicant, price)) {
      removeOffer(eligible, offer);
      return false;
    }
    recommended.add(offer, -score(tables, offer, applicant, price));
    lowestApr.add(offer, aprKey(tables, price.slot));
    highestAmount.add(offer, amountKey(tables, price.slot, price.amountMax));
    return true;
  }

  function markUsual(tables: MatchTables, workplace: Workplace, borrower: Readonly<PocketVector>): void {
    const { index, eligible, usual } = workplace;
    usual.set(eligible);
    const unusual = index.state(borrower[tables.roles.state]!, applicant).unusual[applicant.term + 1];
    if (unusual !== undefined) leaveOut(usual, unusual);
  }

  /**
   * Strikes out what the borrower's debts leave no room for. Offers limited by them find their places in `highest_amount`
   * here, since how much this borrower can get of one is nobody else's figure.
   */
  function settleDebts(tables: MatchTables, workplace: Workplace, ofBand: BandIndex, ofTerm: TermIndex): void {
    const { amount } = applicant;
    const { index, eligible, usual } = workplace;
    const { limited } = index;
    const { leastFactor, amountMax } = ofBand;
    const { usualFactor } = ofTerm;
    const { annualIncome, monthlyDebt } = applicant;
    const known = annualIncome >= 0 && monthlyDebt >= 0;
    const { debtToIncomeMax } = tables;
    const amountUnits = amount * roomUnitsOfUsd;
    // Of an offer that goes up to less, no place among the best is to be had.
    let amountNeeded = amountOfKey(highestAmount.limit);
    for (let word = 0; word < eligible.length; word++) {
      for (let bits = eligible[word]! & ~usual[word]!; bits !== 0; bits &= bits - 1) {
        priceAlone(tables, (word << 5) + lowestBit(bits), eligible);
      }
      for (let bits = usual[word]! & limited[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + lowestBit(bits);
        const room = known ? paymentRoom(debtToIncomeMax[offer]!, annualIncome, monthlyDebt) : -1;
        if (amountUnits * usualFactor[offer]! > room) {
          removeOffer(usual, offer);
          if (amountUnits * leastFactor[offer]! > room) removeOffer(eligible, offer);
          else priceAlone(tables, offer, eligible);
        } else if (amountMax[offer]! >= amountNeeded) {
          // Not less than `priceOffer` may find, whatever its division rounds to.
          const payable =
            amount >= amountNeeded || room * (1 + 1e-9) >= amountNeeded * roomUnitsOfUsd * leastFactor[offer]!;
          if (!payable || !priceOffer(tables, offer, applicant, price)) continue;
          highestAmount.add(offer, amountKey(tables, price.slot, price.amountMax));
          amountNeeded = amountOfKey(highestAmount.limit);
        }
      }
    }
  }

  /** Unlimited offers alone: `byAmount` has no others. */
  function walkAmounts(tables: MatchTables, { usual }: Workplace, { amountMax }: BandIndex, ofTerm: TermIndex): void {
    const { byAmount, usualSlot } = ofTerm;
    for (let at = 0, found = 0; at < byAmount.length && found < tables.places; at++) {
      const offer = byAmount[at]!;
      if (!hasOffer(usual, offer)) continue;
      highestAmount.add(offer, amountKey(tables, usualSlot[offer]!, amountMax[offer]!));
      found++;
    }
  }

  function walkAprs(tables: MatchTables, { usual }: Workplace, { byApr, usualSlot }: TermIndex): void {
    for (let at = 0, found = 0; at < byApr.length && found < tables.places; at++) {
      const offer = byApr[at]!;
      if (!hasOffer(usual, offer)) continue;
      lowestApr.add(offer, aprKey(tables, usualSlot[offer]!));
      found++;
    }
  }

  /** The scores beside the order are those of the luckiest borrower, so the walk ends where even they are too low. */
  function walkScores(tables: MatchTables, { usual }: Workplace, { byScore, bestScores }: TermIndex): void {
    if (!ordered) {
      for (let word = 0; word < usual.length; word++) {
        for (let bits = usual[word]!; bits !== 0; bits &= bits - 1) weigh(tables, (word << 5) + lowestBit(bits));
      }
      return;
    }
    for (let at = 0; at < byScore.length && -bestScores[at]! <= recommended.limit; at++) {
      const offer = byScore[at]!;
      if (hasOffer(usual, offer)) weigh(tables, offer);
    }
  }

  function weigh(tables: MatchTables, offer: number): void {
    if (!priceOffer(tables, offer, applicant, price)) return;
    recommended.add(offer, -score(tables, offer, applicant, price));
  }

  function walkRevenue(tables: MatchTables, { eligible }: Workplace, { byRevenue }: BandIndex): void {
    for (let at = 0, found = 0; at < byRevenue.length && found < tables.places; at++) {
      const offer = byRevenue[at]!;
      if (!hasOffer(eligible, offer)) continue;
      revenue.add(offer, revenueKey(tables, offer * tables.bandCount + applicant.creditBand));
      found++;
    }
  }
}

/** The ranking of the service: `recommended` by the documented weights. */
export const rankOffers = createRanker(recommendedScore, { ordered: true });

/** Makes beforehand what `rankOffers` takes longest to make, so that the first borrowers to come wait for little of it. */
export function prepareRanking(tables: MatchTables): void {
  rankOffers.indexOf(tables).prepare();
}

const nothing: RankedOffers = { total: 0, openOnly: false, orders: new Uint16Array(0) };

/** Whether each order has as many of these offers as the largest answer shows; `count` is how many there are. */
function haveEnough(orders: Uint16Array, open: OfferBits, count: number): boolean {
  const wanted = Math.min(count, bounds.offersMax);
  const places = orders.length / sorts.length;
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
function isFew({ offerCount, places }: MatchTables, count: number): boolean {
  return count <= places || count ** 2 <= offerCount;
}
