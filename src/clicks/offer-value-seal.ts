import { createCipheriv, createDecipheriv } from 'node:crypto';
import { decodeExactBase64url } from '../secrets/exact-base64url.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';

/** What the worth of a click depends on, as it was when the offers were ranked (D10). */
export interface OfferValueBasis {
  readonly catalogVersion: string;
  /** Index of the borrower's credit band in the vertical. */
  readonly creditBand: number;
}

const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;

/**
 * The `v` of a click URL (D10): sealed once for a ranking, bound to its session, readable to nobody else.
 *
 *     secret number (1), nonce (12), AES-256-GCM of [credit band (1), catalog version (text)], tag (16)
 *
 * in base64url. Nonces are random: even at a hundred rankings a second one secret serves for a year before the chance of
 * a repeated nonce reaches one in four billion, and `marketplace secret rotate` starts afresh.
 */
export class OfferValueSeal {
  readonly #random: RandomPool;
  readonly #keys: (Buffer | undefined)[] = [];
  readonly #newest: number;
  readonly #head = Buffer.alloc(headBytes);

  constructor(secrets: SecretRing, random: RandomPool) {
    this.#random = random;
    this.#newest = secrets.newest.number;
    for (const number of secrets.numbers) this.#keys[number] = secrets.key(number, 'offer-value')!;
  }

  seal(sub: Uint8Array, basis: OfferValueBasis): string {
    const head = this.#head;
    head[0] = this.#newest;
    this.#random.fill(head, 1, nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#keys[this.#newest]!, head.subarray(1), {
      authTagLength: tagBytes,
    });
    cipher.setAAD(sub);
    const sealed = cipher.update(String.fromCharCode(basis.creditBand) + basis.catalogVersion, 'latin1');
    cipher.final();
    return Buffer.concat([head, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  /** What was sealed for this session, or null for anything else. */
  open(sub: Uint8Array, text: string): OfferValueBasis | null {
    const bytes = decodeExactBase64url(text);
    if (bytes === null || bytes.length <= headBytes + 1 + tagBytes) return null;
    const key = this.#keys[bytes[0]!];
    if (key === undefined) return null;
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(1, headBytes), { authTagLength: tagBytes });
    decipher.setAAD(sub);
    decipher.setAuthTag(bytes.subarray(bytes.length - tagBytes));
    const plain = decipher.update(bytes.subarray(headBytes, bytes.length - tagBytes));
    try {
      decipher.final();
    } catch {
      return null; // Not sealed by us, or for another session.
    }
    return { creditBand: plain[0]!, catalogVersion: plain.toString('latin1', 1) };
  }
}
