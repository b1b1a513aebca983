import { bounds } from '../bounds.ts';
import type { Hmac } from '../secrets/hmac.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeCanonicalBase64url, deriveHmacs, TokenCipher } from './signed-token.ts';
import { subIdByteLength } from './sub-id.ts';

/** What a click_id says of the click it names (docs/contract.md#click-ids): enough to restore a click that no log could take. */
export interface ClickIdPayload {
  readonly sub: Uint8Array;
  readonly offerId: string;
  readonly clickedMs: number;
  /** Preliminary revenue of the click, whether or not it turns out to be the first. */
  readonly valueMicros: number;
  /** False for HEAD and self-declared bots: nothing can be confirmed of such a click. */
  readonly countable: boolean;
}

/** First byte of an encrypted click_id. Signed click_ids begin with the number of their secret, which is never 0. */
const encryptedLayout = 0;

// The text of the token.
const subAt = 1;
const clickedAt = subAt + subIdByteLength;
const valueAt = clickedAt + 6;
const valueBytes = 5;
const offerAt = valueAt + valueBytes;

/**
 * Issues and reads click ids, which travel to the lender in the landing URL and come back with its confirmation. A click id is the
 * byte 0 and a token of `TokenCipher`, in base64url. The text of the token:
 *
 *     countable (1), sub_id (32), time ms (6), value micro-dollars (5), offer id (text)
 *
 * Its length tells the length of the offer id, as the landing URL does, and nothing else. Serves one thread: its buffer is
 * reused.
 */
export class ClickIds {
  readonly #cipher: TokenCipher;
  readonly #legacyIds: LegacyClickIds;

  constructor(secrets: SecretRing, random: RandomPool) {
    this.#legacyIds = new LegacyClickIds(secrets);
    this.#cipher = new TokenCipher(secrets, random, {
      encryptionPurpose: 'click-id-pad',
      macPurpose: 'click-id-tag',
      associatedDataBytes: 1,
      plaintextBytesMax: offerAt + bounds.offerIdCharactersMax,
    });
    this.#cipher.buffer[0] = encryptedLayout;
  }

  issue({ sub, offerId, clickedMs, valueMicros, countable }: ClickIdPayload): string {
    const { buffer, plaintextOffset } = this.#cipher;
    buffer[plaintextOffset] = countable ? 1 : 0;
    buffer.set(sub, plaintextOffset + subAt);
    buffer.writeUIntBE(clickedMs, plaintextOffset + clickedAt, 6);
    buffer.writeUIntBE(valueMicros, plaintextOffset + valueAt, valueBytes);
    const textBytes = offerAt + buffer.write(offerId, plaintextOffset + offerAt, bounds.offerIdCharactersMax, 'latin1');
    return buffer.toString('base64url', 0, this.#cipher.encrypt(textBytes));
  }

  /** The click, or null for an id this service did not issue. */
  verify(text: string): ClickIdPayload | null {
    const id = decodeCanonicalBase64url(text);
    if (id === null) return null;
    if (id[0] !== encryptedLayout) return this.#legacyIds.verify(id);
    const textEnd = this.#cipher.decrypt(id.subarray(1));
    if (textEnd === null) return null;
    const { buffer, plaintextOffset } = this.#cipher;
    return {
      countable: buffer[plaintextOffset] === 1,
      sub: Uint8Array.from(buffer.subarray(plaintextOffset + subAt, plaintextOffset + clickedAt)),
      clickedMs: buffer.readUIntBE(plaintextOffset + clickedAt, 6),
      valueMicros: buffer.readUIntBE(plaintextOffset + valueAt, valueBytes),
      offerId: buffer.toString('latin1', plaintextOffset + offerAt, textEnd),
    };
  }
}

const legacyClickedAt = 1 + subIdByteLength;
const legacyValueAt = legacyClickedAt + 6;
const legacyOfferAt = legacyValueAt + 6;
const legacyMacBytes = 10;
const legacyOfferIdBytesMax = 64;
const legacySignedBytesMax = legacyOfferAt + legacyOfferIdBytesMax;

/**
 * Reads the click ids issued before they were encrypted, which lenders may confirm for 90 days:
 *
 *     secret number (1), sub_id (32), time ms (6), value micro-dollars (6), offer id (text), MAC (10)
 *
 * under an HMAC-SHA-256 cut to 80 bits. They do not tell a click of HEAD or of a bot from others.
 */
class LegacyClickIds {
  readonly #signers: readonly (Hmac | undefined)[];

  constructor(secrets: SecretRing) {
    this.#signers = deriveHmacs(secrets, 'click-id', legacySignedBytesMax);
  }

  /** The click, or null for bytes this service did not sign. */
  verify(id: Buffer): ClickIdPayload | null {
    const signed = id.length - legacyMacBytes;
    if (signed <= legacyOfferAt || signed > legacySignedBytesMax) return null;
    const signer = this.#signers[id[0]!];
    if (signer === undefined || !signer.verify(id, signed, id, signed, legacyMacBytes)) return null;
    return {
      countable: true,
      sub: Uint8Array.from(id.subarray(1, legacyClickedAt)),
      clickedMs: id.readUIntBE(legacyClickedAt, 6),
      valueMicros: id.readUIntBE(legacyValueAt, 6),
      offerId: id.toString('latin1', legacyOfferAt, signed),
    };
  }
}
