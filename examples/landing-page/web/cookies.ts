import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';

/** A cookie of the request, or undefined. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

interface CookieOptions {
  /** Only over HTTPS, and under a name that no other host of the domain can set. */
  readonly secure: boolean;
  /** Null: until the browser is closed. */
  readonly maxAgeSeconds: number | null;
}

/** The browser sends the cookie with our own pages and with links to us, never with a form that another site posts here. */
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
 * Seals text so that whoever carries it can neither read nor change it. The key comes from a secret the server has anyway:
 * nothing more to configure, and every instance of the page, also after a restart, opens what another one sealed.
 */
export class CookieCipher {
  readonly #key: Buffer;

  /** `purpose` keeps what is sealed for one use from being taken for another. */
  constructor(secret: string, purpose: string) {
    this.#key = Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
  }

  /** Of letters, digits, `-` and `_` only. */
  encrypt(text: string): string {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce, { authTagLength: tagBytes });
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /** Null for anything that this key has not sealed. */
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
