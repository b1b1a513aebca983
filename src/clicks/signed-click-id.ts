import type { Hmac } from '../secrets/hmac.ts';
import { hmacsOf } from '../secrets/hmacs-of.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { subIdBytes } from '../sessions/sub-id.ts';
import type { Click } from './click-id.ts';

const clickedAt = 1 + subIdBytes;
const valueAt = clickedAt + 6;
const offerAt = valueAt + 6;
const macBytes = 10;
const offerIdBytesMax = 64;
const signedBytesMax = offerAt + offerIdBytesMax;

/**
 * Reads the click ids issued before they were encrypted, which lenders may confirm for 90 days:
 *
 *     secret number (1), sub_id (32), time ms (6), value micro-dollars (6), offer id (text), MAC (10)
 *
 * under an HMAC-SHA-256 cut to 80 bits. They do not tell a click of HEAD or of a bot from others.
 */
export class SignedClickIds {
  readonly #signers: readonly (Hmac | undefined)[];

  constructor(secrets: SecretRing) {
    this.#signers = hmacsOf(secrets, 'click-id', signedBytesMax);
  }

  /** The click, or null for bytes this service did not sign. */
  read(id: Buffer): Click | null {
    const signed = id.length - macBytes;
    if (signed <= offerAt || signed > signedBytesMax) return null;
    const signer = this.#signers[id[0]!];
    if (signer === undefined || !signer.verify(id, signed, id, signed, macBytes)) return null;
    return {
      countable: true,
      sub: Uint8Array.from(id.subarray(1, clickedAt)),
      clickedMs: id.readUIntBE(clickedAt, 6),
      valueMicros: id.readUIntBE(valueAt, 6),
      offerId: id.toString('latin1', offerAt, signed),
    };
  }
}
