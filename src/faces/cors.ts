import type { Exchange } from '../http/listener.ts';

const exposed = [
  'X-Request-Id',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Idempotency-Replayed',
].join(', ');
const preflightSeconds = '600';

/** Cross-origin access to the API from a browser: off unless origins are configured (SVC_CORS_ORIGINS). */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** Headers, flat, that let the asking page read the answer; none when its origin is not allowed. */
  headersFor(exchange: Exchange): readonly string[] {
    if (this.#origins.size === 0) return [];
    const origin = exchange.header('origin');
    if (!this.#origins.has(origin)) return ['Vary', 'Origin'];
    return ['Access-Control-Allow-Origin', origin, 'Vary', 'Origin', 'Access-Control-Expose-Headers', exposed];
  }

  /** Headers, flat, of the answer to OPTIONS on a path that answers these methods. */
  preflightHeaders(exchange: Exchange, allow: string): readonly string[] {
    const headers = this.headersFor(exchange);
    if (headers.length <= 2) return headers;
    return [
      ...headers,
      'Access-Control-Allow-Methods',
      allow,
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, Idempotency-Key',
      'Access-Control-Max-Age',
      preflightSeconds,
    ];
  }
}
