import type { RequestContext } from '../../engines/listener.ts';

/**
 * Whether a page of this service has sent the request, so that other websites cannot use the login of a visitor (CSRF).
 *
 * Over https, browsers send the header `Sec-Fetch-Site`. Over http, the host in `Origin` must equal the host of the request. A browser omits
 * `Origin` only in GET and HEAD requests of the same origin, and in requests whose response the sending page cannot read.
 */
export function isSameOriginRequest(context: RequestContext): boolean {
  const site = context.getRequestHeader('sec-fetch-site');
  if (site !== '') return site === 'same-origin';
  const origin = context.getRequestHeader('origin');
  if (origin === '') return context.method === 'GET' || context.method === 'HEAD';
  const host = context.getRequestHeader('host').toLowerCase();
  return origin === `http://${host}` || origin === `https://${host}`;
}
