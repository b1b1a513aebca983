import { decodeExactBase64url } from '../secrets/exact-base64url.ts';
import type { Hmac } from '../secrets/hmac.ts';
import { hmacsOf } from '../secrets/hmacs-of.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { subIdBytes } from '../sessions/sub-id.ts';

/** What a click_id says of the click it names (D10): enough to restore a click that no log could take. */
export interface Click {
  readonly sub: Uint8Array;
  readonly offerId: string;
  readonly clickedMs: number;
  /** Preliminary revenue of the click, whether or not it turns out to be the first. */
  readonly valueMicros: number;
}

const offerAt = 1 + subIdBytes + 6 + 6;
const macBytes = 10;
const offerIdBytesMax = 64;
const signedBytesMax = offerAt + offerIdBytesMax;

/**
 * Issues and reads click ids, which travel to the lender in the landing URL and come back with its confirmation:
 *
 *     secret number (1), sub_id (32), time ms (6), value micro-dollars (6), offer id (text), MAC (10)
 *
 * in base64url, under an HMAC-SHA-256 cut to 80 bits. Serves one thread: its buffer is reused.
 */
export class ClickIds {
  readonly #signers: readonly (Hmac | undefined)[];
  readonly #newest: number;
  readonly #buffer = Buffer.alloc(signedBytesMax + macBytes);

  constructor(secrets: SecretRing) {
    this.#newest = secrets.newest.number;
    this.#signers = hmacsOf(secrets, 'click-id', signedBytesMax);
  }

  issue(click: Click): string {
    const buffer = this.#buffer;
    buffer[0] = this.#newest;
    buffer.set(click.sub, 1);
    buffer.writeUIntBE(click.clickedMs, 1 + subIdBytes, 6);
    buffer.writeUIntBE(click.valueMicros, 1 + subIdBytes + 6, 6);
    const signed = offerAt + buffer.write(click.offerId, offerAt, offerIdBytesMax, 'latin1');
    this.#signers[this.#newest]!.sign(buffer, signed, buffer, signed, macBytes);
    return buffer.toString('base64url', 0, signed + macBytes);
  }

  /** The click, or null for an id this service did not issue. */
  read(text: string): Click | null {
    const bytes = decodeExactBase64url(text);
    if (bytes === null) return null;
    const signed = bytes.length - macBytes;
    if (signed <= offerAt || signed > signedBytesMax) return null;
    const signer = this.#signers[bytes[0]!];
    if (signer === undefined || !signer.verify(bytes, signed, bytes, signed, macBytes)) return null;
    return {
      sub: bytes.subarray(1, 1 + subIdBytes),
      clickedMs: bytes.readUIntBE(1 + subIdBytes, 6),
      valueMicros: bytes.readUIntBE(1 + subIdBytes + 6, 6),
      offerId: bytes.toString('latin1', offerAt, signed),
    };
  }
}
