import { bounds } from '../../../src/bounds.ts';
import { rankOffers } from '../../../src/offers/match.ts';
import {
  type Batch,
  type BatchAnswer,
  type BatchRequest,
  decodeAnswers,
  decodeBatch,
  encodeAnswers,
  encodeBatch,
} from '../../../src/offers/match-batch.ts';
import { compileMatchTables } from '../../../src/offers/match-tables.ts';
import { personalLoans } from '../../../src/verticals/personal-loans.ts';
import { generateCatalog } from '../../../test/support/random-catalog.ts';
import type { Micro } from '../micro.ts';
import { drawVectors, today } from './borrowers.ts';

const calls = bounds.matchBatchMax;

function newBatch(): Batch {
  const requests = drawVectors(calls, 5).map((borrower): BatchRequest => ['0123456789abcdef', today, ...borrower]);
  return { requests, closed: [] };
}

function newAnswers(): BatchAnswer[] {
  const tables = compileMatchTables(generateCatalog(200, 200), personalLoans);
  return drawVectors(calls, 5).map((borrower) => rankOffers(tables, borrower, today));
}

export const matchBatchMicros: readonly Micro[] = [
  {
    name: `offers/match-batch: encode ${calls} requests`,
    call: `one request of a batch of ${calls}, to msgpack`,
    prepare: () => {
      const batch = newBatch();
      return { calls, run: () => encodeBatch(batch).length };
    },
  },
  {
    name: `offers/match-batch: decode ${calls} requests`,
    call: `one request of a batch of ${calls}, from msgpack`,
    prepare: () => {
      const bytes = encodeBatch(newBatch());
      return {
        calls,
        run: () => {
          let values = 0;
          for (const request of decodeBatch(bytes).requests) values += request.length;
          return values;
        },
      };
    },
  },
  {
    name: `offers/match-batch: encode ${calls} answers`,
    call: `one ranking of a batch of ${calls}, packed and to msgpack`,
    prepare: () => {
      const answers = newAnswers();
      return { calls, run: () => encodeAnswers(answers).length };
    },
  },
  {
    name: `offers/match-batch: decode ${calls} answers`,
    call: `one ranking of a batch of ${calls}, from msgpack and unpacked`,
    prepare: () => {
      const bytes = encodeAnswers(newAnswers());
      return {
        calls,
        run: () => {
          let offers = 0;
          for (const answer of decodeAnswers(bytes)) if ('total' in answer) offers += answer.orders.length;
          return offers;
        },
      };
    },
  },
];
