import { Hmac } from '../secrets/hmac.ts';
import type { RandomBytesPool } from '../secrets/random-pool.ts';
import type { KeyPurpose, SecretSet } from '../secrets/secret-set.ts';

/** Decodes base64url text. Returns null for a text that `toString('base64url')` does not produce. */
export function decodeCanonicalBase64url(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

/** Creates an `Hmac` for each secret in `secrets`. The index of an `Hmac` in the returned array is the number of its secret. */
function deriveHmacs(secrets: SecretSet, purpose: KeyPurpose, messageBytesMax: number): readonly (Hmac | undefined)[] {
  const hmacs: (Hmac | undefined)[] = [];
  for (const number of secrets.secretVersions)
    hmacs[number] = new Hmac(secrets.deriveKey(number, purpose)!, messageBytesMax);
  return hmacs;
}

interface SignedTokenLayout {
  readonly purpose: KeyPurpose;
  /** Offset in bytes at which a token contains the number of its secret. */
  readonly secretNumberOffset: number;
  /** Length in bytes of the MAC, which is a truncated HMAC-SHA-256. */
  readonly macBytes: number;
  readonly messageBytesMax: number;
}

/**
 * Signs and verifies tokens. A token contains the number of the secret that signed the token, and ends with a MAC. By default, the MAC
 * signs the preceding bytes of the token. A caller can instead pass a `message` with additional context, such as the session.
 */
export class TokenSigner {
  readonly newestSecretNumber: number;
  readonly #hmacs: readonly (Hmac | undefined)[];
  readonly #secretNumberOffset: number;
  readonly #macBytes: number;

  constructor(secrets: SecretSet, layout: SignedTokenLayout) {
    this.newestSecretNumber = secrets.newest.number;
    this.#hmacs = deriveHmacs(secrets, layout.purpose, layout.messageBytesMax);
    this.#secretNumberOffset = layout.secretNumberOffset;
    this.#macBytes = layout.macBytes;
  }

  /** Signs a token, which must contain `newestSecretNumber`, with the newest secret, and writes the MAC at `macOffset`. */
  sign(token: Buffer, macOffset: number, message = token, messageBytes = macOffset): void {
    this.#hmacs[this.newestSecretNumber]!.sign(message, messageBytes, token, macOffset, this.#macBytes);
  }

  /** Verifies the MAC of a token. Returns false if the secret set has no secret with the number that the token contains. */
  verify(token: Buffer, macOffset: number, message = token, messageBytes = macOffset): boolean {
    const hmac = this.#hmacs[token[this.#secretNumberOffset]!];
    return hmac?.verify(message, messageBytes, token, macOffset, this.#macBytes) ?? false;
  }
}

const nonceBytes = 12;
const tagBytes = 16;
const headerBytes = 1 + nonceBytes;
/** Length in bytes of a keystream block, which is one HMAC-SHA-256. */
const keystreamBlockBytes = 32;
const keystreamBlocksMax = 255;

interface EncryptedTokenLayout {
  readonly encryptionPurpose: KeyPurpose;
  readonly macPurpose: KeyPurpose;
  /** Length of the associated data in bytes. Associated data precedes the token, and is authenticated but not encrypted. */
  readonly associatedDataBytes: number;
  readonly plaintextBytesMax: number;
}

/**
 * Authenticated encryption of short texts: encrypt-then-MAC with HMAC-SHA-256 (docs/contributing/decisions/click-tokens.md). A token has
 * these parts (lengths in bytes):
 *
 *     associated data | number of the secret (1), nonce (12), ciphertext, tag (16)
 *
 * The ciphertext is the XOR of the plaintext and a keystream. Block 0 of the keystream is the HMAC of the nonce; block i is the HMAC of the
 * nonce and the byte i. The tag is an HMAC of the associated data and all preceding parts of the token, with a second key.
 *
 * Nonces are random. With 10,000 tokens per second during a year, the probability that any nonce is repeated is one in a million (n² / 2^97
 * for n tokens). Two tokens with the same nonce would reveal the XOR of their plaintexts, but no key.
 *
 * The caller writes the associated data and the plaintext into `buffer`. Each call of `encrypt` or `decrypt` overwrites `buffer`.
 */
export class TokenCipher {
  /** Buffer that contains the associated data, followed by the token. */
  readonly buffer: Buffer;
  readonly plaintextOffset: number;
  readonly #headerOffset: number;
  readonly #plaintextBytesMax: number;
  readonly #random: RandomBytesPool;
  readonly #signer: TokenSigner;
  readonly #keystreamHmacs: readonly (Hmac | undefined)[];
  /** HMAC input for a keystream block: the nonce and the number of the block. */
  readonly #keystreamInput = Buffer.alloc(nonceBytes + 1);
  readonly #keystreamBlock = Buffer.alloc(keystreamBlockBytes);

  constructor(secrets: SecretSet, random: RandomBytesPool, layout: EncryptedTokenLayout) {
    const { encryptionPurpose, macPurpose, associatedDataBytes, plaintextBytesMax } = layout;
    if (plaintextBytesMax > keystreamBlocksMax * keystreamBlockBytes)
      throw new RangeError(`plaintextBytesMax is larger than ${keystreamBlocksMax} keystream blocks`);
    this.#random = random;
    this.#headerOffset = associatedDataBytes;
    this.#plaintextBytesMax = plaintextBytesMax;
    this.plaintextOffset = associatedDataBytes + headerBytes;
    this.buffer = Buffer.alloc(this.plaintextOffset + plaintextBytesMax + tagBytes);
    const keystreamInputBytes = plaintextBytesMax > keystreamBlockBytes ? nonceBytes + 1 : nonceBytes;
    this.#keystreamHmacs = deriveHmacs(secrets, encryptionPurpose, keystreamInputBytes);
    this.#signer = new TokenSigner(secrets, {
      purpose: macPurpose,
      secretNumberOffset: this.#headerOffset,
      macBytes: tagBytes,
      messageBytesMax: this.plaintextOffset + plaintextBytesMax,
    });
  }

  /** Encrypts the plaintext in `buffer` with the newest secret and appends the tag. Returns the offset of the token's end in `buffer`. */
  encrypt(plaintextBytes: number): number {
    if (plaintextBytes > this.#plaintextBytesMax) throw new RangeError('plaintext is longer than plaintextBytesMax');
    const { buffer } = this;
    const tagOffset = this.plaintextOffset + plaintextBytes;
    buffer[this.#headerOffset] = this.#signer.newestSecretNumber;
    this.#random.writeRandomBytes(buffer, this.#headerOffset + 1, nonceBytes);
    this.#xorWithKeystream(tagOffset);
    this.#signer.sign(buffer, tagOffset);
    return tagOffset + tagBytes;
  }

  /**
   * Decrypts a token. The caller must already have written the associated data into `buffer`. Returns the end offset of the plaintext in
   * `buffer`, or null if this service did not issue the token for this associated data.
   */
  decrypt(token: Uint8Array): number | null {
    const plaintextBytes = token.length - headerBytes - tagBytes;
    if (plaintextBytes < 0 || plaintextBytes > this.#plaintextBytesMax) return null;
    this.buffer.set(token, this.#headerOffset);
    const tagOffset = this.plaintextOffset + plaintextBytes;
    if (!this.#signer.verify(this.buffer, tagOffset)) return null;
    this.#xorWithKeystream(tagOffset);
    return tagOffset;
  }

  /** Encrypts the plaintext or decrypts the ciphertext in `buffer`: replaces the text by its XOR with the keystream. */
  #xorWithKeystream(textEnd: number): void {
    const { buffer } = this;
    const keystreamHmac = this.#keystreamHmacs[buffer[this.#headerOffset]!]!;
    buffer.copy(this.#keystreamInput, 0, this.#headerOffset + 1, this.plaintextOffset);
    for (let block = 0, start = this.plaintextOffset; start < textEnd; block++, start += keystreamBlockBytes) {
      this.#keystreamInput[nonceBytes] = block;
      keystreamHmac.sign(
        this.#keystreamInput,
        block === 0 ? nonceBytes : nonceBytes + 1,
        this.#keystreamBlock,
        0,
        keystreamBlockBytes,
      );
      const end = Math.min(start + keystreamBlockBytes, textEnd);
      for (let i = start; i < end; i++) buffer[i]! ^= this.#keystreamBlock[i - start]!;
    }
  }
}
