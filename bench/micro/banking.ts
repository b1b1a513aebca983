import { banking } from '../../src/verticals/banking/banking.ts';
import { compileDepositTables } from '../../src/verticals/banking/deposit-tables.ts';
import { rankDeposits } from '../../src/verticals/banking/rank-deposits.ts';
import { randomBorrower, seededRandom } from '../../test/support/random-catalog.ts';
import { generateBankingCatalog } from '../catalogs/generate-banking-catalog.ts';
import { fixedCurrentDate } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const population = 1_000;

/** Benchmarks of ranking deposit offers for the next 100 of 1,000 borrowers, after all indexes are built. */
export const depositRankingBenchmarks: readonly MicroBenchmark[] = [200, 10_000].map((offers) => ({
  name: `verticals/banking/rank-deposits: rank ${offers.toLocaleString('en-US')} offers in all four orders`,
  prepare: () => {
    const catalog = generateBankingCatalog({ seed: 200, offers });
    const tables = compileDepositTables(catalog, banking);
    const random = seededRandom(5);
    const borrowers = Array.from({ length: population }, () => randomBorrower(random, banking));
    for (const borrower of borrowers) rankDeposits(tables, borrower, fixedCurrentDate, null);
    const calls = 100;
    let next = 0;
    return {
      calls,
      run: () => {
        let total = 0;
        for (let i = 0; i < calls; i++) {
          total += rankDeposits(tables, borrowers[next]!, fixedCurrentDate, null).total;
          next = (next + 1) % population;
        }
        return total;
      },
    };
  },
}));
