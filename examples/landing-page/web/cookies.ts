/** A cookie of the request, or undefined. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}

export interface CookieOptions {
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
