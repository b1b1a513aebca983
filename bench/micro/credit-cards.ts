import { compileCardTables } from '../../src/verticals/credit-cards/card-tables.ts';
import { creditCards } from '../../src/verticals/credit-cards/credit-cards.ts';
import { rankCards } from '../../src/verticals/credit-cards/rank-cards.ts';
import { randomBorrower, seededRandom } from '../../test/support/random-catalog.ts';
import { generateCreditCardsCatalog } from '../catalogs/generate-credit-cards-catalog.ts';
import { fixedCurrentDate } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const population = 1_000;

/** Benchmarks of ranking cards for the next 100 of 1,000 borrowers, after all indexes are built. */
export const cardRankingBenchmarks: readonly MicroBenchmark[] = [200, 10_000].map((offers) => ({
  name: `verticals/credit-cards/rank-cards: rank ${offers.toLocaleString('en-US')} offers in all four orders`,
  prepare: () => {
    const catalog = generateCreditCardsCatalog({ seed: 200, offers, vertical: creditCards });
    const tables = compileCardTables(catalog, creditCards);
    const random = seededRandom(5);
    const borrowers = Array.from({ length: population }, () => randomBorrower(random, creditCards));
    for (const borrower of borrowers) rankCards(tables, borrower, fixedCurrentDate, null);
    const calls = 100;
    let next = 0;
    return {
      calls,
      run: () => {
        let total = 0;
        for (let i = 0; i < calls; i++) {
          total += rankCards(tables, borrowers[next]!, fixedCurrentDate, null).total;
          next = (next + 1) % population;
        }
        return total;
      },
    };
  },
}));
