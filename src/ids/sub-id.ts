import type { Mode } from '../domain/mode.ts';
import type { Hmac } from '../secrets/hmac.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { deriveHmacs } from './signed-token.ts';

/**
 * A sub_id (docs/contract.md#session-ids) is `sub_` and 64 lower-case hex digits, the only spelling of its 32 bytes, big endian:
 *
 *     0  creation time, ms     6 bytes
 *     6  shard                 2
 *     8  account number        4
 *    12  vertical << 1 | test  1
 *    13  secret number         1
 *    14  random                10
 *    24  MAC                   8    HMAC-SHA-256 over bytes 0 to 23, cut to 64 bits
 *
 * So whoever holds the secret tells a genuine id, whose it is and when it expires, without looking anything up. The time
 * comes first so that ids sort by age, which keeps every index over them growing at one end.
 */
export const subIdByteLength = 32;
export const subIdCharacters = 4 + 2 * subIdByteLength;
const signedBytes = 24;
const macBytes = subIdByteLength - signedBytes;
export const subIdPrefix = 'sub_';

interface SubIdParts {
  readonly createdMs: number;
  readonly shard: number;
  readonly account: number;
  readonly vertical: number;
  readonly mode: Mode;
  readonly secretNumber: number;
}

/** Reads the parts out of the 32 bytes. Says nothing of their being genuine: that is `SubIds.verify`. */
export function decodeSubId(bytes: Uint8Array): SubIdParts {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return {
    createdMs: view.readUIntBE(0, 6),
    shard: view.readUInt16BE(6),
    account: view.readUInt32BE(8),
    vertical: view[12]! >> 1,
    mode: (view[12]! & 1) === 1 ? 'test' : 'live',
    secretNumber: view[13]!,
  };
}

/** Whether a session of these parts is the tenant's (docs/contract.md#tenants). */
export function isOwnedBy({ account, vertical, mode }: SubIdParts, tenant: Tenant): boolean {
  return account === tenant.account && vertical === tenant.vertical.number && mode === tenant.mode;
}

/** The text of an id, from its bytes. */
export function formatSubId(bytes: Uint8Array): string {
  return subIdPrefix + Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

/** Issues and verifies sub_ids. Serves one thread: its buffers are reused. */
export class SubIds {
  readonly #shard: number;
  readonly #random: RandomPool;
  readonly #newestHmac: Hmac;
  readonly #newestSecretNumber: number;
  readonly #hmacs: readonly (Hmac | undefined)[];
  readonly #issueBuffer = Buffer.alloc(subIdByteLength);
  readonly #verifyBuffer = Buffer.alloc(subIdByteLength);
  readonly #conversionBuffer = Buffer.alloc(subIdByteLength);

  constructor(secrets: SecretRing, shard: number, random: RandomPool) {
    this.#shard = shard;
    this.#random = random;
    this.#hmacs = deriveHmacs(secrets, 'sub-id', signedBytes);
    this.#newestSecretNumber = secrets.newest.number;
    this.#newestHmac = this.#hmacs[this.#newestSecretNumber]!;
  }

  /** A new id. `lastIssuedBytes` holds its bytes until the next call. */
  issue(createdMs: number, account: number, vertical: number, mode: Mode): string {
    const bytes = this.#issueBuffer;
    bytes.writeUIntBE(createdMs, 0, 6);
    bytes.writeUInt16BE(this.#shard, 6);
    bytes.writeUInt32BE(account, 8);
    bytes[12] = (vertical << 1) | (mode === 'test' ? 1 : 0);
    bytes[13] = this.#newestSecretNumber;
    this.#random.fill(bytes, 14, 10);
    this.#newestHmac.sign(bytes, signedBytes, bytes, signedBytes, macBytes);
    return subIdPrefix + bytes.toString('hex');
  }

  /** Bytes of the id issued last; overwritten by the next `issue`. */
  get lastIssuedBytes(): Buffer {
    return this.#issueBuffer;
  }

  /**
   * The bytes of a genuine id, valid until the next call; null for anything this service did not issue. Hex digits in
   * capitals are another spelling, so they are not genuine either.
   */
  verify(text: string): Buffer | null {
    if (text.length !== subIdCharacters || !text.startsWith(subIdPrefix)) return null;
    for (let i = subIdPrefix.length; i < subIdCharacters; i++) {
      const code = text.charCodeAt(i);
      if (code < 48 || code > 102 || (code > 57 && code < 97)) return null;
    }
    const bytes = this.#verifyBuffer;
    bytes.write(text.slice(subIdPrefix.length), 0, subIdByteLength, 'hex');
    const verifier = this.#hmacs[bytes[13]!];
    if (verifier === undefined) return null;
    return verifier.verify(bytes, signedBytes, bytes, signedBytes, macBytes) ? bytes : null;
  }

  /** The bytes of an id already known to be genuine, valid until the next call. */
  toBytes(subId: string): Buffer {
    this.#conversionBuffer.write(subId.slice(subIdPrefix.length), 0, subIdByteLength, 'hex');
    return this.#conversionBuffer;
  }
}

/** The 32 bytes of a sub_id as numbers of 32 bits, big endian: what it is compared and found by. */
export const subIdWordCount = subIdByteLength / 4;
const hexDigitsPerWord = 8;

/** The value of each lower-case hex digit by its byte; -1 for any other. */
const hexDigitValues = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte)),
);

/** The text being read, as UTF-8, with room for the last character to be a long one: what is no digit has no byte that is one. */
const textBuffer = Buffer.alloc(subIdCharacters + 4);

/** Reads an id into `words`; false, with anything in them, for a text that is not spelt as one. Says nothing of its being genuine. */
export function parseSubIdWords(text: string, words: Int32Array): boolean {
  if (text.length !== subIdCharacters || !text.startsWith(subIdPrefix)) return false;
  // The bytes of a buffer are read twice as fast as the characters of a string, the copy included.
  textBuffer.write(text, 0, 'utf8');
  // Judged once, at the end: a digit that is none is negative.
  let all = 0;
  for (let word = 0, at = subIdPrefix.length; word < subIdWordCount; word++, at += hexDigitsPerWord) {
    const a = hexDigitValues[textBuffer[at]!]!;
    const b = hexDigitValues[textBuffer[at + 1]!]!;
    const c = hexDigitValues[textBuffer[at + 2]!]!;
    const d = hexDigitValues[textBuffer[at + 3]!]!;
    const e = hexDigitValues[textBuffer[at + 4]!]!;
    const f = hexDigitValues[textBuffer[at + 5]!]!;
    const g = hexDigitValues[textBuffer[at + 6]!]!;
    const h = hexDigitValues[textBuffer[at + 7]!]!;
    all |= a | b | c | d | e | f | g | h;
    words[word] = (a << 28) | (b << 24) | (c << 20) | (d << 16) | (e << 12) | (f << 8) | (g << 4) | h;
  }
  return all >= 0;
}

/** When the session of an id was created: its first six bytes, in milliseconds. */
export function subIdCreatedMs(firstWord: number, secondWord: number): number {
  return (firstWord >>> 0) * 0x1_0000 + (secondWord >>> 16);
}
