import type { RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';

/** Headers of a response that no page of another origin may read. Caches need `Vary`, because the response depends on `Origin`. */
export const varyByOriginHeaders = formatHeaders({ Vary: 'Origin' });
const varyByAcceptHeaders = formatHeaders({ Vary: 'Accept' });

/**
 * Creates functions that format the CORS headers of one group of routes.
 *
 * @param requestHeaders the request headers that a page may set, separated by commas
 * @param responseHeaders the response headers that a page may read, separated by commas
 */
function corsHeaders(requestHeaders: string, responseHeaders: string) {
  const exposed = formatHeaders({ Vary: 'Origin', 'Access-Control-Expose-Headers': responseHeaders });
  const preflight = formatHeaders({ 'Access-Control-Allow-Headers': requestHeaders, 'Access-Control-Max-Age': '600' });
  return {
    /** Returns the headers that allow pages of an origin to read the response; `*` allows pages of all origins. */
    allowOriginHeaders: (origin: string): HeaderText => formatHeader('Access-Control-Allow-Origin', origin) + exposed,
    /** Returns the headers that only a preflight response needs. A preflight response also needs the headers from `allowOriginHeaders`. */
    preflightHeaders: (methods: string): HeaderText =>
      formatHeader('Access-Control-Allow-Methods', methods) + preflight,
  };
}

export const widgetCors = corsHeaders('Content-Type', 'Retry-After, X-RateLimit-Reset, X-Request-Id');

const apiCors = corsHeaders(
  'Authorization, Content-Type, Idempotency-Key',
  'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, RateLimit, RateLimit-Policy, ' +
    'Retry-After, Idempotency-Replayed, Link',
);

/** CORS policy of the API. Browsers can call the API only from the origins in SVC_CORS_ORIGINS, which is empty by default. */
export class CorsPolicy {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** @param variesByAccept whether the response also depends on `Accept`, which the header `Vary` then lists */
  responseHeaders(context: RequestContext, variesByAccept = false): HeaderText {
    if (this.#origins.size === 0) return variesByAccept ? varyByAcceptHeaders : '';
    const origin = context.getRequestHeader('origin');
    const headers = this.#origins.has(origin) ? apiCors.allowOriginHeaders(origin) : varyByOriginHeaders;
    return variesByAccept ? headers.replace('Vary: Origin', 'Vary: Origin, Accept') : headers;
  }

  /** Returns the CORS headers of the response to an OPTIONS request. `methods` lists the allowed methods of the path. */
  preflightHeaders(context: RequestContext, methods: string): HeaderText {
    const headers = this.responseHeaders(context);
    return headers === '' || headers === varyByOriginHeaders ? headers : headers + apiCors.preflightHeaders(methods);
  }
}
