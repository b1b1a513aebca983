import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** Returns the value of a cookie in a `Cookie` header; undefined if the cookie is absent. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

interface CookieOptions {
  /** Sends the cookie only over HTTPS, with the prefix `__Host-`, which no other host of the domain can set. */
  readonly secure: boolean;
  /** Lifetime in seconds; null for a cookie that the browser deletes when it closes. */
  readonly maxAgeSeconds: number | null;
}

/** Formats a `Set-Cookie` header. `SameSite=Lax` protects against forms that another site posts to this page. */
export function cookieHeader(name: string, value: string, { secure, maxAgeSeconds }: CookieOptions): string {
  const age = maxAgeSeconds === null ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${cookieName(name, secure)}=${value}; Path=/; HttpOnly; SameSite=Lax${age}${secure ? '; Secure' : ''}`;
}

export function cookieName(name: string, secure: boolean): string {
  return secure ? `__Host-${name}` : name;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * Encrypts and authenticates text with AES-256-GCM. The key is derived from a secret of the server, so that every instance of
 * the page can decrypt the cookies, also after a restart.
 */
export class CookieCipher {
  readonly #key: Buffer;

  /** @param purpose distinguishes keys: text that was encrypted for one purpose cannot be decrypted for another */
  constructor(secret: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  }

  /** Returns the encrypted text in base64url. */
  encrypt(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Returns the decrypted text; null if this key did not encrypt it. */
  decrypt(closed: string): string | null {
    const bytes = Buffer.from(closed, 'base64url');
    if (bytes.length < nonceBytes + tagBytes) return null;
    const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    try {
      return decipher.update(bytes.subarray(nonceBytes + tagBytes), undefined, 'utf8') + decipher.final('utf8');
    } catch {
      return null;
    }
  }
}
