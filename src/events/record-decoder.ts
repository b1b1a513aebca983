import { Decoder } from '@msgpack/msgpack';
import { bounds } from '../bounds.ts';

/**
 * Decodes payloads of a log. What a file holds is not trusted: sizes are bounded before anything is allocated for them,
 * and a record is an array of scalars, bytes, and arrays of those, so that nobody walks a deep one.
 */
export class RecordDecoder {
  readonly #decoder = new Decoder({
    maxStrLength: bounds.logRecordBytesMax,
    maxBinLength: bounds.logRecordBytesMax,
    maxArrayLength: bounds.logRecordItemsMax,
    maxMapLength: 0,
    maxExtLength: 0,
    keyDecoder: null,
  });

  /** Bytes within the record are views of `payload`. Throws an error in words for anything that is no record. */
  decode(payload: Uint8Array): unknown[] {
    const record = this.#decoder.decode(payload);
    if (!Array.isArray(record)) throw new Error('a record must be an array');
    for (const item of record) {
      if (Array.isArray(item) ? !item.every(isScalar) : !isScalar(item))
        throw new Error('a record must not be nested deeper');
    }
    return record;
  }
}

function isScalar(item: unknown): boolean {
  return typeof item !== 'object' || item === null || item instanceof Uint8Array;
}
