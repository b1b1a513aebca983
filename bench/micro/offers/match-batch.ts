import { bounds } from '../../../src/bounds.ts';
import { rankOffers } from '../../../src/offers/match.ts';
import {
  type MatchBatch,
  type WorkerResult,
  type BatchRequest,
  decodeResults,
  decodeBatch,
  encodeResults,
  encodeBatch,
} from '../../../src/offers/match-batch.ts';
import { compileMatchTables } from '../../../src/offers/match-tables.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { generateCatalog } from '../../../test/support/random-catalog.ts';
import type { MicroBenchmark } from '../micro.ts';
import { randomBorrowerVectors, fixedToday } from './borrowers.ts';

const batchCalls = bounds.matchBatchRequestsMax;

function createBatch(): MatchBatch {
  const requests = randomBorrowerVectors(batchCalls, 5).map((borrower): BatchRequest => ['0123456789abcdef', fixedToday, ...borrower]);
  return { requests, unavailable: [] };
}

function createBatchAnswers(): WorkerResult[] {
  const tables = compileMatchTables(generateCatalog(200, 200), personalLoans);
  return randomBorrowerVectors(batchCalls, 5).map((borrower) => rankOffers(tables, borrower, fixedToday));
}

export const matchBatchBenchmarks: readonly MicroBenchmark[] = [
  {
    name: `offers/match-batch: encode ${batchCalls} requests`,
    call: `one request of a batch of ${batchCalls}, to msgpack`,
    prepare: () => {
      const batch = createBatch();
      return { calls: batchCalls, run: () => encodeBatch(batch).length };
    },
  },
  {
    name: `offers/match-batch: decode ${batchCalls} requests`,
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
    name: `offers/match-batch: encode ${batchCalls} answers`,
    call: `one ranking of a batch of ${batchCalls}, packed and to msgpack`,
    prepare: () => {
      const answers = createBatchAnswers();
      return { calls: batchCalls, run: () => encodeResults(answers).length };
    },
  },
  {
    name: `offers/match-batch: decode ${batchCalls} answers`,
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
