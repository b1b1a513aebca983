import { createRanker, rankOffers } from '../../../src/offers/match.ts';
import { compileMatchTables } from '../../../src/offers/match-tables.ts';
import { recommendedScore } from '../../../src/offers/recommended-score.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { generateCatalog } from '../../../test/support/random-catalog.ts';
import type { Micro } from '../micro.ts';
import { drawVectors, today } from './borrowers.ts';

const sizes = [40, 200, 1_000, 10_000];
const population = 1_000;
const calls = 100;
/** A run of the largest takes half a second, which is too long for a short benchmark. */
const quickColdMax = 1_000;

const tablesOf = (offers: number) => compileMatchTables(generateCatalog(200, offers), personalLoans);

/** Ranks a thousand borrowers in turn, a hundred in a run, with every index they need made before. */
const warm: readonly Micro[] = sizes.map((offers) => ({
  name: `offers/match: rank ${offers.toLocaleString('en-US')} offers in all four orders`,
  call: 'one borrower, every index made before',
  prepare: () => {
    const tables = tablesOf(offers);
    const borrowers = drawVectors(population, 5);
    for (let pass = 0; pass < 3; pass++) for (const borrower of borrowers) rankOffers(tables, borrower, today);
    let next = 0;
    return {
      calls,
      run: () => {
        let total = 0;
        for (let i = 0; i < calls; i++) {
          total += rankOffers(tables, borrowers[next]!, today).total;
          next = (next + 1) % population;
        }
        return total;
      },
    };
  },
}));

/** What a catalog costs that nobody has asked about: the very first request, and each of the first thousand. */
const cold = (offers: number, count: number): Micro => ({
  name: `offers/match: the first ${count === 1 ? 'request' : '1,000, each,'} after a change to ${offers.toLocaleString('en-US')} offers`,
  call: count === 1 ? 'one borrower, the indexes they need included' : 'one of 1,000 borrowers, all indexes included',
  prepare: () => {
    const tables = tablesOf(offers);
    const borrowers = drawVectors(count, 5);
    return {
      calls: count,
      run: () => {
        const rank = createRanker(recommendedScore, { ordered: true });
        let total = 0;
        for (const borrower of borrowers) total += rank(tables, borrower, today).total;
        return total;
      },
    };
  },
});

export function matchMicros(quick: boolean): Micro[] {
  const coldSizes = sizes.filter((offers) => !quick || offers <= quickColdMax);
  return [...warm, ...coldSizes.flatMap((offers) => [cold(offers, 1), cold(offers, population)])];
}
