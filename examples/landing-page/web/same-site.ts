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
