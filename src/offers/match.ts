import { bounds } from '../bounds.ts';
import { absent, type PocketVector } from '../verticals/pocket-vector.ts';
import { BestOffers } from './best-offers.ts';
import { MatchIndex } from './match-index.ts';
import type { MatchTables } from './match-tables.ts';
import type { Ranking } from './matcher.ts';
import { bitCount, hasOffer, lowestBit, type OfferBits, removeOffer, wordsFor } from './offer-bits.ts';
import { newApplicant, newOfferPrice, priceOffer, readApplicant } from './price-offer.ts';
import { recommendedScore, type Score } from './recommended-score.ts';
import { amountKey, amountOfKey, aprKey, revenueKey } from './sort-keys.ts';

export type RankOffers = (
  tables: MatchTables,
  borrower: Readonly<PocketVector>,
  today: number,
) => Omit<Ranking, 'catalogVersion'>;

/**
 * Decides which offers a borrower may have and puts the best 20 into each of the four orders (D8). What a borrower may have,
 * and at what price, is for `priceOffer` to say; `MatchIndex` saves asking it about every offer
 * (docs/decisions/indexed-matching.md):
 *
 * 1. `eligible`: the offers all criteria and the state's rules leave, 32 at a time;
 * 2. debts, the one rule that needs arithmetic for each offer, strike out some more; what is left is the exact total. An
 *    offer whose place in the orders nobody knows beforehand, since it is quoted another term than usual, is priced here;
 * 3. of all others the orders made beforehand are walked until no offer further on can be among the best 20.
 *
 * With `ordered`, the score is trusted to be a whole number that depends on its arguments alone, is never lower for a higher
 * `price.amountMax` or a lower `applicant.amount`, and never higher for a term no offer has than for none; then
 * `recommended` is walked, too. Any other score is worked out for every offer.
 */
