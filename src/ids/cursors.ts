import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { RandomBytesPool } from '../secrets/random-pool.ts';
import type { KeyPurpose, SecretSet } from '../secrets/secret-set.ts';
import { decodeCanonicalBase64url, TokenCipher, TokenSigner } from './signed-token.ts';
import { encodeVerticalAndMode } from './sub-id.ts';
import { unitHashByteLength } from './unit-hasher.ts';

interface CursorTenant {
  readonly account: number;
  readonly vertical: number;
  readonly mode: ApiKeyMode;
}

/** Length of the MAC in bytes. */
const macBytes = 15;
const bodyOffset = 1;
const tagCharactersMax = 64;
const tenantBytes = 4 + 1;
const digestBytes = 32;

/**
 * Signs and verifies cursors. A cursor has these parts in base64url (lengths in bytes):
 *
 *     secret number (1), body, MAC (15)
 *
 * The MAC is an HMAC-SHA-256 truncated to 120 bits. It signs the preceding parts and the query, so a cursor is valid only for one query.
 */
class CursorSigner {
  readonly #signer: TokenSigner;
  readonly #bodyBytesMax: number;

  constructor(secrets: SecretSet, purpose: KeyPurpose, bodyBytesMax: number, queryBytesMax: number) {
    const messageBytesMax = bodyOffset + bodyBytesMax + queryBytesMax;
    this.#signer = new TokenSigner(secrets, { purpose, secretNumberOffset: 0, macBytes, messageBytesMax });
    this.#bodyBytesMax = bodyBytesMax;
  }

