import { hash } from 'node:crypto';
import type { Mode } from '../domain/mode.ts';
import type { Hmac } from '../secrets/hmac.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeCanonicalBase64url, deriveHmacs } from './signed-token.ts';

type PagedGranularity = 'daily' | 'row';

/** Members of an analytics query that a cursor is bound to. */
interface PageCursorQuery {
  readonly account: number;
  readonly vertical: number;
  readonly mode: Mode;
  readonly referrerTag: string | null;
  /** Listed sub_ids as their 32 bytes; null if the query lists none. */
  readonly subs: readonly Uint8Array[] | null;
}

/** First and last day of the query, as resolved for its first page (day numbers), and the position of the next page. */
export interface PagePosition {
  readonly fromDay: number;
  readonly toDay: number;
  /** `daily`: number of days on earlier pages. `row`: ledger position of the last row of the previous page. */
  readonly after: number;
}

const positionBytes = 1 + 4 + 4 + 6;
/** Position and MAC together are a multiple of three bytes, so that the base64url text has no unused bits. */
const macBytes = 15;
const tagCharactersMax = 64;
const digestBytes = 32;
const signedBytesMax = positionBytes + 4 + 1 + 1 + 1 + tagCharactersMax + digestBytes;

/**
 * Issues and verifies the cursors of analytics pages (docs/contract.md#pages):
 *
 *     secret number (1), first day (4), last day (4), after (6), MAC (15)
 *
 * in base64url, 40 characters. The HMAC-SHA-256, truncated to 120 bits, covers the bytes before it and the members of the query:
 *
 *     account (4), vertical << 1 | test (1), granularity (1), tag length (1), tag; SHA-256 of the listed ids (32)
 *
 * so that a cursor is valid only for the query it was issued for. The digest is present only if sub_ids are listed, and does
 * not depend on their order. For use by one thread, because the buffer is reused.
 */
export class PageCursors {
  readonly #signers: readonly (Hmac | undefined)[];
  readonly #newestSecret: number;
  readonly #signedBytes = Buffer.alloc(signedBytesMax);

  constructor(secrets: SecretRing) {
    this.#newestSecret = secrets.newest.number;
    this.#signers = deriveHmacs(secrets, 'cursor', signedBytesMax);
  }

  issue(granularity: PagedGranularity, query: PageCursorQuery, { fromDay, toDay, after }: PagePosition): string {
    const cursor = Buffer.alloc(positionBytes + macBytes);
    cursor[0] = this.#newestSecret;
    cursor.writeInt32BE(fromDay, 1);
    cursor.writeInt32BE(toDay, 5);
    cursor.writeUIntBE(after, 9, 6);
    const signedBytes = this.#writeSignedBytes(cursor, granularity, query);
    this.#signers[this.#newestSecret]!.sign(this.#signedBytes, signedBytes, cursor, positionBytes, macBytes);
    return cursor.toString('base64url');
  }

  /** Returns null for a text that this service did not issue for this query. */
  verify(granularity: PagedGranularity, query: PageCursorQuery, text: string): PagePosition | null {
    const cursor = decodeCanonicalBase64url(text);
    if (cursor?.length !== positionBytes + macBytes) return null;
    const signer = this.#signers[cursor[0]!];
    if (signer === undefined) return null;
    const signedBytes = this.#writeSignedBytes(cursor, granularity, query);
    if (!signer.verify(this.#signedBytes, signedBytes, cursor, positionBytes, macBytes)) return null;
    return { fromDay: cursor.readInt32BE(1), toDay: cursor.readInt32BE(5), after: cursor.readUIntBE(9, 6) };
  }

  /** Writes the signed bytes to the buffer and returns their number. */
  #writeSignedBytes(cursor: Buffer, granularity: PagedGranularity, query: PageCursorQuery): number {
    const { account, vertical, mode, referrerTag, subs } = query;
    const signed = this.#signedBytes;
    let offset = cursor.copy(signed, 0, 0, positionBytes);
    offset = signed.writeUInt32BE(account, offset);
    offset = signed.writeUInt8((vertical << 1) | (mode === 'test' ? 1 : 0), offset);
    offset = signed.writeUInt8(granularity === 'row' ? 1 : 0, offset);
    offset = signed.writeUInt8(referrerTag?.length ?? 0, offset);
    if (referrerTag !== null) offset += signed.write(referrerTag, offset, tagCharactersMax, 'latin1');
    if (subs !== null) {
      const sorted = Buffer.concat([...subs].sort(Buffer.compare));
      offset += hash('sha256', sorted, 'buffer').copy(signed, offset);
    }
    return offset;
  }
}
