import { Decoder, Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { packOrderBytes, type RankedOffers, type Ranking, sortOrders } from './matcher.ts';

/**
 * What crosses between the front end and a matching worker: many requests in one message, and their answers in one.
 *
 *     batch   [[[version, today, field, field, ...], ...], [closed offers as bytes, ...], [place among those, or -1, ...]]
 *     answers [rankings as bytes, [[place in the batch, message], ...]]
 *
 * The bytes of the answers are 16-bit numbers, little-endian: for each request its total, the length of its orders (plus
 * `availableOnlyBit`) and the orders, or `failed` alone. Closed offers are sent once for all requests of a batch with the same ones; while
 * none are closed, both lists are empty.
 */
export type BatchRequest = readonly [catalogVersion: string, today: number, ...borrower: number[]];

/** Requests, and for each of them the closed offers, or null; none at all when nothing is closed anywhere. */
export interface MatchBatch {
  readonly requests: readonly BatchRequest[];
  readonly unavailable: readonly (Int32Array | null)[];
}

/** What a worker answers one request, or why it cannot. */
export type WorkerResult = RankedOffers | MatchFailure;

/** The same as the front end gets it: a ranking without its version. */
export type MatchResult = Omit<Ranking, 'catalogVersion'> | MatchFailure;

interface MatchFailure {
  readonly failure: string;
}

/** Stands where a total would, which the bound on offers keeps below it. */
const failureMarker = 0xffff;
const failureCharactersMax = 500;
const uint16Bytes = Uint16Array.BYTES_PER_ELEMENT;
const requestValuesMax = bounds.fieldsMax + 2;
const resultNumbersMax = 2 + sortOrders.length * bounds.offersRankedMax;
const availableOnlyBit = 0x8000;

const encoder = new Encoder({ initialBufferSize: 64 * 1024 });
const decoder = new Decoder({
  maxArrayLength: Math.max(bounds.matchBatchRequestsMax, requestValuesMax),
  maxStrLength: failureCharactersMax * 4,
  maxBinLength: bounds.matchBatchRequestsMax * resultNumbersMax * uint16Bytes,
  maxMapLength: 0,
  maxExtLength: 0,
});

export function encodeBatch({ requests, unavailable }: MatchBatch): Uint8Array {
  const sets = [...new Set(unavailable)].filter((set) => set !== null);
  const places = unavailable.map((set) => (set === null ? -1 : sets.indexOf(set)));
  const bytes = sets.map((set) => new Uint8Array(set.buffer, set.byteOffset, set.byteLength));
  return encoder.encode([requests, bytes, places]);
}

export function decodeBatch(message: Uint8Array): MatchBatch {
  const [requests, bytes, places] = decoder.decode(message) as [BatchRequest[], Uint8Array[], number[]];
  // Copied, since 32-bit numbers must start at a fourth address.
  const sets = bytes.map((set) => new Int32Array(set.slice().buffer));
  return { requests, unavailable: places.map((place) => sets[place] ?? null) };
}

export function encodeResults(answers: readonly WorkerResult[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(answers.length * resultNumbersMax * uint16Bytes);
  const failures: [number, string][] = [];
  let end = 0;
  for (const [place, answer] of answers.entries()) {
    if ('failure' in answer) {
      end = bytes.writeUInt16LE(failureMarker, end);
      failures.push([place, answer.failure.slice(0, failureCharactersMax)]);
    } else {
      end = bytes.writeUInt16LE(answer.total, end);
      end = bytes.writeUInt16LE(answer.orders.length + (answer.availableOnly ? availableOnlyBit : 0), end);
      for (const offer of answer.orders) end = bytes.writeUInt16LE(offer, end);
    }
  }
  return encoder.encode([bytes.subarray(0, end), failures]);
}

export function decodeResults(message: Uint8Array): MatchResult[] {
  const [packed, failures] = decoder.decode(message) as [Uint8Array, [number, string][]];
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const messages = new Map(failures);
  const results: MatchResult[] = [];
  for (let at = 0; at < bytes.length; ) {
    const total = bytes.readUInt16LE(at);
    at += uint16Bytes;
    if (total === failureMarker) {
      results.push({ failure: messages.get(results.length) ?? 'unknown' });
      continue;
    }
    const shape = bytes.readUInt16LE(at);
    at += uint16Bytes;
    const end = at + (shape & ~availableOnlyBit) * uint16Bytes;
    results.push({ total, availableOnly: shape >= availableOnlyBit, orders: packOrderBytes(bytes, at, end) });
    at = end;
  }
  return results;
}
