import { bounds } from '../bounds.ts';
import { formatHeaders } from '../http/header-text.ts';
import type { RequestContext } from '../http/listener.ts';

/** Whether a browser makes the request before a person asks for it. Any of the three headers that tell it counts. */
export function isPrefetch(exchange: RequestContext): boolean {
  return (
    isPrefetchPurpose(exchange.header('sec-purpose')) ||
    isPrefetchPurpose(exchange.header('purpose')) ||
    isPrefetchPurpose(exchange.header('x-moz'))
  );
}

/** Whether the value of such a header, empty where there is none, names a fetch ahead. */
export function isPrefetchPurpose(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}

/** For a 503 to such a request, rather than an answer that would count: the browser asks again when the person really does. */
export const retryLaterHeaders = formatHeaders({ 'Cache-Control': 'no-store', 'Retry-After': String(bounds.retryAfterSeconds) });
