import { hmacsOf } from './hmacs-of.ts';
import type { RandomPool } from './random-pool.ts';
import type { KeyPurpose, SecretRing } from './secret-ring.ts';

const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;
/** One HMAC-SHA-256. */
const padBlockBytes = 32;
const padBlocksMax = 255;

export interface TokenLayout {
  /** Each use of the cipher has two keys of its own. */
  readonly padKey: KeyPurpose;
  readonly tagKey: KeyPurpose;
  /** Bytes ahead of the token that the tag authenticates, and that stay readable. */
  readonly associatedBytes: number;
  readonly textBytesMax: number;
}

/**
 * Authenticated encryption of short texts: encrypt-then-MAC with HMAC-SHA-256 for both (docs/contributing/decisions/click-tokens.md).
 *
 *     associated data | secret number (1), nonce (12), encrypted text, tag (16)
 *
 * The text is XORed with a pad. Block 0 of the pad is the HMAC of the nonce, block i the HMAC of the nonce and i. The tag is the
 * HMAC, under the second key, of everything before it.
 *
 * Nonces are random. The chance that two of n tokens share one is n² / 2^97: one in a million for 10,000 tokens a second over a
 * year. Two such tokens would reveal the XOR of their texts, and no key.
 *
 * The caller writes the associated data and the text into `bytes`, which the next call overwrites. Serves one thread.
 */
export class TokenCipher {
  /** Associated data at 0, the token behind it. */
  readonly bytes: Buffer;
  /** Offset of the text in `bytes`. */
  readonly textAt: number;
  readonly #headAt: number;
  readonly #textBytesMax: number;
  readonly #random: RandomPool;
  readonly #newest: number;
  readonly #padders: ReturnType<typeof hmacsOf>;
  readonly #taggers: ReturnType<typeof hmacsOf>;
  /** The nonce, and the number of a pad block. */
  readonly #padInput = Buffer.alloc(nonceBytes + 1);
  readonly #pad = Buffer.alloc(padBlockBytes);

  /** Throws a RangeError for texts of more than 255 pad blocks. */
  constructor(secrets: SecretRing, random: RandomPool, layout: TokenLayout) {
    const { padKey, tagKey, associatedBytes, textBytesMax } = layout;
    if (textBytesMax > padBlocksMax * padBlockBytes) throw new RangeError('a token cannot hold so long a text');
    this.#random = random;
    this.#newest = secrets.newest.number;
    this.#headAt = associatedBytes;
    this.#textBytesMax = textBytesMax;
    this.textAt = associatedBytes + headBytes;
    this.bytes = Buffer.alloc(this.textAt + textBytesMax + tagBytes);
    this.#padders = hmacsOf(secrets, padKey, textBytesMax > padBlockBytes ? nonceBytes + 1 : nonceBytes);
    this.#taggers = hmacsOf(secrets, tagKey, this.textAt + textBytesMax);
  }

  /** Encrypts the text in `bytes` under the newest secret, adds the tag, and returns the offset of the token's end. */
  seal(textBytes: number): number {
    if (textBytes > this.#textBytesMax) throw new RangeError('text longer than this cipher was made for');
    const { bytes } = this;
    const tagAt = this.textAt + textBytes;
    bytes[this.#headAt] = this.#newest;
    this.#random.fill(bytes, this.#headAt + 1, nonceBytes);
    this.#applyPad(this.#newest, tagAt);
    this.#taggers[this.#newest]!.sign(bytes, tagAt, bytes, tagAt, tagBytes);
    return tagAt + tagBytes;
  }

  /**
   * Decrypts a token; its associated data is already in `bytes`. Returns the offset of the text's end in `bytes`, or null for a
   * token that this service did not make, or not for this associated data.
   */
  open(token: Uint8Array): number | null {
    const { bytes } = this;
    const textBytes = token.length - headBytes - tagBytes;
    if (textBytes < 0 || textBytes > this.#textBytesMax) return null;
    const secretNumber = token[0]!;
    const tagger = this.#taggers[secretNumber];
    if (tagger === undefined) return null;
    bytes.set(token, this.#headAt);
    const tagAt = this.textAt + textBytes;
    if (!tagger.verify(bytes, tagAt, bytes, tagAt, tagBytes)) return null;
    this.#applyPad(secretNumber, tagAt);
    return tagAt;
  }

  /** Encrypts the text, or decrypts it. */
  #applyPad(secretNumber: number, textEnd: number): void {
    const { bytes } = this;
    const padder = this.#padders[secretNumber]!;
    bytes.copy(this.#padInput, 0, this.#headAt + 1, this.textAt);
    for (let block = 0, from = this.textAt; from < textEnd; block++, from += padBlockBytes) {
      this.#padInput[nonceBytes] = block;
      padder.sign(this.#padInput, block === 0 ? nonceBytes : nonceBytes + 1, this.#pad, 0, padBlockBytes);
      const end = Math.min(from + padBlockBytes, textEnd);
      for (let at = from; at < end; at++) bytes[at]! ^= this.#pad[at - from]!;
    }
  }
}
