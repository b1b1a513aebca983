import type { ApiKeyMode } from '../domain/mode.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { RandomBytesPool } from '../secrets/random-pool.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { TokenSigner } from './signed-token.ts';

/**
 * A sub_id (docs/contract.md#session-ids) consists of `sub_` and 32 bytes as 64 lower-case hex digits. All numbers are big endian. Offsets
 * and lengths in bytes:
 *
 *     0  creation time, ms     6 bytes
 *     6  always 0              2
 *     8  account number        4
 *    12  vertical << 1 | test  1
 *    13  secret number         1
 *    14  random                10
 *    24  MAC                   8    HMAC-SHA-256 over bytes 0 to 23, truncated to 64 bits
 *
 * The MAC proves that the service issued the id. The creation time comes first, so that newer ids sort after older ids, and a database
 * index appends new ids at its end.
 *
 * In the source code, variables named `subId` contain the text of a sub_id, and variables named `sub` contain its 32 bytes.
 */
export const subIdByteLength = 32;
export const subIdTextLength = 4 + 2 * subIdByteLength;
export const subIdPrefix = 'sub_';
const accountOffset = 8;
const verticalAndModeOffset = 12;
const secretNumberOffset = 13;
const randomOffset = 14;
const macOffset = 24;

export interface SubIdParts {
  readonly createdMs: number;
  readonly account: number;
  readonly vertical: number;
  readonly mode: ApiKeyMode;
}

/** Decodes the 32 bytes of a sub_id. Does not verify the MAC. */
export function decodeSubId(sub: Uint8Array): SubIdParts {
  const view = Buffer.from(sub.buffer, sub.byteOffset, sub.byteLength);
  const verticalAndMode = view[verticalAndModeOffset]!;
  return {
    createdMs: view.readUIntBE(0, 6),
    account: view.readUInt32BE(accountOffset),
    vertical: verticalAndMode >> 1,
    mode: (verticalAndMode & 1) === 1 ? 'test' : 'live',
  };
}

/** Returns a number from 0 to 255 that identifies a vertical and a mode: the vertical's number times 2, plus 1 in test mode. */
export function encodeVerticalAndMode(vertical: number, mode: ApiKeyMode): number {
  return (vertical << 1) | (mode === 'test' ? 1 : 0);
}

/** Returns the result of `encodeVerticalAndMode` for the vertical and the mode of a session. */
export function readVerticalAndModeKey(sub: Uint8Array): number {
  return sub[verticalAndModeOffset]!;
}

/** Whether the session with this sub_id belongs to the tenant (docs/contract.md#tenants). */
export function belongsToTenant({ account, vertical, mode }: SubIdParts, tenant: Tenant): boolean {
  return account === tenant.account && vertical === tenant.vertical.number && mode === tenant.mode;
}

/** Returns the account of a session. */
export function readAccount(sub: Uint8Array): number {
  const at = accountOffset;
  return ((sub[at]! << 24) | (sub[at + 1]! << 16) | (sub[at + 2]! << 8) | sub[at + 3]!) >>> 0;
}

/** Returns the number of the secret that signed a sub_id. */
export function readSecretNumber(sub: Uint8Array): number {
  return sub[secretNumberOffset]!;
}

export function formatSubId(sub: Uint8Array): string {
  return subIdPrefix + Buffer.from(sub.buffer, sub.byteOffset, sub.byteLength).toString('hex');
}

export class SubIds {
  readonly #random: RandomBytesPool;
  readonly #signer: TokenSigner;
  readonly #issueBuffer = Buffer.alloc(subIdByteLength);
  readonly #verifyBuffer = Buffer.alloc(subIdByteLength);
  readonly #conversionBuffer = Buffer.alloc(subIdByteLength);
  readonly #words = new Int32Array(int32sPerSubId);

