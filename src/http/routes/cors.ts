import type { RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';

/** Headers of a response that depends on the `Origin` header but does not allow the page to read it. */
export const varyHeaders = formatHeaders({ Vary: 'Origin' });

/** The CORS headers of a group of routes. */
class CorsHeaders {
  readonly #exposed: HeaderText;
  readonly #preflight: HeaderText;

  /**
   * @param requestHeaders the request headers that a page may set
   * @param responseHeaders the response headers that a page may read
   */
  constructor(requestHeaders: readonly string[], responseHeaders: readonly string[]) {
    this.#exposed = formatHeaders({ Vary: 'Origin', 'Access-Control-Expose-Headers': responseHeaders.join(', ') });
    this.#preflight = formatHeaders({
      'Access-Control-Allow-Headers': requestHeaders.join(', '),
      'Access-Control-Max-Age': '600',
    });
  }

  /** Returns the headers that allow pages of an origin, or of all origins with `*`, to read the response. */
  readableBy(origin: string): HeaderText {
    return formatHeader('Access-Control-Allow-Origin', origin) + this.#exposed;
  }

  /** Returns the additional headers of the response to OPTIONS; the headers of {@link readableBy} are needed too. */
  preflight(methods: string): HeaderText {
    return formatHeader('Access-Control-Allow-Methods', methods) + this.#preflight;
  }
}

export const widgetCors = new CorsHeaders(['Content-Type'], ['Retry-After', 'X-RateLimit-Reset', 'X-Request-Id']);

const apiCors = new CorsHeaders(
  ['Authorization', 'Content-Type', 'Idempotency-Key'],
  [
    'X-Request-Id',
    'X-RateLimit-Limit',
    'X-RateLimit-Remaining',
    'X-RateLimit-Reset',
    'RateLimit',
    'RateLimit-Policy',
    'Retry-After',
    'Idempotency-Replayed',
  ],
);

/** Cross-origin access to the API from browsers, which is disabled unless origins are configured (SVC_CORS_ORIGINS). */
export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  headersFor(context: RequestContext): HeaderText {
    if (this.#origins.size === 0) return '';
    const origin = context.header('origin');
    return this.#origins.has(origin) ? apiCors.readableBy(origin) : varyHeaders;
  }

  /** Returns the headers of the response to OPTIONS on a path with these methods. */
  preflightHeaders(context: RequestContext, methods: string): HeaderText {
    const headers = this.headersFor(context);
    return headers === '' || headers === varyHeaders ? headers : headers + apiCors.preflight(methods);
  }
}
