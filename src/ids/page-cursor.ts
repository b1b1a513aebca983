import { hash } from 'node:crypto';
import type { CohortFilter } from '../analytics/analytics.ts';
import type { Hmac } from '../secrets/hmac.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeCanonicalBase64url, deriveHmacs } from './signed-token.ts';

type PagedGranularity = 'daily' | 'row';

/** Where a page begins, and the window it is of, as resolved for the first page (day numbers). */
export interface PagePosition {
  readonly fromDay: number;
  readonly toDay: number;
  /** `daily`: how many days of the window were answered before. `row`: position in the ledger of the last row answered. */
  readonly after: number;
}

const positionBytes = 1 + 4 + 4 + 6;
/** Place and MAC together are a multiple of three bytes, so that no bit of the text is spare. */
const macBytes = 15;
const tagCharactersMax = 64;
const digestBytes = 32;
const signedBytesMax = positionBytes + 4 + 1 + 1 + 1 + tagCharactersMax + digestBytes;

/**
 * Issues and reads the cursors of analytics pages (docs/contract.md#pages):
 *
 *     secret number (1), first day (4), last day (4), after (6), MAC (15)
 *
 * in base64url, 40 characters. The HMAC-SHA-256, cut to 120 bits, is also over what the caller repeats with each page:
 *
 *     account (4), vertical << 1 | test (1), granularity (1), tag length (1), tag; SHA-256 of the listed ids (32)
 *
 * so a cursor opens the query it was issued for, and no other. The digest is there only when ids are listed, and of their
 * set: their order may change. Serves one thread: its buffer is reused.
 */
export class PageCursors {
  readonly #signers: readonly (Hmac | undefined)[];
  readonly #newestSecret: number;
  readonly #signedBytes = Buffer.alloc(signedBytesMax);

  constructor(secrets: SecretRing) {
    this.#newestSecret = secrets.newest.number;
    this.#signers = deriveHmacs(secrets, 'cursor', signedBytesMax);
  }

  issue(granularity: PagedGranularity, filter: CohortFilter, { fromDay, toDay, after }: PagePosition): string {
    const cursor = Buffer.alloc(positionBytes + macBytes);
    cursor[0] = this.#newestSecret;
    cursor.writeInt32BE(fromDay, 1);
    cursor.writeInt32BE(toDay, 5);
    cursor.writeUIntBE(after, 9, 6);
    const signedBytes = this.#writeSignedBytes(cursor, granularity, filter);
    this.#signers[this.#newestSecret]!.sign(this.#signedBytes, signedBytes, cursor, positionBytes, macBytes);
    return cursor.toString('base64url');
  }

  /** The place, or null for a text this service did not issue for this very query. */
  verify(granularity: PagedGranularity, filter: CohortFilter, text: string): PagePosition | null {
    const cursor = decodeCanonicalBase64url(text);
    if (cursor?.length !== positionBytes + macBytes) return null;
    const signer = this.#signers[cursor[0]!];
    if (signer === undefined) return null;
    const signedBytes = this.#writeSignedBytes(cursor, granularity, filter);
    if (!signer.verify(this.#signedBytes, signedBytes, cursor, positionBytes, macBytes)) return null;
    return { fromDay: cursor.readInt32BE(1), toDay: cursor.readInt32BE(5), after: cursor.readUIntBE(9, 6) };
  }

  /** Lays out what is signed, and returns how many bytes it has. */
  #writeSignedBytes(cursor: Buffer, granularity: PagedGranularity, filter: CohortFilter): number {
    const { account, vertical, mode, referrerTag, subs } = filter;
    const signed = this.#signedBytes;
    let at = cursor.copy(signed, 0, 0, positionBytes);
    at = signed.writeUInt32BE(account, at);
    at = signed.writeUInt8((vertical << 1) | (mode === 'test' ? 1 : 0), at);
    at = signed.writeUInt8(granularity === 'row' ? 1 : 0, at);
    at = signed.writeUInt8(referrerTag?.length ?? 0, at);
    if (referrerTag !== null) at += signed.write(referrerTag, at, tagCharactersMax, 'latin1');
    if (subs !== null) {
      const sorted = Buffer.concat([...subs].sort(Buffer.compare));
      at += hash('sha256', sorted, 'buffer').copy(signed, at);
    }
    return at;
  }
}
