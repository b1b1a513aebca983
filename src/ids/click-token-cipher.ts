import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeCanonicalBase64url, TokenCipher } from './signed-token.ts';
import { subIdByteLength } from './sub-id.ts';

/** What the worth of a click depends on, as it was when the offers were ranked (docs/contract.md#click-revenue). */
export interface ClickTokenPayload {
  readonly catalogVersion: string;
  /** Index of the borrower's credit band in the vertical. */
  readonly creditBand: number;
}

const plaintextBytesMax = 32;

/**
 * The `v` of a click URL (docs/contract.md#click-urls): one a ranking, in base64url. Its text is the credit band (1 byte) and catalog
 * version; its associated data is the session, so it is no good in another one. Serves one thread: its buffers are reused.
 */
export class ClickTokenCipher {
  readonly #cipher: TokenCipher;

  constructor(secrets: SecretRing, random: RandomPool) {
    this.#cipher = new TokenCipher(secrets, random, {
      encryptionPurpose: 'offer-value-pad',
      macPurpose: 'offer-value',
      associatedDataBytes: subIdByteLength,
      plaintextBytesMax,
    });
  }

  /** Throws a RangeError for a version that is longer than any catalog's. */
  encrypt(sub: Uint8Array, { catalogVersion, creditBand }: ClickTokenPayload): string {
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(sub, 0);
    buffer[plaintextOffset] = creditBand;
    buffer.write(catalogVersion, plaintextOffset + 1, 'latin1');
    return buffer.toString('base64url', subIdByteLength, this.#cipher.encrypt(1 + catalogVersion.length));
  }

  /** What was sealed for this session, or null for anything else. */
  decrypt(sub: Uint8Array, text: string): ClickTokenPayload | null {
    const token = decodeCanonicalBase64url(text);
    if (token === null) return null;
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(sub, 0);
    const textEnd = this.#cipher.decrypt(token);
    if (textEnd === null) return null;
    return {
      creditBand: buffer[plaintextOffset]!,
      catalogVersion: buffer.toString('latin1', plaintextOffset + 1, textEnd),
    };
  }
}
