import { Hmac } from '../secrets/hmac.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { KeyPurpose, SecretRing } from '../secrets/secret-ring.ts';

/**
 * The bytes of a base64url text, or null unless it is the one spelling we give them: the decoder passes over characters that
 * are not base64url, and over spare bits.
 */
export function decodeCanonicalBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/** One HMAC for each secret, at the place of its number: whatever is signed carries that number, and a gap signs nothing. */
export function deriveHmacs(
  secrets: SecretRing,
  purpose: KeyPurpose,
  messageBytesMax: number,
): readonly (Hmac | undefined)[] {
  const hmacs: (Hmac | undefined)[] = [];
  for (const number of secrets.secretNumbers)
    hmacs[number] = new Hmac(secrets.deriveKey(number, purpose)!, messageBytesMax);
  return hmacs;
}

const nonceBytes = 12;
const tagBytes = 16;
const headerBytes = 1 + nonceBytes;
/** One HMAC-SHA-256. */
const padBlockBytes = 32;
const padBlocksMax = 255;

interface TokenLayout {
  /** Each use of the cipher has two keys of its own. */
  readonly encryptionPurpose: KeyPurpose;
  readonly macPurpose: KeyPurpose;
  /** Bytes ahead of the token that the tag authenticates, and that stay readable. */
  readonly associatedDataBytes: number;
  readonly plaintextBytesMax: number;
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
  readonly buffer: Buffer;
  /** Offset of the text in `bytes`. */
  readonly plaintextOffset: number;
  readonly #headerOffset: number;
  readonly #plaintextBytesMax: number;
  readonly #random: RandomPool;
  readonly #newestSecretNumber: number;
  readonly #padHmacs: ReturnType<typeof deriveHmacs>;
  readonly #tagHmacs: ReturnType<typeof deriveHmacs>;
  /** The nonce, and the number of a pad block. */
  readonly #padInput = Buffer.alloc(nonceBytes + 1);
  readonly #pad = Buffer.alloc(padBlockBytes);

  /** Throws a RangeError for texts of more than 255 pad blocks. */
  constructor(secrets: SecretRing, random: RandomPool, layout: TokenLayout) {
    const { encryptionPurpose, macPurpose, associatedDataBytes, plaintextBytesMax } = layout;
    if (plaintextBytesMax > padBlocksMax * padBlockBytes) throw new RangeError('a token cannot hold so long a text');
    this.#random = random;
    this.#newestSecretNumber = secrets.newest.number;
    this.#headerOffset = associatedDataBytes;
    this.#plaintextBytesMax = plaintextBytesMax;
    this.plaintextOffset = associatedDataBytes + headerBytes;
    this.buffer = Buffer.alloc(this.plaintextOffset + plaintextBytesMax + tagBytes);
    this.#padHmacs = deriveHmacs(
      secrets,
      encryptionPurpose,
      plaintextBytesMax > padBlockBytes ? nonceBytes + 1 : nonceBytes,
    );
    this.#tagHmacs = deriveHmacs(secrets, macPurpose, this.plaintextOffset + plaintextBytesMax);
  }

  /** Encrypts the text in `bytes` under the newest secret, adds the tag, and returns the offset of the token's end. */
  encrypt(textBytes: number): number {
    if (textBytes > this.#plaintextBytesMax) throw new RangeError('text longer than this cipher was made for');
    const { buffer } = this;
    const tagAt = this.plaintextOffset + textBytes;
    buffer[this.#headerOffset] = this.#newestSecretNumber;
    this.#random.fill(buffer, this.#headerOffset + 1, nonceBytes);
    this.#xorPad(this.#newestSecretNumber, tagAt);
    this.#tagHmacs[this.#newestSecretNumber]!.sign(buffer, tagAt, buffer, tagAt, tagBytes);
    return tagAt + tagBytes;
  }

  /**
   * Decrypts a token; its associated data is already in `bytes`. Returns the offset of the text's end in `bytes`, or null for a
   * token that this service did not make, or not for this associated data.
   */
  decrypt(token: Uint8Array): number | null {
    const { buffer } = this;
    const textBytes = token.length - headerBytes - tagBytes;
    if (textBytes < 0 || textBytes > this.#plaintextBytesMax) return null;
    const secretNumber = token[0]!;
    const tagger = this.#tagHmacs[secretNumber];
    if (tagger === undefined) return null;
    buffer.set(token, this.#headerOffset);
    const tagAt = this.plaintextOffset + textBytes;
    if (!tagger.verify(buffer, tagAt, buffer, tagAt, tagBytes)) return null;
    this.#xorPad(secretNumber, tagAt);
    return tagAt;
  }

  /** Encrypts the text, or decrypts it. */
  #xorPad(secretNumber: number, textEnd: number): void {
    const { buffer } = this;
    const padder = this.#padHmacs[secretNumber]!;
    buffer.copy(this.#padInput, 0, this.#headerOffset + 1, this.plaintextOffset);
    for (let block = 0, from = this.plaintextOffset; from < textEnd; block++, from += padBlockBytes) {
      this.#padInput[nonceBytes] = block;
      padder.sign(this.#padInput, block === 0 ? nonceBytes : nonceBytes + 1, this.#pad, 0, padBlockBytes);
      const end = Math.min(from + padBlockBytes, textEnd);
      for (let at = from; at < end; at++) buffer[at]! ^= this.#pad[at - from]!;
    }
  }
}
