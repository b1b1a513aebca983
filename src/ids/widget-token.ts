import type { SecretSet } from '../secrets/secret-set.ts';
import { decodeCanonicalBase64url, TokenSigner } from './signed-token.ts';
import { subIdByteLength } from './sub-id.ts';

const expiryOffset = 1;
const macOffset = expiryOffset + 6;
const macBytes = 14;
const tokenBytes = macOffset + macBytes;
const messageBytes = subIdByteLength + macOffset;

/**
 * Issues and verifies widget tokens (docs/contract.md#widget-tokens). A widget token gives access to the widget of one session until the
 * token expires. Every request of the widget contains the token and the session's sub_id. A widget token has 28 characters in base64url and
 * these parts (offsets and lengths in bytes):
 *
 *     0  number of the secret   1 byte
 *     1  expiry, ms             6
 *     7  MAC                   14    HMAC-SHA-256 over the sub_id and bytes 0 to 6, truncated to 112 bits
 */
export class WidgetTokens {
  readonly #signer: TokenSigner;
  readonly #token = Buffer.alloc(tokenBytes);
  readonly #message = Buffer.alloc(messageBytes);

  constructor(secrets: SecretSet) {
    this.#signer = new TokenSigner(secrets, {
      purpose: 'widget',
      secretNumberOffset: 0,
      macBytes,
      messageBytesMax: messageBytes,
    });
  }

  issueWidgetToken(sub: Uint8Array, expiresMs: number): string {
    const token = this.#token;
    token[0] = this.#signer.newestSecretNumber;
    token.writeUIntBE(expiresMs, expiryOffset, 6);
    this.#signer.sign(token, macOffset, this.#composeSignedMessage(sub, token), messageBytes);
    return token.toString('base64url');
  }

  /** Returns the expiry time of a token in Unix milliseconds, or null if the token was not issued for this session. */
  verify(sub: Uint8Array, text: string): number | null {
    if (text.length !== (tokenBytes / 3) * 4) return null;
    const token = decodeCanonicalBase64url(text);
    if (token === null || !this.#signer.verify(token, macOffset, this.#composeSignedMessage(sub, token), messageBytes))
      return null;
    return token.readUIntBE(expiryOffset, 6);
  }

  #composeSignedMessage(sub: Uint8Array, token: Buffer): Buffer {
    this.#message.set(sub, 0);
    token.copy(this.#message, subIdByteLength, 0, macOffset);
    return this.#message;
  }
}
