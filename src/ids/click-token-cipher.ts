import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeCanonicalBase64url, TokenCipher } from './signed-token.ts';
import { subIdByteLength } from './sub-id.ts';

/** Inputs of the click value at the time of the ranking (docs/contract.md#click-revenue). */
export interface ClickTokenPayload {
  readonly catalogVersion: string;
  /** Index of the borrower's credit band in the vertical. */
  readonly creditBand: number;
}

const plaintextBytesMax = 32;

/**
 * Encrypts and decrypts click tokens, the parameter `v` of click URLs (docs/contract.md#click-urls). All click URLs of a ranking share one
 * token, in base64url. The plaintext is the credit band (1 byte) and the catalog version. The sub_id is the associated data, so a token is
 * valid only in its own session.
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

  /** Encrypts a token for a session. Throws a RangeError if the catalog version is longer than 31 characters. */
  encrypt(sub: Uint8Array, { catalogVersion, creditBand }: ClickTokenPayload): string {
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(sub, 0);
    buffer[plaintextOffset] = creditBand;
    buffer.write(catalogVersion, plaintextOffset + 1, 'latin1');
    return buffer.toString('base64url', subIdByteLength, this.#cipher.encrypt(1 + catalogVersion.length));
  }

  /** Returns the payload, or null if the token was not issued for this session. */
  decrypt(sub: Uint8Array, text: string): ClickTokenPayload | null {
    const token = decodeCanonicalBase64url(text);
    if (token === null) return null;
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(sub, 0);
    const plaintextEnd = this.#cipher.decrypt(token);
    if (plaintextEnd === null) return null;
    return {
      creditBand: buffer[plaintextOffset]!,
      catalogVersion: buffer.toString('latin1', plaintextOffset + 1, plaintextEnd),
    };
  }
}
