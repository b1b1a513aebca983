import { bounds } from '../../src/bounds.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import {
  type BatchRequest,
  decodeBatch,
  decodeResults,
  encodeBatch,
  encodeResults,
  type MatchBatch,
  type WorkerResult,
} from '../../src/matching/match-batch.ts';
import { compileLoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import { priceRankedOffers, renderOffersJson } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { createRanker, rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { recommendedScore } from '../../src/verticals/personal-loans/sort-keys.ts';
import { generateCatalog } from '../../test/support/random-catalog.ts';
import { fixedToday, randomBorrowerVectors } from './fixtures.ts';
import type { MicroBenchmark } from './micro-benchmark.ts';

const catalogSizes = [40, 200, 1_000, 10_000];
const population = 1_000;
const matchCalls = 100;
/** Maximum number of offers in a quick run. One run over a larger catalog takes half a second. */
const quickColdMax = 1_000;

const compileTables = (offers: number) => compileLoanTables(generateCatalog(200, offers), personalLoans);

/** Benchmark that ranks a thousand borrowers, a hundred per run, with all indexes built. */
const warmBenchmarks: readonly MicroBenchmark[] = catalogSizes.map((offers) => ({
  name: `matching/ranker: rank ${offers.toLocaleString('en-US')} offers in all four orders`,
  call: 'one borrower, every index made before',
  prepare: () => {
    const tables = compileTables(offers);
    const borrowers = randomBorrowerVectors(population, 5);
    for (let pass = 0; pass < 3; pass++) for (const borrower of borrowers) rankLoans(tables, borrower, fixedToday);
    let next = 0;
    return {
      calls: matchCalls,
      run: () => {
        let total = 0;
        for (let i = 0; i < matchCalls; i++) {
          total += rankLoans(tables, borrowers[next]!, fixedToday).total;
          next = (next + 1) % population;
        }
        return total;
      },
    };
  },
}));

/** Benchmarks of a new catalog without indexes: the first request, and the mean of the first thousand requests. */
const coldBenchmark = (offers: number, count: number): MicroBenchmark => ({
  name: `matching/ranker: ${count === 1 ? 'the first request' : 'each of the first 1,000 requests'} after a change to ${offers.toLocaleString('en-US')} offers`,
  call: count === 1 ? 'one borrower, the indexes they need included' : 'one of 1,000 borrowers, all indexes included',
  prepare: () => {
    const tables = compileTables(offers);
    const borrowers = randomBorrowerVectors(count, 5);
    return {
      calls: count,
      run: () => {
        const rank = createRanker(recommendedScore);
        let total = 0;
        for (const borrower of borrowers) total += rank(tables, borrower, fixedToday).total;
        return total;
      },
    };
  },
});

export function matchBenchmarks(quick: boolean): MicroBenchmark[] {
  const coldSizes = catalogSizes.filter((offers) => !quick || offers <= quickColdMax);
  return [
    ...warmBenchmarks,
    ...coldSizes.flatMap((offers) => [coldBenchmark(offers, 1), coldBenchmark(offers, population)]),
  ];
}

const batchCalls = bounds.matchBatchRequestsMax;

function createBatch(): MatchBatch {
  const requests = randomBorrowerVectors(batchCalls, 5).map(
    (borrower): BatchRequest => ['0123456789abcdef', fixedToday, ...borrower],
  );
  return { requests, unavailable: [] };
}

function createBatchAnswers(): WorkerResult[] {
  const tables = compileLoanTables(generateCatalog(200, 200), personalLoans);
  return randomBorrowerVectors(batchCalls, 5).map((borrower) => rankLoans(tables, borrower, fixedToday));
}

export const matchBatchBenchmarks: readonly MicroBenchmark[] = [
  {
    name: `matching/match-batch: encode ${batchCalls} requests`,
    call: `one request of a batch of ${batchCalls}, to msgpack`,
    prepare: () => {
      const batch = createBatch();
      return { calls: batchCalls, run: () => encodeBatch(batch).length };
    },
  },
  {
    name: `matching/match-batch: decode ${batchCalls} requests`,
    call: `one request of a batch of ${batchCalls}, from msgpack`,
    prepare: () => {
      const bytes = encodeBatch(createBatch());
      return {
        calls: batchCalls,
        run: () => {
          let values = 0;
          for (const request of decodeBatch(bytes).requests) values += request.length;
          return values;
        },
      };
    },
  },
  {
    name: `matching/match-batch: encode ${batchCalls} results`,
    call: `one ranking of a batch of ${batchCalls}, packed and to msgpack`,
    prepare: () => {
      const answers = createBatchAnswers();
      return { calls: batchCalls, run: () => encodeResults(answers).length };
    },
  },
  {
    name: `matching/match-batch: decode ${batchCalls} results`,
    call: `one ranking of a batch of ${batchCalls}, from msgpack and unpacked`,
    prepare: () => {
      const bytes = encodeResults(createBatchAnswers());
      return {
        calls: batchCalls,
        run: () => {
          let offers = 0;
          for (const answer of decodeResults(bytes)) if ('total' in answer) offers += answer.orders.length;
          return offers;
        },
      };
    },
  },
];

export const offerJsonBenchmarks: readonly MicroBenchmark[] = [5, 20].map((offersShown) => ({
  name: `verticals/personal-loans/offer-view: render and write ${offersShown} offers`,
  call: `all ${offersShown} offers of one answer, and their bytes`,
  prepare: () => {
    const catalog = compileCatalog(generateCatalog(200, 200), personalLoans, {
      mode: 'live',
      cdnUrl: () => 'http://127.0.0.1:8080/cdn',
    });
    const ranked = randomBorrowerVectors(1_000, 7)
      .map((borrower) => ({ borrower, orders: rankLoans(catalog.tables, borrower, fixedToday).orders }))
      .filter(({ orders }) => orders.length >= 4 * offersShown);
    const clickUrlPrefix = 'http://127.0.0.1:8080/c?sub=';
    const subId = `sub_${'0'.repeat(64)}`;
    const clickToken = 'A'.repeat(60);
    // The measurement includes writing the text to a buffer, because V8 concatenates a rope string only when the string is first read.
    const wire = Buffer.alloc(65_536);
    return {
      calls: ranked.length,
      run: () => {
        let bytes = 0;
        for (const { borrower, orders } of ranked) {
          const offers = priceRankedOffers(catalog, orders.subarray(0, offersShown), borrower);
          bytes += wire.write(renderOffersJson({ catalog, offers, subId, clickToken }, clickUrlPrefix));
        }
        return bytes;
      },
    };
  },
}));
