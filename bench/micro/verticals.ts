import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { catalogGenerators } from '../catalogs/catalog-generators.ts';
import { visitorPopulations } from '../population/visitor.ts';
import { createBorrowers, fixedCurrentDate } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const visitors = 1_000;

/** File name of the ranker, by the URL path segment of the vertical. */
const rankers: Readonly<Record<string, string>> = {
  'credit-cards': 'rank-cards',
  mortgage: 'rank-mortgages',
  banking: 'rank-deposits',
  'find-advisor': 'rank-advisors',
};

/**
 * Benchmarks that rank the offers of each vertical except personal loans, after all indexes are built. Each run ranks the offers for the
 * next 100 of 1,000 visitors.
 */
export const verticalRankingBenchmarks: readonly MicroBenchmark[] = visitorPopulations.flatMap((population) =>
  [200, 10_000].map((offers) => ({
    name: `verticals/${population.vertical.segment}/${rankers[population.vertical.segment]}: rank ${offers.toLocaleString('en-US')} offers in all four orders`,
    prepare: () => {
      const { vertical } = population;
      const product = builtInVerticals.getProduct(vertical);
      const catalog = catalogGenerators[vertical.segment]!({ seed: 200, offers, vertical });
      const tables = product.compileCatalogTables(catalog, vertical);
      const rank = (borrower: readonly number[]) => product.rankOffers(tables, borrower, fixedCurrentDate, null).total;
      const borrowers = createBorrowers(visitors, 5, population);
      for (const borrower of borrowers) rank(borrower);
      const calls = 100;
      let next = 0;
      return {
        calls,
        run: () => {
          let total = 0;
          for (let i = 0; i < calls; i++) {
            total += rank(borrowers[next]!);
            next = (next + 1) % visitors;
          }
          return total;
        },
      };
    },
  })),
);
