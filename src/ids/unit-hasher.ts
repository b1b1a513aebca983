import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';

const keyBytes = 32;
const accountBytes = 4;
const unitIdOffset = keyBytes + accountBytes;

/** Length of the hash of a `unit_id` in bytes. */
export const unitHashByteLength = 16;

/**
 * Hashes the `unit_id` of visitors (docs/contract.md#visitors), so that the ledger contains no identifier of a partner. The hash of a
 * `unit_id` depends on the account, and never changes.
 *
 * The hash is the first 16 bytes of SHA-256 over key, account and `unit_id`. Key and account have a fixed length, so different inputs are
 * different messages. SHA-256 with a key as prefix is no MAC, because anyone who knows the whole hash of a message can compute the hash of
 * a longer message. This does not apply here: half of the hash is removed, hashes are never published, and the longer message contains
 * padding bytes that are not valid in a `unit_id`. An HMAC needs two hashes.
 */
export class UnitHasher {
  readonly #message = Buffer.alloc(unitIdOffset + bounds.unitIdCharactersMax);

  /** @param key 32 random bytes */
  constructor(key: Uint8Array) {
    if (key.length !== keyBytes) throw new RangeError(`key of unit hashes must have ${keyBytes} bytes`);
    this.#message.set(key);
  }

  /** @param unitId valid `unit_id`: 1 to 64 visible ASCII characters */
  hash(account: number, unitId: string): Buffer {
    this.#message.writeUInt32BE(account, keyBytes);
    const unitIdBytes = this.#message.write(unitId, unitIdOffset, 'latin1');
    // A hash as a string takes half as long as a hash as a buffer.
    const digest = hash('sha256', this.#message.subarray(0, unitIdOffset + unitIdBytes), 'binary');
    const unit = Buffer.allocUnsafe(unitHashByteLength);
    unit.write(digest, 0, unitHashByteLength, 'latin1');
    return unit;
  }
}
