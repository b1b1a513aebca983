import { decodeExactBase64url } from '../secrets/exact-base64url.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { TokenCipher } from '../secrets/token-cipher.ts';
import { subIdBytes } from '../sessions/sub-id.ts';

/** What the worth of a click depends on, as it was when the offers were ranked (docs/contract.md#click-revenue). */
export interface OfferValueBasis {
  readonly catalogVersion: string;
  /** Index of the borrower's credit band in the vertical. */
  readonly creditBand: number;
}

const textBytesMax = 32;

/**
 * The `v` of a click URL (docs/contract.md#click-urls): one a ranking, in base64url. Its text is the credit band (1 byte) and catalog
 * version; its associated data is the session, so it is no good in another one. Serves one thread: its buffers are reused.
 */
export class OfferValueSeal {
  readonly #cipher: TokenCipher;

  constructor(secrets: SecretRing, random: RandomPool) {
    this.#cipher = new TokenCipher(secrets, random, {
      padKey: 'offer-value-pad',
      tagKey: 'offer-value',
      associatedBytes: subIdBytes,
      textBytesMax,
    });
  }

  /** Throws a RangeError for a version that is longer than any catalog's. */
  seal(sub: Uint8Array, { catalogVersion, creditBand }: OfferValueBasis): string {
    const { bytes, textAt } = this.#cipher;
    bytes.set(sub, 0);
    bytes[textAt] = creditBand;
    bytes.write(catalogVersion, textAt + 1, 'latin1');
    return bytes.toString('base64url', subIdBytes, this.#cipher.seal(1 + catalogVersion.length));
  }

  /** What was sealed for this session, or null for anything else. */
  open(sub: Uint8Array, text: string): OfferValueBasis | null {
    const token = decodeExactBase64url(text);
    if (token === null) return null;
    const { bytes, textAt } = this.#cipher;
    bytes.set(sub, 0);
    const textEnd = this.#cipher.open(token);
    if (textEnd === null) return null;
    return { creditBand: bytes[textAt]!, catalogVersion: bytes.toString('latin1', textAt + 1, textEnd) };
  }
}
