import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Whether a POST request comes from a page of this server, according to `Sec-Fetch-Site`, or `Origin` in older browsers.
 * A request without these headers does not come from a browser and is accepted.
 */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === headers.host);
}

/** Whether the browser prefetches, prerenders or previews the page. The visitor has not seen the page, so it is not a visit. */
export function isPrefetch({ headers }: IncomingMessage): boolean {
  const purposes = [headers['sec-purpose'], headers.purpose, headers['x-purpose'], headers['x-moz']];
  return /prefetch|prerender|preview/i.test(purposes.join(' '));
}

/** Maximum size of a posted form in bytes: much larger than the longest form, and small enough to limit the memory. */
const formBytesMax = 16 * 1024;

type FormResult =
  | { readonly ok: true; readonly form: URLSearchParams }
  | { readonly ok: false; readonly status: 413 | 415 };

/** Reads the fields of a posted form. Fails with status 415 for another content type, and 413 above the size limit. */
export async function readForm(request: IncomingMessage): Promise<FormResult> {
  const [contentType] = (request.headers['content-type'] ?? '').split(';');
  if (contentType!.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return { ok: false, status: 415 };
  if (Number(request.headers['content-length'] ?? 0) > formBytesMax) return { ok: false, status: 413 };
  const chunks: Buffer[] = [];
  let bytes = 0;
  // The iterator must not close the connection when the loop ends early, because the error response is sent over it.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > formBytesMax) return { ok: false, status: 413 };
    chunks.push(chunk);
  }
  return { ok: true, form: new URLSearchParams(Buffer.concat(chunks).toString('utf8')) };
}

/**
 * Checks the access to the revenue figures. With a password, the browser asks for the password; any user name is accepted.
 * Without a password, the figures are shown only to requests from a loopback address with a loopback host name and without
 * a proxy. The host name is checked because another site can resolve its name to this machine.
 */
export function checkResultsAccess(
  { headers, socket }: IncomingMessage,
  password: string | null,
): 'open' | 'ask' | 'closed' {
  if (password !== null) {
    const given = /^Basic ([A-Za-z0-9+/]+=*)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    const text = Buffer.from(given, 'base64').toString('utf8');
    return equalsInConstantTime(text.slice(text.indexOf(':') + 1), password) ? 'open' : 'ask';
  }
  const fromHere = /^(::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '');
  const byOurName = /^(127\.0\.0\.1|localhost|\[::1\])(:\d+)?$/.test(headers.host ?? '');
  const throughProxy = headers['x-forwarded-for'] !== undefined || headers.forwarded !== undefined;
  return fromHere && byOurName && !throughProxy ? 'open' : 'closed';
}

/** Compares two texts in a time that does not depend on their content. */
function equalsInConstantTime(given: string, wanted: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'));
}