export function createRanker(score: Score, { ordered = false } = {}): RankOffers {
  const indexes = new WeakMap<MatchTables, MatchIndex>();
  const applicant = newApplicant();
  const price = newOfferPrice();
  const best = [new BestOffers(), new BestOffers(), new BestOffers(), new BestOffers()] as const;
  const [recommended, lowestApr, highestAmount, revenue] = best;
  let eligible: OfferBits = new Int32Array(0);
  /** Eligible, and in its usual place in every order. */
  let usual: OfferBits = new Int32Array(0);

  return (tables, borrower, today) => {
    if (!readApplicant(tables, borrower, applicant)) return nothing;
    let index = indexes.get(tables);
    if (index === undefined) {
      index = new MatchIndex(tables, ordered ? score : null);
      indexes.set(tables, index);
    }
    const words = wordsFor(tables.offerCount);
    if (eligible.length < words) {
      eligible = new Int32Array(words);
      usual = new Int32Array(words);
    }
    for (const list of best) list.clear();

    choose(tables, index, borrower, today, words);
    const count = countOf(eligible, words);
    if (count ** 2 <= pricedAll * tables.offerCount || count <= bounds.offersMax) {
      for (let word = 0; word < words; word++) {
        for (let bits = eligible[word]!; bits !== 0; bits &= bits - 1)
          priceAlone(tables, (word << 5) + lowestBit(bits));
      }
    } else {
      walkAmounts(tables, index);
      settleDebts(tables, index, words);
      walkAprs(tables, index);
      walkScores(tables, index, words);
    }
    walkRevenue(tables, index);

    const total = countOf(eligible, words);
    const kept = Math.min(total, bounds.offersMax);
    const orders = new Uint16Array(kept * best.length);
    for (const [at, list] of best.entries()) list.copyTo(orders, at * kept);
    return { total, orders };
  };

  /** Leaves in `eligible` what all rules but those on debts allow, and in `usual` what of it is quoted as usual. */
  function choose(
    tables: MatchTables,
    index: MatchIndex,
    borrower: Readonly<PocketVector>,
    today: number,
    words: number,
  ): void {
    const { roles } = tables;
    const { open, unusual, raised, raisedToLowest, raisedToHighest } = index.state(borrower[roles.state]!, applicant);
    const unusualOffers = unusual[applicant.term + 1];
    eligible.set(open);
    // This is the place for offers that are closed to everybody for the rest of the day: `removeOffer(eligible, offer)`.
    for (const { field, allowed } of tables.choiceFilters) {
      if (field === roles.state || field === roles.creditBand) continue; // Settled by `open`.
      const offers = allowed.get(borrower[field]!)!;
      for (let word = 0; word < words; word++) eligible[word]! &= offers[word]!;
    }
    for (const [at, { field }] of tables.rangeFilters.entries()) {
      index.ranges[at]!.narrow(eligible, words, borrower[field]!);
    }
    for (const [at, { field }] of tables.ageFilters.entries()) {
      const born = borrower[field]!;
      index.ages[at]!.narrow(eligible, words, born === absent ? absent : today - born);
    }
    index.band(applicant.creditBand).amounts.narrow(eligible, words, applicant.amount);
    if (applicant.amount < raisedToLowest) {
      for (let word = 0; word < words; word++) eligible[word]! &= ~raised[word]!;
    } else if (applicant.amount < raisedToHighest) {
      for (let word = 0; word < words; word++) {
        for (let bits = eligible[word]! & raised[word]!; bits !== 0; bits &= bits - 1) {
          const offer = (word << 5) + lowestBit(bits);
          if (!priceOffer(tables, offer, applicant, price)) removeOffer(eligible, offer);
        }
      }
    }
    usual.set(eligible);
    if (unusualOffers === undefined) return;
    for (let word = 0; word < words; word++) usual[word]! &= ~unusualOffers[word]!;
  }

  /**
   * Strikes out what the borrower's debts leave no room for. An offer limited by them that is quoted as usual finds its place
   * by amount here, since how much the borrower can get of it is nobody else's figure.
   */
  function settleDebts(tables: MatchTables, index: MatchIndex, words: number): void {
    const { amount, creditBand, term, monthlyIncome, monthlyDebt } = applicant;
    const { limited } = index;
    const { debtToIncomeMax, bandCount } = tables;
    const { usualFactor } = index.term(creditBand, term);
    const { leastFactor } = index.band(creditBand);
    const known = monthlyIncome >= 0 && monthlyDebt >= 0;
    let amountWanted = amountOfKey(highestAmount.limit);
    for (let word = 0; word < words; word++) {
      const unusualBits = eligible[word]! & ~usual[word]!;
      for (let bits = unusualBits; bits !== 0; bits &= bits - 1) {
        priceAlone(tables, (word << 5) + lowestBit(bits));
      }
      let bits = usual[word]! & limited[word]!;
      if (!known) {
        eligible[word]! &= ~bits;
        usual[word]! &= ~bits;
        continue;
      }
      for (; bits !== 0; bits &= bits - 1) {
        const bit = bits & -bits;
        const offer = (word << 5) + 31 - Math.clz32(bit);
        const room = debtToIncomeMax[offer]! * monthlyIncome - monthlyDebt;
        if (amount * usualFactor[offer]! > room) {
          usual[word]! &= ~bit;
          if (amount * leastFactor[offer]! > room) eligible[word]! &= ~bit;
          else priceAlone(tables, offer);
          continue;
        }
        // The most there can be, a little more than the division of `priceOffer` may come to.
        if (tables.amountMax[offer * bandCount + creditBand]! < amountWanted) continue;
        if (amount < amountWanted && room * roundingRoom < amountWanted * leastFactor[offer]!) continue;
        priceOffer(tables, offer, applicant, price);
        highestAmount.add(offer, amountKey(tables, price.slot, price.amountMax));
        amountWanted = amountOfKey(highestAmount.limit);
      }
    }
  }

  /** Finds an offer's place in three of the orders by its own price, or strikes it out when it has none. */
  function priceAlone(tables: MatchTables, offer: number): void {
    if (!priceOffer(tables, offer, applicant, price)) {
      removeOffer(eligible, offer);
      return;
    }
    recommended.add(offer, -score(tables, offer, applicant, price));
    lowestApr.add(offer, aprKey(tables, price.slot));
    highestAmount.add(offer, amountKey(tables, price.slot, price.amountMax));
  }

  function walkAmounts(tables: MatchTables, index: MatchIndex): void {
    const { byAmount, usualSlot } = index.term(applicant.creditBand, applicant.term);
    for (let at = 0, found = 0; at < byAmount.length && found < bounds.offersMax; at++) {
      const offer = byAmount[at]!;
      if (!hasOffer(usual, offer)) continue;
      const amountMax = tables.amountMax[offer * tables.bandCount + applicant.creditBand]!;
      highestAmount.add(offer, amountKey(tables, usualSlot[offer]!, amountMax));
      found++;
    }
  }

  function walkAprs(tables: MatchTables, index: MatchIndex): void {
    const { byApr, usualSlot } = index.term(applicant.creditBand, applicant.term);
    for (let at = 0, found = 0; at < byApr.length && found < bounds.offersMax; at++) {
      const offer = byApr[at]!;
      if (!hasOffer(usual, offer)) continue;
      lowestApr.add(offer, aprKey(tables, usualSlot[offer]!));
      found++;
    }
  }

  function walkScores(tables: MatchTables, index: MatchIndex, words: number): void {
    const { byScore, bestScores } = index.term(applicant.creditBand, applicant.term);
    if (!ordered) {
      for (let word = 0; word < words; word++) {
        for (let bits = usual[word]!; bits !== 0; bits &= bits - 1) weigh(tables, (word << 5) + lowestBit(bits));
      }
      return;
    }
    for (let at = 0; at < byScore.length; at++) {
      if (-bestScores[at]! > recommended.limit) return;
      if (hasOffer(usual, byScore[at]!)) weigh(tables, byScore[at]!);
    }
  }

  function weigh(tables: MatchTables, offer: number): void {
    priceOffer(tables, offer, applicant, price);
    recommended.add(offer, -score(tables, offer, applicant, price));
  }

  function walkRevenue(tables: MatchTables, index: MatchIndex): void {
    const { byRevenue } = index.band(applicant.creditBand);
    for (let at = 0, found = 0; at < byRevenue.length && found < bounds.offersMax; at++) {
      const offer = byRevenue[at]!;
      if (!hasOffer(eligible, offer)) continue;
      revenue.add(offer, revenueKey(tables, offer * tables.bandCount + applicant.creditBand));
      found++;
    }
  }
}

/** The ranking of the service: `recommended` by the documented weights. */
export const rankOffers = createRanker(recommendedScore, { ordered: true });

const nothing: ReturnType<RankOffers> = { total: 0, orders: new Uint16Array(0) };

/**
 * Few offers are sooner priced one by one than looked for in orders of all offers: pricing takes about this many times as
 * long as passing over an offer, and finding 20 of `count` means passing over `20 x offerCount / count`.
 */
const pricedAll = 1;

/** Far more than the last bits a division may lose. */
const roundingRoom = 1 + 1e-9;

function countOf(offers: OfferBits, words: number): number {
  let count = 0;
  for (let word = 0; word < words; word++) count += bitCount(offers[word]!);
  return count;
}
