import { bounds } from '../bounds.ts';
import { absent, type PocketVector } from '../verticals/pocket-vector.ts';
import { isOfContractAge } from './age-of-contract.ts';
import { BestOffers } from './best-offers.ts';
import type { MatchTables } from './match-tables.ts';
import type { Ranking } from './matcher.ts';
import { newApplicant, newOfferPrice, priceOffer, readApplicant } from './price-offer.ts';
import { recommendedScore, type Score } from './recommended-score.ts';

export type RankOffers = (
  tables: MatchTables,
  borrower: Readonly<PocketVector>,
  today: number,
  /** Offers that are left out, a bit each (`ClosedOffers`); null: none. */
  closed?: Int32Array | null,
) => Omit<Ranking, 'catalogVersion'>;

/**
 * Decides which offers a borrower may have and puts the best 20 into each of the four orders (D8).
 *
 * Fields with few values are settled for 32 offers at a time; what is left is judged offer by offer. Each order keeps its
 * best in a short sorted list by one number, less being better. Offers arrive in the order of their ids and only a strictly
 * better one moves ahead, which breaks every tie by id.
 */
export function createRanker(score: Score): RankOffers {
  const applicant = newApplicant();
  const price = newOfferPrice();
  const best = [new BestOffers(), new BestOffers(), new BestOffers(), new BestOffers()] as const;
  const [recommended, lowestApr, highestAmount, revenue] = best;
  let eligible = new Int32Array(0);

  return (tables, borrower, today, closed = null) => {
    if (!readApplicant(tables, borrower, applicant) || !isOfContractAge(tables, borrower, today)) return nothing;
    const words = (tables.offerCount + 31) >>> 5;
    if (eligible.length < words) eligible = new Int32Array(words);
    choose(tables, borrower, eligible, words);
    if (closed !== null) for (let word = 0; word < words; word++) eligible[word]! &= ~closed[word]!;
    for (const list of best) list.clear();

    let total = 0;
    for (let word = 0; word < words; word++) {
      for (let bits = eligible[word]!; bits !== 0; bits &= bits - 1) {
        const offer = (word << 5) + 31 - Math.clz32(bits & -bits);
        if (!withinRanges(tables, offer, borrower, today)) continue;
        if (!priceOffer(tables, offer, applicant, price)) continue;
        total++;
        const row = offer * tables.bandCount + applicant.creditBand;
        const aprKey = tables.aprMin[price.slot]! * 4_096 + tables.aprMax[price.slot]!;
        recommended.add(offer, -score(tables, offer, applicant, price));
        lowestApr.add(offer, aprKey);
        highestAmount.add(offer, aprKey - price.amountMax * 2 ** 24);
        revenue.add(offer, -tables.expectedRevenueMicros[row]!);
      }
    }

    const kept = Math.min(total, bounds.offersMax);
    const orders = new Uint16Array(kept * best.length);
    for (const [at, list] of best.entries()) list.copyTo(orders, at * kept);
    return { total, orders };
  };
}

/** The ranking of the service: `recommended` by the documented weights. */
export const rankOffers = createRanker(recommendedScore);

const nothing: ReturnType<RankOffers> = { total: 0, orders: new Uint16Array(0) };

/** Leaves in `eligible` the offers that every field with few values allows. */
function choose(tables: MatchTables, borrower: Readonly<PocketVector>, eligible: Int32Array, words: number): void {
  eligible.fill(-1, 0, words);
  // The last word has no offers beyond the count.
  if ((tables.offerCount & 31) !== 0) eligible[words - 1] = (1 << (tables.offerCount & 31)) - 1;
  for (const { field, allowed } of tables.choiceFilters) {
    const offers = allowed.get(borrower[field]!)!;
    for (let word = 0; word < words; word++) eligible[word]! &= offers[word]!;
  }
}

function withinRanges(tables: MatchTables, offer: number, borrower: Readonly<PocketVector>, today: number): boolean {
  for (const { field, min, max } of tables.rangeFilters) {
    const value = borrower[field]!;
    if (value < min[offer]! || value > max[offer]!) return false;
  }
  for (const { field, minYears } of tables.ageFilters) {
    const years = minYears[offer]!;
    // Completed years, by the rule of domain/calendar.ts, without a division.
    if (years !== 0 && (borrower[field] === absent || today - borrower[field]! < years * 10_000)) return false;
  }
  return true;
}
