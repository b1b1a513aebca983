import { hash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Whether a post comes from a page of ours. Browsers say so themselves: in `Sec-Fetch-Site`, older ones in `Origin`. Whoever
 * sends neither is no browser, and carries no visitor's cookies.
 */
export function isSameOrigin({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const { origin } = headers;
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === headers.host);
}

/** Whether the browser only looks ahead: nobody has seen the page yet, so it must not count as a visit. */
export function isPrefetch({ headers }: IncomingMessage): boolean {
  return /prefetch|prerender/.test(`${headers['sec-purpose']} ${headers.purpose} ${headers['x-moz']}`);
}

/** Far more than our longest form, and little enough that nobody can fill our memory. */
const formBytesMax = 16 * 1024;

type FormResult =
  | { readonly ok: true; readonly form: URLSearchParams }
  | { readonly ok: false; readonly status: 413 | 415 };

/** The fields of a posted form. */
export async function readForm(request: IncomingMessage): Promise<FormResult> {
  const [contentType] = (request.headers['content-type'] ?? '').split(';');
  if (contentType!.trim().toLowerCase() !== 'application/x-www-form-urlencoded') return { ok: false, status: 415 };
  if (Number(request.headers['content-length'] ?? 0) > formBytesMax) return { ok: false, status: 413 };
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Stopping halfway must not break the connection, which the refusal has to travel on.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > formBytesMax) return { ok: false, status: 413 };
    chunks.push(chunk);
  }
  return { ok: true, form: new URLSearchParams(Buffer.concat(chunks).toString('utf8')) };
}

/**
 * Figures about revenue are not for visitors. With a password, browsers ask for it (any user name). Without one they are shown
 * to this machine alone: by a loopback address, under a loopback name (another site may point its own name here), and not
 * through a proxy, whose connections all come from this machine.
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

/** Takes as long whatever is wrong. */
function equalsInConstantTime(given: string, wanted: string): boolean {
  return timingSafeEqual(hash('sha256', given, 'buffer'), hash('sha256', wanted, 'buffer'));
}