  createCursor(body: Buffer, query: Buffer): string {
    const cursor = Buffer.concat([Buffer.of(this.#signer.newestSecretNumber), body, Buffer.alloc(macBytes)]);
    const macOffset = bodyOffset + body.length;
    const message = Buffer.concat([cursor.subarray(0, macOffset), query]);
    this.#signer.sign(cursor, macOffset, message, message.length);
    return cursor.toString('base64url');
  }

  /** Returns the body of a cursor, or null if this service did not issue the cursor for this query. */
  verify(text: string, query: Buffer): Buffer | null {
    const cursor = decodeCanonicalBase64url(text);
    if (cursor === null) return null;
    const macOffset = cursor.length - macBytes;
    if (macOffset <= bodyOffset || macOffset > bodyOffset + this.#bodyBytesMax) return null;
    const message = Buffer.concat([cursor.subarray(0, macOffset), query]);
    return this.#signer.verify(cursor, macOffset, message, message.length)
      ? cursor.subarray(bodyOffset, macOffset)
      : null;
  }
}

function encodeTenant({ account, vertical, mode }: CursorTenant): Buffer {
  const bytes = Buffer.alloc(tenantBytes);
  bytes.writeUInt8(encodeVerticalAndMode(vertical, mode), bytes.writeUInt32BE(account));
  return bytes;
}

/** Numbers of the kinds of pages in cursors: a granularity, or sessions with the newest first. */
const pageKindNumbers = { daily: 0, row: 1, offer: 2, 'newest-row': 3 } as const;
export type PageKind = Exclude<keyof typeof pageKindNumbers, 'offer'>;

/** Filter that selects the sessions of a paged analytics query. */
interface PageQuery extends CursorTenant {
  readonly referrerTag: string | null;
  /** The sub_ids of the selected sessions as bytes; null for all sessions. */
  readonly subs: readonly Uint8Array[] | null;
}

/** Start of a page (`after`), and the first and last day number of the query, which are the same for all pages of the query. */
export interface PagePosition {
  readonly fromDay: number;
  readonly toDay: number;
  /** If the pages list days: number of days on earlier pages. If they list sessions: ledger position of the last session on earlier pages. */
  readonly after: number;
}

/** Start of a page of offers, and the first and last day number of the query. */
export interface OfferPagePosition extends Pick<PagePosition, 'fromDay' | 'toDay'> {
  /** Id of the last offer on the earlier page; empty on the first page. */
  readonly afterOfferId: string;
}

const dayRangeBytes = 4 + 4;
const pageBodyBytes = dayRangeBytes + 6;
const utf8BytesPerCharacterMax = 3;

/**
 * Issues and verifies the cursors of analytics pages (docs/contract.md#pages). A cursor of days or sessions has 40 characters. The body has
 * these parts (lengths in bytes):
 *
 *     first day (4), last day (4), after (6) or the id of the last offer
 *
 * The query has these parts:
 *
 *     account (4), vertical << 1 | test (1), kind of page (1), tag length (1), tag, SHA-256 of the listed ids (32)
 *
 * The ids are sorted before hashing, because the client may list the ids in another order in each request. If the query lists no ids, there
 * is no SHA-256.
 */
export class PageCursors {
  readonly #signer: CursorSigner;

  constructor(secrets: SecretSet) {
    const queryBytesMax = tenantBytes + 1 + 1 + tagCharactersMax + digestBytes;
    const bodyBytesMax = dayRangeBytes + bounds.ledgerNameCharactersMax * utf8BytesPerCharacterMax;
    this.#signer = new CursorSigner(secrets, 'cursor', bodyBytesMax, queryBytesMax);
  }

  createCursor(kind: PageKind, query: PageQuery, { fromDay, toDay, after }: PagePosition): string {
    const body = Buffer.alloc(pageBodyBytes);
    body.writeUIntBE(after, body.writeInt32BE(toDay, body.writeInt32BE(fromDay)), 6);
    return this.#signer.createCursor(body, encodePageQuery(kind, query));
  }

  /** Returns the page position in a cursor, or null if this service did not issue the cursor for this query. */
  verify(kind: PageKind, query: PageQuery, text: string): PagePosition | null {
    const body = this.#signer.verify(text, encodePageQuery(kind, query));
    if (body?.length !== pageBodyBytes) return null;
    return { fromDay: body.readInt32BE(0), toDay: body.readInt32BE(4), after: body.readUIntBE(dayRangeBytes, 6) };
  }

  createOfferCursor(query: PageQuery, { fromDay, toDay, afterOfferId }: OfferPagePosition): string {
    const days = Buffer.alloc(dayRangeBytes);
    days.writeInt32BE(toDay, days.writeInt32BE(fromDay));
    return this.#signer.createCursor(Buffer.concat([days, Buffer.from(afterOfferId)]), encodePageQuery('offer', query));
  }

  /** Returns the position in a cursor of a page of offers, or null if this service did not issue the cursor for this query. */
  verifyOfferCursor(query: PageQuery, text: string): OfferPagePosition | null {
    const body = this.#signer.verify(text, encodePageQuery('offer', query));
    if (body === null) return null;
    const afterOfferId = body.toString('utf8', dayRangeBytes);
    return { fromDay: body.readInt32BE(0), toDay: body.readInt32BE(4), afterOfferId };
  }
}

function encodePageQuery(kind: keyof typeof pageKindNumbers, query: PageQuery): Buffer {
  const tag = query.referrerTag ?? '';
  return Buffer.concat([
    encodeTenant(query),
    Buffer.of(pageKindNumbers[kind], tag.length),
    Buffer.from(tag, 'latin1'),
    query.subs === null
      ? Buffer.alloc(0)
      : hash('sha256', Buffer.concat([...query.subs].sort(Buffer.compare)), 'buffer'),
  ]);
}

/**
 * Issues and verifies the cursors of pages of referrer tags (docs/contract.md#tags) or of experiments (docs/contract.md#experiments), whose
 * names match the pattern of tags. The body is the last tag or name of the page, and the query is the tenant:
 *
 *     account (4), vertical << 1 | test (1)
 *
 * A cursor contains a tag and no row number, because a rebuild of the analytics store may change row numbers.
 */
export class NameCursors {
  readonly #signer: CursorSigner;

  constructor(secrets: SecretSet, purpose: 'tag-cursor' | 'experiment-cursor') {
    this.#signer = new CursorSigner(secrets, purpose, tagCharactersMax, tenantBytes);
  }

  createCursor(tenant: CursorTenant, lastName: string): string {
    return this.#signer.createCursor(Buffer.from(lastName, 'latin1'), encodeTenant(tenant));
  }

  /** Returns the last name of the previous page, or null if this service did not issue the cursor for this tenant. */
  verify(tenant: CursorTenant, text: string): string | null {
    return this.#signer.verify(text, encodeTenant(tenant))?.toString('latin1') ?? null;
  }
}

/** Start of a page of the units of an experiment. */
export interface UnitsPosition {
  /** Last day of the figures, as a day number, which is the same for all pages. */
  readonly asOf: number;
  /** Last unit of the previous page, in a format of the analytics store, of at most 16 bytes. */
  readonly after: Uint8Array;
}

const dayBytes = 4;

/**
 * Issues and verifies the cursors of pages of units (docs/contract.md#units). A cursor is encrypted, because it contains the hash of a
 * visitor or the ledger position of a session. The plaintext has these parts (lengths in bytes):
 *
 *     last day (4), last unit (1 to 16)
 *
 * The associated data is the SHA-256 of the tenant and the name of the experiment, so a cursor is valid only for one experiment.
 */
export class UnitCursors {
  readonly #cipher: TokenCipher;

  constructor(secrets: SecretSet, random: RandomBytesPool) {
    this.#cipher = new TokenCipher(secrets, random, {
      encryptionPurpose: 'unit-cursor-pad',
      macPurpose: 'unit-cursor-tag',
      associatedDataBytes: digestBytes,
      plaintextBytesMax: dayBytes + unitHashByteLength,
    });
  }

  createCursor(tenant: CursorTenant, name: string, { asOf, after }: UnitsPosition): string {
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(hashExperiment(tenant, name), 0);
    buffer.set(after, buffer.writeInt32BE(asOf, plaintextOffset));
    return buffer.toString('base64url', digestBytes, this.#cipher.encrypt(dayBytes + after.length));
  }

  /** Returns the position in a cursor, or null if this service did not issue the cursor for this experiment. */
  verify(tenant: CursorTenant, name: string, text: string): UnitsPosition | null {
    const token = decodeCanonicalBase64url(text);
    if (token === null) return null;
    const { buffer, plaintextOffset } = this.#cipher;
    buffer.set(hashExperiment(tenant, name), 0);
    const end = this.#cipher.decrypt(token);
    if (end === null) return null;
    const asOf = buffer.readInt32BE(plaintextOffset);
    return { asOf, after: Uint8Array.from(buffer.subarray(plaintextOffset + dayBytes, end)) };
  }
}

function hashExperiment(tenant: CursorTenant, name: string): Buffer {
  return hash('sha256', Buffer.concat([encodeTenant(tenant), Buffer.from(name, 'latin1')]), 'buffer');
}
