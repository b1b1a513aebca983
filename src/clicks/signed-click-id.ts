import type { Hmac } from '../secrets/hmac.ts';
import { deriveHmacs } from '../secrets/hmacs-of.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { subIdByteLength } from '../sessions/sub-id.ts';
import type { ClickIdPayload } from './click-id.ts';

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
export class LegacyClickIds {
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
