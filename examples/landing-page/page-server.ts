import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { conditionalFieldRules } from './form/fields.ts';
import type { LandingPage } from './landing-page.ts';
import { formatWait } from './pages/formatting.ts';
import { errorPage, notFoundPage } from './pages/layout.ts';
import { startPage } from './pages/start-page.ts';
import { fieldsOf } from './products/product.ts';
import { products } from './products/products.ts';
import { html } from './web/html.ts';
import { type Reply, sendReply } from './web/reply.ts';
import { isPrefetch } from './web/requests.ts';
import { VisitorRateLimiter } from './web/visitor-rate-limiter.ts';

const pagesPerMinute = 120;
const connectionsMax = 1_000;
/** Maximum time to receive a request. */
const requestTimeoutMs = 10_000;
const questionsPath = 'questions/';

const assets: ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }> = new Map([
  ['/style.css', { type: 'text/css; charset=utf-8', bytes: readStyle() }],
  ['/size-widget.js', { type: 'text/javascript; charset=utf-8', bytes: readAsset('size-widget.js') }],
  ['/icon.svg', { type: 'image/svg+xml', bytes: readAsset('icon.svg') }],
]);

/**
 * Creates the HTTP server: serves assets, limits the requests of each visitor and routes requests to pages.
 *
 * @param pages landing pages by the segment of their product
 */
export function createPageServer(
  pages: ReadonlyMap<string, LandingPage>,
  behindProxy: boolean,
  log: (line: string) => void,
): Server {
  const limit = new VisitorRateLimiter(pagesPerMinute);
  const timeouts = { requestTimeout: requestTimeoutMs, headersTimeout: requestTimeoutMs };
  const server = createServer(timeouts, async (request, response) => {
    const { method = '', url = '' } = request;
    const [path = '', search = ''] = url.split('?', 2);
    const asset = assets.get(path);
    if (asset !== undefined && (method === 'GET' || method === 'HEAD')) {
      response.writeHead(200, {
        'Content-Type': asset.type,
        'Cache-Control': 'public, max-age=300',
        'X-Content-Type-Options': 'nosniff',
      });
      response.end(asset.bytes);
      return;
    }
    try {
      sendReply(response, await answer(request, method, path, search));
    } catch (fault) {
      // The visitor disconnected before the request was complete, which is not an error.
      if (request.destroyed && !request.complete) return;
      log(fault instanceof Error ? (fault.stack ?? fault.message) : String(fault));
      sendReply(response, errorPage(500, 'Something went wrong on our side', 'Please try again in a moment.'));
    }
  });
  server.maxConnections = connectionsMax;
  return server;

  async function answer(request: IncomingMessage, method: string, path: string, search: string): Promise<Reply> {
    // The path of a page is the segment of a product and the path within its pages, such as /mortgage/offers.
    const [, segment, subpath = ''] = /^\/([^/]*)(?:\/(.*))?$/.exec(path) ?? [];
    const page = pages.get(segment ?? '');
    const product = products.find((known) => known.segment === segment);
    if (page === undefined && product !== undefined) {
      return errorPage(404, 'Not available', `This demonstration has no API key for ${product.name}.`);
    }
    const allowed = path === '/' ? ['GET'] : page === undefined ? null : allowedMethods(subpath);
    if (allowed === null) return notFoundPage();
    // A HEAD request shows no page, so it creates no session.
    if (method === 'HEAD' && allowed.includes('GET')) return { status: 200, body: null };
    if (!allowed.includes(method)) return { status: 405, body: null, headers: { Allow: allowed.join(', ') } };
    if (isPrefetch(request)) return { status: 503, body: html`Prefetching is not supported.` };
    const seconds = limit.retryAfterSeconds(clientAddress(request, behindProxy), performance.now());
    if (seconds > 0) return tooManyRequestsPage(seconds);

    const query = new URLSearchParams(search);
    if (page === undefined) return { status: 200, body: startPage() };
    if (subpath === '') return page.landing(request, query);
    if (subpath === 'answers') return method === 'POST' ? page.submit(request) : page.form(request);
    if (subpath === 'offers') return page.offers(request, query);
    if (subpath === 'results') return page.results(request);
    return page.question(request, subpath.slice(questionsPath.length));
  }
}

/** Returns the methods that a path within the pages of a product supports; null for an unknown path. */
function allowedMethods(subpath: string): readonly string[] | null {
  if (subpath === 'answers') return ['GET', 'POST'];
  return ['', 'offers', 'results'].includes(subpath) || subpath.startsWith(questionsPath) ? ['GET'] : null;
}

function tooManyRequestsPage(seconds: number): Reply {
  const reply = errorPage(429, 'That was a lot at once', `Please wait ${formatWait(seconds)} and reload this page.`);
  return { ...reply, headers: { 'Retry-After': String(seconds) } };
}

/** Returns the client address. Only the last address of `X-Forwarded-For` is from the proxy; clients can forge the others. */
function clientAddress({ headers, socket }: IncomingMessage, behindProxy: boolean): string {
  const forwarded = headers['x-forwarded-for'];
  const seenByProxy = typeof forwarded === 'string' ? forwarded.split(',').at(-1)!.trim() : undefined;
  return (behindProxy ? seenByProxy : undefined) ?? socket.remoteAddress ?? '';
}

function readAsset(name: string): Buffer {
  return readFileSync(new URL(`assets/${name}`, import.meta.url));
}

/** Returns the style sheet with the rules of the conditional fields of all products. */
function readStyle(): Buffer {
  const rules = products.map((product) => conditionalFieldRules(`/${product.segment}/answers`, fieldsOf(product)));
  return Buffer.concat([readAsset('style.css'), Buffer.from(rules.join(''))]);
}
