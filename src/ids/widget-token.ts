import type { Hmac } from '../secrets/hmac.ts';
import type { SecretRing } from '../secrets/secret-ring.ts';
import { decodeCanonicalBase64url, deriveHmacs } from './signed-token.ts';
import { subIdByteLength } from './sub-id.ts';

const expiryOffset = 1;
const macOffset = expiryOffset + 6;
const macBytes = 14;
const tokenBytes = macOffset + macBytes;
const signedBytes = subIdByteLength + macOffset;

/**
 * Widget tokens (docs/contract.md#widget-tokens): each opens the widget of one session until it expires. A token travels through
 * browsers beside its sub_id, which it therefore does not repeat:
 *
 *     0  secret number   1 byte
 *     1  expiry, ms      6
 *     7  MAC            14    HMAC-SHA-256 over the sub_id and what stands before it, cut to 112 bits
 *
 * in base64url, 28 characters. Serves one thread: its buffers are reused.
 */
export class WidgetTokens {
  readonly #hmacs: readonly (Hmac | undefined)[];
  readonly #newestSecretNumber: number;
  readonly #token = Buffer.alloc(tokenBytes);
  readonly #signed = Buffer.alloc(signedBytes);

  constructor(secrets: SecretRing) {
    this.#newestSecretNumber = secrets.newest.number;
    this.#hmacs = deriveHmacs(secrets, 'widget', signedBytes);
  }

  issue(sub: Uint8Array, expiresMs: number): string {
    const token = this.#token;
    token[0] = this.#newestSecretNumber;
    token.writeUIntBE(expiresMs, expiryOffset, 6);
    this.#writeSignedBytes(sub, token);
    this.#hmacs[this.#newestSecretNumber]!.sign(this.#signed, signedBytes, token, macOffset, macBytes);
    return token.toString('base64url');
  }

  /** When the token ends, as wall time; null when it was not issued for this session. */
  verify(sub: Uint8Array, text: string): number | null {
    if (text.length !== (tokenBytes / 3) * 4) return null;
    const token = decodeCanonicalBase64url(text);
    const signer = token === null ? undefined : this.#hmacs[token[0]!];
    if (token === null || signer === undefined) return null;
    this.#writeSignedBytes(sub, token);
    if (!signer.verify(this.#signed, signedBytes, token, macOffset, macBytes)) return null;
    return token.readUIntBE(expiryOffset, 6);
  }

  /** Lays out what the MAC covers. */
  #writeSignedBytes(sub: Uint8Array, token: Buffer): void {
    this.#signed.set(sub, 0);
    token.copy(this.#signed, subIdByteLength, 0, macOffset);
  }
}