  constructor(secrets: SecretSet, random: RandomBytesPool) {
    this.#random = random;
    this.#signer = new TokenSigner(secrets, {
      purpose: 'sub-id',
      secretNumberOffset,
      macBytes: subIdByteLength - macOffset,
      messageBytesMax: macOffset,
    });
  }

  createSubId(createdMs: number, account: number, vertical: number, mode: ApiKeyMode): string {
    const sub = this.#issueBuffer;
    sub.writeUIntBE(createdMs, 0, 6);
    sub.writeUInt32BE(account, accountOffset);
    sub[verticalAndModeOffset] = encodeVerticalAndMode(vertical, mode);
    sub[secretNumberOffset] = this.#signer.newestSecretNumber;
    this.#random.writeRandomBytes(sub, randomOffset, macOffset - randomOffset);
    this.#signer.sign(sub, macOffset);
    return subIdPrefix + sub.toString('hex');
  }

  /**
   * Verifies a sub_id. Returns the 32 bytes of the sub_id, or null if this service did not issue the sub_id. The returned buffer is valid
   * until the next call of `verify`.
   */
  verify(text: string): Buffer | null {
    if (!parseSubIdHex(text, this.#words)) return null;
    const sub = this.#verifyBuffer;
    for (let i = 0; i < int32sPerSubId; i++) sub.writeInt32BE(this.#words[i]!, 4 * i);
    return this.#signer.verify(sub, macOffset) ? sub : null;
  }

  /** Converts a valid sub_id to its 32 bytes, without verifying the MAC. The returned buffer is valid until `toBytes` is called again. */
  toBytes(subId: string): Buffer {
    this.#conversionBuffer.write(subId.slice(subIdPrefix.length), 0, subIdByteLength, 'hex');
    return this.#conversionBuffer;
  }
}

/** Number of 32-bit words in a sub_id. Hash tables hash and compare sub_ids as big-endian 32-bit words. */
export const int32sPerSubId = subIdByteLength / 4;
const hexDigitsPerWord = 8;

/** Maps the character code of a lower-case hex digit to the digit's value, and other character codes to -1. */
const hexDigitValues = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte)),
);

/** Buffer for the UTF-8 bytes of a sub_id, with 4 spare bytes for an invalid text that contains multi-byte characters. */
const textBuffer = Buffer.alloc(subIdTextLength + 4);

/**
 * Parses the text of a sub_id into 32-bit words. Returns false for an invalid text; `words` then contains arbitrary values. Does not verify
 * the MAC.
 */
export function parseSubIdHex(text: string, words: Int32Array): boolean {
  if (text.length !== subIdTextLength || !text.startsWith(subIdPrefix)) return false;
  // Reading bytes from a buffer takes half the time of `charCodeAt`, including the copy to the buffer.
  textBuffer.write(text, 0, 'utf8');
  // An invalid digit has the value -1, which makes the bitwise OR of all digits (`allDigits`) negative.
  let allDigits = 0;
  for (let word = 0, i = subIdPrefix.length; word < int32sPerSubId; word++, i += hexDigitsPerWord) {
    const a = hexDigitValues[textBuffer[i]!]!;
    const b = hexDigitValues[textBuffer[i + 1]!]!;
    const c = hexDigitValues[textBuffer[i + 2]!]!;
    const d = hexDigitValues[textBuffer[i + 3]!]!;
    const e = hexDigitValues[textBuffer[i + 4]!]!;
    const f = hexDigitValues[textBuffer[i + 5]!]!;
    const g = hexDigitValues[textBuffer[i + 6]!]!;
    const h = hexDigitValues[textBuffer[i + 7]!]!;
    allDigits |= a | b | c | d | e | f | g | h;
    words[word] = (a << 28) | (b << 24) | (c << 20) | (d << 16) | (e << 12) | (f << 8) | (g << 4) | h;
  }
  return allDigits >= 0;
}

/** Returns the creation time of a sub_id in Unix milliseconds, computed from the first two 32-bit words of the sub_id. */
export function subIdCreatedMs(firstWord: number, secondWord: number): number {
  return (firstWord >>> 0) * 0x1_0000 + (secondWord >>> 16);
}

/**
 * Returns the tenant of a session, computed from the third and the fourth 32-bit word of its sub_id; null if the vertical is not served.
 *
 * @param verticals served verticals by number
 */
export function subIdTenant(
  thirdWord: number,
  fourthWord: number,
  verticals: readonly (Vertical | undefined)[],
): Tenant | null {
  const vertical = verticals[fourthWord >>> 25];
  if (vertical === undefined) return null;
  return { account: thirdWord >>> 0, vertical, mode: ((fourthWord >>> 24) & 1) === 1 ? 'test' : 'live' };
}
