import { createRanker, rankOffers } from '../../../src/offers/match.ts';
import { compileMatchTables } from '../../../src/offers/match-tables.ts';
import { recommendedScore } from '../../../src/offers/recommended-score.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { generateCatalog } from '../../../test/support/random-catalog.ts';
import type { MicroBenchmark } from '../micro.ts';
import { randomBorrowerVectors, fixedToday } from './borrowers.ts';

const catalogSizes = [40, 200, 1_000, 10_000];
const population = 1_000;
const matchCalls = 100;
/** A run of the largest takes half a second, which is too long for a short benchmark. */
const quickColdMax = 1_000;

const compileTables = (offers: number) => compileMatchTables(generateCatalog(200, offers), personalLoans);

/** Ranks a thousand borrowers in turn, a hundred in a run, with every index they need made before. */
const warmBenchmarks: readonly MicroBenchmark[] = catalogSizes.map((offers) => ({
  name: `offers/match: rank ${offers.toLocaleString('en-US')} offers in all four orders`,
  call: 'one borrower, every index made before',
  prepare: () => {
    const tables = compileTables(offers);
    const borrowers = randomBorrowerVectors(population, 5);
    for (let pass = 0; pass < 3; pass++) for (const borrower of borrowers) rankOffers(tables, borrower, fixedToday);
    let next = 0;
    return {
      calls: matchCalls,
      run: () => {
        let total = 0;
        for (let i = 0; i < matchCalls; i++) {
          total += rankOffers(tables, borrowers[next]!, fixedToday).total;
          next = (next + 1) % population;
        }
        return total;
      },
    };
  },
}));

/** What a catalog costs that nobody has asked about: the very first request, and each of the first thousand. */
const coldBenchmark = (offers: number, count: number): MicroBenchmark => ({
  name: `offers/match: the first ${count === 1 ? 'request' : '1,000, each,'} after a change to ${offers.toLocaleString('en-US')} offers`,
  call: count === 1 ? 'one borrower, the indexes they need included' : 'one of 1,000 borrowers, all indexes included',
  prepare: () => {
    const tables = compileTables(offers);
    const borrowers = randomBorrowerVectors(count, 5);
    return {
      calls: count,
      run: () => {
        const rank = createRanker(recommendedScore, { ordered: true });
        let total = 0;
        for (const borrower of borrowers) total += rank(tables, borrower, fixedToday).total;
        return total;
      },
    };
  },
});

export function matchBenchmarks(quick: boolean): MicroBenchmark[] {
  const coldSizes = catalogSizes.filter((offers) => !quick || offers <= quickColdMax);
  return [...warmBenchmarks, ...coldSizes.flatMap((offers) => [coldBenchmark(offers, 1), coldBenchmark(offers, population)])];
}
