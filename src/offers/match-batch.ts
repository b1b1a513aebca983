import { Decoder, Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { sorts } from './matcher.ts';

/**
 * What crosses between the front end and a matching worker: many requests in one message, and their answers in one.
 *
 *     batch   [[[version, today, field, field, ...], ...], [closed offers as bytes, ...], [place among those, or -1, ...]]
 *     answers [rankings as bytes, [[place in the batch, message], ...]]
 *
 * The bytes of the answers are 16-bit numbers in the machine's order: for each request its total and then its orders, or
 * `failed` alone. Closed offers are sent once for all requests of a batch that leave out the same; while none are closed,
 * both lists are empty.
 */
export type BatchRequest = readonly [catalogVersion: string, today: number, ...borrower: number[]];

/** Requests, and for each of them the offers to leave out, or null; none at all when nothing is left out anywhere. */
export interface Batch {
  readonly requests: readonly BatchRequest[];
  readonly closed: readonly (Int32Array | null)[];
}

/** One answer: a ranking without its version, or why there is none. */
export type BatchAnswer = { readonly total: number; readonly orders: Uint16Array } | { readonly failure: string };

/** Stands where a total would, which the bound on offers keeps below it. */
const failed = 0xffff;
const failureCharactersMax = 500;
const valuesMax = bounds.fieldNamesMax + 2;
const answerNumbersMax = 1 + sorts.length * bounds.offersMax;

const encoder = new Encoder({ initialBufferSize: 64 * 1024 });
const decoder = new Decoder({
  maxArrayLength: Math.max(bounds.matchBatchMax, valuesMax),
  maxStrLength: failureCharactersMax * 4,
  maxBinLength: bounds.matchBatchMax * answerNumbersMax * Uint16Array.BYTES_PER_ELEMENT,
  maxMapLength: 0,
  maxExtLength: 0,
});

export function encodeBatch({ requests, closed }: Batch): Uint8Array {
  const sets = [...new Set(closed)].filter((set) => set !== null);
  const places = closed.map((set) => (set === null ? -1 : sets.indexOf(set)));
  const bytes = sets.map((set) => new Uint8Array(set.buffer, set.byteOffset, set.byteLength));
  return encoder.encode([requests, bytes, places]);
}

export function decodeBatch(message: Uint8Array): Batch {
  const [requests, bytes, places] = decoder.decode(message) as [BatchRequest[], Uint8Array[], number[]];
  // Copied, since 32-bit numbers must start at a fourth address.
  const sets = bytes.map((set) => new Int32Array(set.slice().buffer));
  return { requests, closed: places.map((place) => sets[place] ?? null) };
}

export function encodeAnswers(answers: readonly BatchAnswer[]): Uint8Array {
  const numbers = new Uint16Array(answers.length * answerNumbersMax);
  const failures: [number, string][] = [];
  let end = 0;
  for (const [place, answer] of answers.entries()) {
    if ('failure' in answer) {
      numbers[end++] = failed;
      failures.push([place, answer.failure.slice(0, failureCharactersMax)]);
    } else {
      numbers[end++] = answer.total;
      numbers.set(answer.orders, end);
      end += answer.orders.length;
    }
  }
  return encoder.encode([new Uint8Array(numbers.buffer, 0, end * Uint16Array.BYTES_PER_ELEMENT), failures]);
}

export function decodeAnswers(bytes: Uint8Array): BatchAnswer[] {
  const [packed, failures] = decoder.decode(bytes) as [Uint8Array, [number, string][]];
  // Copied, since 16-bit numbers must start at an even address.
  const numbers = new Uint16Array(packed.slice().buffer);
  const messages = new Map(failures);
  const answers: BatchAnswer[] = [];
  for (let at = 0; at < numbers.length; ) {
    const total = numbers[at++]!;
    if (total === failed) {
      answers.push({ failure: messages.get(answers.length) ?? 'unknown' });
      continue;
    }
    const length = Math.min(total, bounds.offersMax) * sorts.length;
    // Each ranking owns its numbers: it outlives the batch in its session.
    answers.push({ total, orders: numbers.slice(at, at + length) });
    at += length;
  }
  return answers;
}
