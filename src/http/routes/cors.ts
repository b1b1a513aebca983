import type { RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';

const varyHeaders = formatHeaders({ Vary: 'Origin' });
const exposedHeaders = formatHeaders({
  Vary: 'Origin',
  'Access-Control-Expose-Headers': [
    'X-Request-Id',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'Idempotency-Replayed',
  ].join(', '),
});
const preflightConstants = formatHeaders({
  'Access-Control-Allow-Headers': 'Authorization, Content-Type, Idempotency-Key',
  'Access-Control-Max-Age': '600',
});

/** Cross-origin access to the API from a browser: off unless origins are configured (SVC_CORS_ORIGINS). */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers that let the asking page read the answer; none of them when its origin is not allowed. */
  headersFor(exchange: RequestContext): HeaderText {
    if (this.#origins.size === 0) return '';
    const origin = exchange.header('origin');
    return this.#origins.has(origin)
      ? formatHeader('Access-Control-Allow-Origin', origin) + exposedHeaders
      : varyHeaders;
  }

  /** Headers of the answer to OPTIONS on a path that answers these methods. */
  preflightHeaders(exchange: RequestContext, allow: string): HeaderText {
    const headers = this.headersFor(exchange);
    if (headers === '' || headers === varyHeaders) return headers;
    return headers + formatHeader('Access-Control-Allow-Methods', allow) + preflightConstants;
  }
}
