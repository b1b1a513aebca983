import { bounds } from '../bounds.ts';
import { fixedHeaders } from '../http/header-text.ts';
import type { Exchange } from '../http/listener.ts';

/** Browsers say so when they fetch ahead of what somebody may do, each in its own header. */
export function purposeOf(exchange: Exchange): string {
  return exchange.header('sec-purpose') || exchange.header('purpose') || exchange.header('x-moz');
}

/** Whether a request is made before anybody has asked for it, by what its purpose header says; empty when it has none. */
export function fetchesAhead(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}

/** For a 503 to such a request, rather than an answer that would count: the browser asks again when the person really does. */
export const askAgain = fixedHeaders({ 'Cache-Control': 'no-store', 'Retry-After': String(bounds.retryAfterSeconds) });
