import { bounds } from '../../src/bounds.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import {
  decodeMatchBatch,
  decodeMatchResults,
  encodeMatchBatch,
  encodeMatchResults,
  type MatchBatch,
  type MatchRequestTuple,
  type WorkerMatchResult,
} from '../../src/matching/match-batch.ts';
import { createPricingRanker } from '../../src/matching/pricing-ranker.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { compileLoanTables, type LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { calculateLoanPrices } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { loanPricer, rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { generateCatalog } from '../../test/support/random-catalog.ts';
import { createBorrowers, fixedCurrentDate } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const catalogSizes = [40, 200, 1_000, 10_000];
const population = 1_000;
const warmCalls = 100;
/** Maximum number of offers for the first-ranking benchmarks of a quick run; 10,000 offers would take half a second per repetition. */
const quickColdMax = 1_000;

const compileTables = (offers: number) => compileLoanTables(generateCatalog(200, offers), personalLoans);
const rankName = (offers: number) =>
  `verticals/personal-loans/rank-loans: rank ${offers.toLocaleString('en-US')} offers in all four orders`;

/** Benchmark of ranking after the indexes of criteria are built. Each call of `run` ranks the offers for the next 100 of 1,000 borrowers. */
const warmBenchmark = (offers: number): MicroBenchmark => ({
  name: rankName(offers),
  prepare: () => {
    const tables = compileTables(offers);
    const borrowers = createBorrowers(population, 5);
    for (let pass = 0; pass < 3; pass++)
      for (const borrower of borrowers) rankLoans(tables, borrower, fixedCurrentDate);
    let next = 0;
    return {
      calls: warmCalls,
      run: () => {
        let total = 0;
        for (let i = 0; i < warmCalls; i++) {
          total += rankLoans(tables, borrowers[next]!, fixedCurrentDate).total;
          next = (next + 1) % population;
        }
        return total;
      },
    };
  },
});

/** Benchmark of the first rankings after a change of the catalog, including the time to build its indexes. */
const coldBenchmark = (offers: number, calls: number): MicroBenchmark => ({
  name: `${rankName(offers)}, ${calls === 1 ? 'first request' : 'mean of the first 1,000 requests'} for a new catalog`,
  prepare: () => {
    const tables = compileTables(offers);
    const borrowers = createBorrowers(calls, 5);
    return {
      calls,
      run: () => {
        const rank = createPricingRanker(loanPricer);
        let total = 0;
        for (const borrower of borrowers) total += rank(tables, borrower, fixedCurrentDate).total;
        return total;
      },
    };
  },
});

export function createRankingBenchmarks(quick: boolean): MicroBenchmark[] {
  const coldSizes = catalogSizes.filter((offers) => !quick || offers <= quickColdMax);
  return [
    ...catalogSizes.map(warmBenchmark),
    ...coldSizes.flatMap((offers) => [coldBenchmark(offers, 1), coldBenchmark(offers, population)]),
  ];
}

const batchCalls = bounds.matchBatchRequestsMax;

function createBatch(): MatchBatch {
  const requests = createBorrowers(batchCalls, 5).map(
    (borrower): MatchRequestTuple => ['0123456789abcdef', fixedCurrentDate, ...borrower],
  );
  return { requests, unavailable: [] };
}

function createBatchResults(): WorkerMatchResult[] {
  const tables = compileTables(200);
  return createBorrowers(batchCalls, 5).map((borrower) => rankLoans(tables, borrower, fixedCurrentDate));
}

/** Benchmarks one message between the main thread and a matching thread. */
function createBatchBenchmark<Input>(
  work: string,
  createInput: () => Input,
  run: (input: Input) => { readonly length: number },
): MicroBenchmark {
  return {
    name: `matching/match-batch: ${work}, in a batch of ${batchCalls}`,
    prepare: () => {
      const input = createInput();
      return { calls: batchCalls, run: () => run(input).length };
    },
  };
}

export const matchBatchBenchmarks: readonly MicroBenchmark[] = [
  createBatchBenchmark('encode a request', createBatch, encodeMatchBatch),
  createBatchBenchmark(
    'decode a request',
    () => encodeMatchBatch(createBatch()),
    (bytes) => decodeMatchBatch(bytes).requests,
  ),
  createBatchBenchmark('encode a result', createBatchResults, encodeMatchResults),
  createBatchBenchmark('decode a result', () => encodeMatchResults(createBatchResults()), decodeMatchResults),
];

export const offerJsonBenchmarks: readonly MicroBenchmark[] = [5, 20].map((offersShown) => ({
  name: `verticals/personal-loans/offer-view: serialize ${offersShown} offers`,
  prepare: () => {
    const catalog = compileCatalog(generateCatalog(200, 200), builtInVerticals.withProduct(personalLoans), {
      mode: 'live',
    });
    const ranked = createBorrowers(1_000, 7)
      .map((borrower) => ({
        borrower,
        orders: rankLoans(catalog.tables as LoanTables, borrower, fixedCurrentDate).orders,
      }))
      .filter(({ orders }) => orders.length >= 4 * offersShown);
    const urls = createOfferUrls({ click: 'http://127.0.0.1:8080', cdn: 'http://127.0.0.1:8080/cdn' });
    const subId = `sub_${'0'.repeat(64)}`;
    const clickToken = 'A'.repeat(60);
    // Each response is written to a buffer, because V8 postpones the concatenation of strings until the string is read.
    const wire = Buffer.alloc(65_536);
    return {
      calls: ranked.length,
      run: () => {
        let bytes = 0;
        for (const { borrower, orders } of ranked) {
          const offers = calculateLoanPrices(catalog, orders.subarray(0, offersShown), borrower);
          bytes += wire.write(
            catalog.offerRenderer(urls.logos).renderOffersJson({ catalog, offers, subId, clickToken }, urls),
          );
        }
        return bytes;
      },
    };
  },
}));
