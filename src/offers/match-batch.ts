import { Decoder, Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { sorts } from './matcher.ts';

/**
 * What crosses between the front end and a matching worker: many requests in one message, and their answers in one.
 *
 *     batch   [[version, today, field, field, ...], ...]
 *     answers [rankings as bytes, [[place in the batch, message], ...]]
 *
 * The bytes are 16-bit numbers in the machine's order: for each request its total and then its orders, or `failed` alone.
 */
export type BatchRequest = readonly [catalogVersion: string, today: number, ...borrower: number[]];

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

export function encodeBatch(requests: readonly BatchRequest[]): Uint8Array {
  return encoder.encode(requests);
}

export function decodeBatch(bytes: Uint8Array): BatchRequest[] {
  return decoder.decode(bytes) as BatchRequest[];
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
