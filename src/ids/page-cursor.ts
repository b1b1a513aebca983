import { hash } from 'node:crypto';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { decodeCanonicalBase64url, TokenSigner } from './signed-token.ts';
import { encodeVerticalAndMode } from './sub-id.ts';

type PagedGranularity = 'daily' | 'row';

/** Filter that selects the sessions of a paged analytics query. */
interface PageQuery {
  readonly account: number;
  readonly vertical: number;
  readonly mode: ApiKeyMode;
  readonly referrerTag: string | null;
  /** The sub_ids of the selected sessions as bytes; null for all sessions. */
  readonly subs: readonly Uint8Array[] | null;
}

/** Start of a page (`after`), and the first and last day number of the query, which are the same for all pages of the query. */
export interface PagePosition {
  readonly fromDay: number;
  readonly toDay: number;
  /** If the pages list days: number of days on earlier pages. If they list sessions: ledger position of the last earlier session. */
  readonly after: number;
}

const fromDayOffset = 1;
const toDayOffset = 5;
const afterOffset = 9;
const macOffset = 15;
/** Length of the MAC in bytes. The total length of the cursor is a multiple of 3 bytes, so its base64url encoding has no unused bits. */
const macBytes = 15;
const cursorBytes = macOffset + macBytes;
const tagCharactersMax = 64;
const digestBytes = 32;
const messageBytesMax = macOffset + 4 + 1 + 1 + 1 + tagCharactersMax + digestBytes;

/**
 * Issues and verifies the cursors of analytics pages (docs/contract.md#pages). A cursor has 40 characters in base64url and these parts
 * (lengths in bytes):
 *
 *     secret number (1), first day (4), last day (4), after (6), MAC (15)
 *
 * The MAC is an HMAC-SHA-256 truncated to 120 bits. The signed message contains the position and the query, so a cursor is valid only for
 * one query:
 *
 *     account (4), vertical << 1 | test (1), granularity (1), tag length (1), tag, SHA-256 of the listed ids (32)
 *
 * The ids are sorted before hashing, because the client may list the ids in another order in each request. If the query lists no ids, the
 * signed message contains no SHA-256.
 */
export class PageCursors {
  readonly #signer: TokenSigner;
  readonly #message = Buffer.alloc(messageBytesMax);

  constructor(secrets: SecretSet) {
    this.#signer = new TokenSigner(secrets, { purpose: 'cursor', secretNumberOffset: 0, macBytes, messageBytesMax });
  }

  createCursor(granularity: PagedGranularity, query: PageQuery, { fromDay, toDay, after }: PagePosition): string {
    const cursor = Buffer.alloc(cursorBytes);
    cursor[0] = this.#signer.newestSecretNumber;
    cursor.writeInt32BE(fromDay, fromDayOffset);
    cursor.writeInt32BE(toDay, toDayOffset);
    cursor.writeUIntBE(after, afterOffset, 6);
    this.#signer.sign(cursor, macOffset, this.#message, this.#composeSignedMessage(cursor, granularity, query));
    return cursor.toString('base64url');
  }

  /** Returns the page position in a cursor, or null if this service did not issue the cursor for this query. */
  verify(granularity: PagedGranularity, query: PageQuery, text: string): PagePosition | null {
    const cursor = decodeCanonicalBase64url(text);
    if (cursor?.length !== cursorBytes) return null;
    const messageBytes = this.#composeSignedMessage(cursor, granularity, query);
    if (!this.#signer.verify(cursor, macOffset, this.#message, messageBytes)) return null;
    return {
      fromDay: cursor.readInt32BE(fromDayOffset),
      toDay: cursor.readInt32BE(toDayOffset),
      after: cursor.readUIntBE(afterOffset, 6),
    };
  }

  /** Fills `#message` with the position and the query, which the MAC of a cursor signs. Returns the length of the message in bytes. */
  #composeSignedMessage(cursor: Buffer, granularity: PagedGranularity, query: PageQuery): number {
    const { account, vertical, mode, referrerTag, subs } = query;
    const message = this.#message;
    let offset = cursor.copy(message, 0, 0, macOffset);
    offset = message.writeUInt32BE(account, offset);
    offset = message.writeUInt8(encodeVerticalAndMode(vertical, mode), offset);
    offset = message.writeUInt8(granularity === 'row' ? 1 : 0, offset);
    offset = message.writeUInt8(referrerTag?.length ?? 0, offset);
    if (referrerTag !== null) offset += message.write(referrerTag, offset, tagCharactersMax, 'latin1');
    if (subs !== null) {
      const sorted = Buffer.concat([...subs].sort(Buffer.compare));
      offset += hash('sha256', sorted, 'buffer').copy(message, offset);
    }
    return offset;
  }
}
