import { Decoder, Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import type { RankedOffers } from './match.ts';
import { type Ranking, sorts } from './matcher.ts';
import { packOrderBytes } from './packed-orders.ts';

/**
 * What crosses between the front end and a matching worker: many requests in one message, and their answers in one.
 *
 *     batch   [[[version, today, field, field, ...], ...], [closed offers as bytes, ...], [place among those, or -1, ...]]
 *     answers [rankings as bytes, [[place in the batch, message], ...]]
 *
 * The bytes of the answers are 16-bit numbers, little-endian: for each request its total, the length of its orders (plus
 * `openOnlyBit`) and the orders, or `failed` alone. Closed offers are sent once for all requests of a batch with the same ones; while
 * none are closed, both lists are empty.
 */
export type BatchRequest = readonly [catalogVersion: string, today: number, ...borrower: number[]];

/** Requests, and for each of them the closed offers, or null; none at all when nothing is closed anywhere. */
export interface Batch {
  readonly requests: readonly BatchRequest[];
  readonly closed: readonly (Int32Array | null)[];
}

/** What a worker answers one request, or why it cannot. */
export type BatchAnswer = RankedOffers | Failure;

/** The same as the front end gets it: a ranking without its version. */
export type BatchResult = Omit<Ranking, 'catalogVersion'> | Failure;

interface Failure {
  readonly failure: string;
}

/** Stands where a total would, which the bound on offers keeps below it. */
const failed = 0xffff;
const failureCharactersMax = 500;
const numberBytes = Uint16Array.BYTES_PER_ELEMENT;
const valuesMax = bounds.fieldNamesMax + 2;
const answerNumbersMax = 2 + sorts.length * bounds.offersRankedMax;
const openOnlyBit = 0x8000;

const encoder = new Encoder({ initialBufferSize: 64 * 1024 });
const decoder = new Decoder({
  maxArrayLength: Math.max(bounds.matchBatchMax, valuesMax),
  maxStrLength: failureCharactersMax * 4,
  maxBinLength: bounds.matchBatchMax * answerNumbersMax * numberBytes,
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
  const bytes = Buffer.allocUnsafe(answers.length * answerNumbersMax * numberBytes);
  const failures: [number, string][] = [];
  let end = 0;
  for (const [place, answer] of answers.entries()) {
    if ('failure' in answer) {
      end = bytes.writeUInt16LE(failed, end);
      failures.push([place, answer.failure.slice(0, failureCharactersMax)]);
    } else {
      end = bytes.writeUInt16LE(answer.total, end);
      end = bytes.writeUInt16LE(answer.orders.length + (answer.openOnly ? openOnlyBit : 0), end);
      for (const offer of answer.orders) end = bytes.writeUInt16LE(offer, end);
    }
  }
  return encoder.encode([bytes.subarray(0, end), failures]);
}

export function decodeAnswers(message: Uint8Array): BatchResult[] {
  const [packed, failures] = decoder.decode(message) as [Uint8Array, [number, string][]];
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const messages = new Map(failures);
  const results: BatchResult[] = [];
  for (let at = 0; at < bytes.length; ) {
    const total = bytes.readUInt16LE(at);
    at += numberBytes;
    if (total === failed) {
      results.push({ failure: messages.get(results.length) ?? 'unknown' });
      continue;
    }
    const shape = bytes.readUInt16LE(at);
    at += numberBytes;
    const end = at + (shape & ~openOnlyBit) * numberBytes;
    results.push({ total, openOnly: shape >= openOnlyBit, orders: packOrderBytes(bytes, at, end) });
    at = end;
  }
  return results;
}
