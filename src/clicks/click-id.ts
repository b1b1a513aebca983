import { bounds } from '../bounds.ts';
import { decodeCanonicalBase64url } from '../secrets/exact-base64url.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { TokenCipher } from '../secrets/token-cipher.ts';
import { subIdByteLength } from '../sessions/sub-id.ts';
import { LegacyClickIds } from './signed-click-id.ts';

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
