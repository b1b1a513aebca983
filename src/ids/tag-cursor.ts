import type { ApiKeyMode } from '../domain/mode.ts';
import type { SecretSet } from '../secrets/secret-set.ts';
import { decodeCanonicalBase64url, TokenSigner } from './signed-token.ts';
import { encodeVerticalAndMode } from './sub-id.ts';

interface CursorTenant {
  readonly account: number;
  readonly vertical: number;
  readonly mode: ApiKeyMode;
}

const tagOffset = 1;
const tagCharactersMax = 64;
const macBytes = 15;
const tenantBytes = 4 + 1;
const messageBytesMax = tagOffset + tagCharactersMax + tenantBytes;

/**
 * Issues and verifies the cursors of pages of referrer tags (docs/contract.md#tags). A cursor has these parts in base64url (lengths in bytes):
 *
 *     secret number (1), last tag of the page (3 to 64), MAC (15)
 *
 * The MAC is an HMAC-SHA-256 truncated to 120 bits. It signs the preceding parts and the tenant, so a cursor is valid only for one tenant:
 *
 *     account (4), vertical << 1 | test (1)
 *
 * A cursor contains a tag and no row number, because a rebuild of the analytics store may change row numbers.
 */
export class TagCursors {
  readonly #signer: TokenSigner;
  readonly #message = Buffer.alloc(messageBytesMax);

  constructor(secrets: SecretSet) {
    this.#signer = new TokenSigner(secrets, {
      purpose: 'tag-cursor',
      secretNumberOffset: 0,
      macBytes,
      messageBytesMax,
    });
  }

  createCursor(tenant: CursorTenant, lastTag: string): string {
    const macOffset = tagOffset + lastTag.length;
    const cursor = Buffer.alloc(macOffset + macBytes);
    cursor[0] = this.#signer.newestSecretNumber;
    cursor.write(lastTag, tagOffset, 'latin1');
    this.#signer.sign(cursor, macOffset, this.#message, this.#composeSignedMessage(cursor, macOffset, tenant));
    return cursor.toString('base64url');
  }

  /** Returns the last tag of the previous page, or null if this service did not issue the cursor for this tenant. */
  verify(tenant: CursorTenant, text: string): string | null {
    const cursor = decodeCanonicalBase64url(text);
    if (cursor === null) return null;
    const macOffset = cursor.length - macBytes;
    if (macOffset <= tagOffset || macOffset > tagOffset + tagCharactersMax) return null;
    const messageBytes = this.#composeSignedMessage(cursor, macOffset, tenant);
    if (!this.#signer.verify(cursor, macOffset, this.#message, messageBytes)) return null;
    return cursor.toString('latin1', tagOffset, macOffset);
  }

  #composeSignedMessage(cursor: Buffer, macOffset: number, { account, vertical, mode }: CursorTenant): number {
    const message = this.#message;
    let offset = cursor.copy(message, 0, 0, macOffset);
    offset = message.writeUInt32BE(account, offset);
    return message.writeUInt8(encodeVerticalAndMode(vertical, mode), offset);
  }
}
