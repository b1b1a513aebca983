import { decodeExactBase64url } from '../secrets/exact-base64url.ts';
import { hmacsOf } from '../secrets/hmacs-of.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { subIdBytes } from '../sessions/sub-id.ts';

/** What the worth of a click depends on, as it was when the offers were ranked (D10). */
export interface OfferValueBasis {
  readonly catalogVersion: string;
  /** Index of the borrower's credit band in the vertical. */
  readonly creditBand: number;
}

const nonceBytes = 12;
const tagBytes = 16;
const headBytes = 1 + nonceBytes;
/** A pad is one HMAC-SHA-256, so nothing longer can be sealed; a credit band and a catalog version take 13 bytes. */
const padBytes = 32;
const headAt = subIdBytes;
const plainAt = headAt + headBytes;
const macInputBytesMax = plainAt + padBytes;

/**
 * The `v` of a click URL (D10): sealed once for a ranking, bound to its session, readable to nobody else.
 *
 *     secret number (1), nonce (12), [credit band (1), catalog version (text)] under a pad, tag (16)
 *
 * in base64url. The pad is an HMAC of the nonce under one key, the tag one of session, head and padded text under another:
 * encrypt, then authenticate. That takes half the time of AES-GCM, whose objects cost more than the cipher
 * (docs/decisions/offer-value-seal.md). Nonces are random: even at a hundred rankings a second one secret serves for a year
 * before the chance of a repeated nonce reaches one in four billion, and `marketplace secret rotate` starts afresh.
 *
 * One instance reuses its buffers, so it serves one thread.
 */
export class OfferValueSeal {
  readonly #random: RandomPool;
  readonly #padders: ReturnType<typeof hmacsOf>;
  readonly #taggers: ReturnType<typeof hmacsOf>;
  readonly #newest: number;
  /** What the tag is over: session, head, padded text; then the tag itself. */
  readonly #bytes = Buffer.alloc(macInputBytesMax + tagBytes);
  readonly #nonce = Buffer.alloc(nonceBytes);
  readonly #pad = Buffer.alloc(padBytes);

  constructor(secrets: SecretRing, random: RandomPool) {
    this.#random = random;
    this.#newest = secrets.newest.number;
    this.#padders = hmacsOf(secrets, 'offer-value-pad', nonceBytes);
    this.#taggers = hmacsOf(secrets, 'offer-value', macInputBytesMax);
  }

  /** Throws a RangeError for a version that is longer than any catalog's. */
  seal(sub: Uint8Array, { catalogVersion, creditBand }: OfferValueBasis): string {
    const bytes = this.#bytes;
    const plainLength = 1 + catalogVersion.length;
    if (plainLength > padBytes) throw new RangeError('this catalog version is too long to be sealed');
    bytes.set(sub, 0);
    bytes[headAt] = this.#newest;
    this.#random.fill(bytes, headAt + 1, nonceBytes);
    bytes[plainAt] = creditBand;
    bytes.write(catalogVersion, plainAt + 1, 'latin1');
    this.#applyPad(this.#newest, plainLength);
    const tagAt = plainAt + plainLength;
    this.#taggers[this.#newest]!.sign(bytes, tagAt, bytes, tagAt, tagBytes);
    return bytes.toString('base64url', headAt, tagAt + tagBytes);
  }

  /** What was sealed for this session, or null for anything else. */
  open(sub: Uint8Array, text: string): OfferValueBasis | null {
    const sealed = decodeExactBase64url(text);
    if (sealed === null) return null;
    const plainLength = sealed.length - headBytes - tagBytes;
    const tagger = this.#taggers[sealed[0]!];
    if (plainLength < 2 || plainLength > padBytes || tagger === undefined) return null;
    const bytes = this.#bytes;
    bytes.set(sub, 0);
    bytes.set(sealed, headAt);
    const tagAt = plainAt + plainLength;
    if (!tagger.verify(bytes, tagAt, bytes, tagAt, tagBytes)) return null;
    this.#applyPad(sealed[0]!, plainLength);
    return { creditBand: bytes[plainAt]!, catalogVersion: bytes.toString('latin1', plainAt + 1, tagAt) };
  }

  /** Covers the text, or uncovers it. */
  #applyPad(secretNumber: number, plainLength: number): void {
    const bytes = this.#bytes;
    bytes.copy(this.#nonce, 0, headAt + 1, plainAt);
    this.#padders[secretNumber]!.sign(this.#nonce, nonceBytes, this.#pad, 0, padBytes);
    for (let at = 0; at < plainLength; at++) bytes[plainAt + at]! ^= this.#pad[at]!;
  }
}
