import { Decoder, Encoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';
import { sortOrderNames } from '../domain/vertical.ts';
import { packOfferBytes, type Ranking } from './matcher.ts';
import type { RankedOffers } from './product-ranking.ts';

/**
 * Messages between the main thread and a matching thread, in msgpack. A message contains a batch of requests, or the results of a batch:
 *
 *     batch   [[[version, today, field, field, ...], ...], [unavailable offers as bytes, ...], [index into the previous list, or -1, ...]]
 *     results [rankings as bytes, [[index in the batch, message], ...]]
 *
 * The rankings are a sequence of 16-bit little-endian numbers. A ranking is encoded as three parts: `total`, the length of the sort orders
 * (plus `availableOnlyBit`), and the sort orders. A failed request is encoded as `failureMarker`. Requests with the same unavailable offers
 * share an entry of the second list. If no request has unavailable offers, the second and the third list of `batch` can be empty.
 */
export type MatchRequestTuple = readonly [catalogVersion: string, today: number, ...borrower: number[]];

/** Requests of one batch. `unavailable` lists the unavailable offers of each request (null for none), or is empty if all are null. */
export interface MatchBatch {
  readonly requests: readonly MatchRequestTuple[];
  readonly unavailable: readonly (Int32Array | null)[];
}

export type WorkerMatchResult = RankedOffers | MatchFailure;

/** Result of one request, as the main thread decodes it. */
export type MatchResult = Omit<Ranking, 'catalogVersion'> | MatchFailure;

interface MatchFailure {
  readonly failure: string;
}

/** Number that encodes a failed request; greater than the total of every ranking, because the size of a catalog is limited. */
const failureMarker = 0xffff;
const failureCharactersMax = 500;
const uint16Bytes = Uint16Array.BYTES_PER_ELEMENT;
const requestValuesMax = bounds.fieldsMax + 2;
const resultNumbersMax = 2 + sortOrderNames.length * bounds.offersRankedMax;
const availableOnlyBit = 0x8000;

const encoder = new Encoder({ initialBufferSize: 64 * 1024 });
const decoder = new Decoder({
  maxArrayLength: Math.max(bounds.matchBatchRequestsMax, requestValuesMax),
  maxStrLength: failureCharactersMax * 4,
  maxBinLength: bounds.matchBatchRequestsMax * resultNumbersMax * uint16Bytes,
  maxMapLength: 0,
  maxExtLength: 0,
});

export function encodeMatchBatch({ requests, unavailable }: MatchBatch): Uint8Array {
  const sets = [...new Set(unavailable)].filter((set) => set !== null);
  const places = unavailable.map((set) => (set === null ? -1 : sets.indexOf(set)));
  const bytes = sets.map((set) => new Uint8Array(set.buffer, set.byteOffset, set.byteLength));
  return encoder.encode([requests, bytes, places]);
}

export function decodeMatchBatch(message: Uint8Array): MatchBatch {
  const [requests, bytes, places] = decoder.decode(message) as [MatchRequestTuple[], Uint8Array[], number[]];
  // `slice` copies the bytes of a set to a new buffer, because an Int32Array must start at a multiple of 4 bytes.
  const sets = bytes.map((set) => new Int32Array(set.slice().buffer));
  return { requests, unavailable: places.map((place) => sets[place] ?? null) };
}

export function encodeMatchResults(results: readonly WorkerMatchResult[]): Uint8Array {
  const bytes = Buffer.allocUnsafe(results.length * resultNumbersMax * uint16Bytes);
  const failures: [number, string][] = [];
  let end = 0;
  for (const [place, result] of results.entries()) {
    if ('failure' in result) {
      end = bytes.writeUInt16LE(failureMarker, end);
      failures.push([place, result.failure.slice(0, failureCharactersMax)]);
    } else {
      end = bytes.writeUInt16LE(result.total, end);
      end = bytes.writeUInt16LE(result.orders.length + (result.availableOnly ? availableOnlyBit : 0), end);
      for (const offer of result.orders) end = bytes.writeUInt16LE(offer, end);
    }
  }
  return encoder.encode([bytes.subarray(0, end), failures]);
}

export function decodeMatchResults(message: Uint8Array): MatchResult[] {
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
    results.push({ total, availableOnly: shape >= availableOnlyBit, orders: packOfferBytes(bytes, at, end) });
    at = end;
  }
  return results;
}
