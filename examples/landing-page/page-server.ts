import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { LandingPage } from './landing-page.ts';
import { html } from './web/html.ts';
import { type Reply, sendReply } from './web/reply.ts';
import { isPrefetch } from './web/requests.ts';
import { VisitorRateLimiter } from './web/visitor-rate-limiter.ts';

const pagesPerMinute = 120;
const connectionsMax = 1_000;
/** Maximum time to receive a request. */
const requestTimeoutMs = 10_000;
const questionsPath = '/questions/';

const assets: ReadonlyMap<string, { readonly type: string; readonly bytes: Buffer }> = new Map([
  ['/style.css', { type: 'text/css; charset=utf-8', bytes: readAsset('style.css') }],
  ['/size-widget.js', { type: 'text/javascript; charset=utf-8', bytes: readAsset('size-widget.js') }],
  ['/icon.svg', { type: 'image/svg+xml', bytes: readAsset('icon.svg') }],
]);

/** Creates the HTTP server: serves assets, limits the requests of each visitor and routes requests to pages. */
export function createPageServer(page: LandingPage, behindProxy: boolean, log: (line: string) => void): Server {
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
      sendReply(response, page.internalError());
    }
  });
  server.maxConnections = connectionsMax;
  return server;

  async function answer(request: IncomingMessage, method: string, path: string, search: string): Promise<Reply> {
    const allowed = allowedMethods(path);
    if (allowed === null) return page.notFound();
    // A HEAD request shows no page, so it creates no session.
    if (method === 'HEAD' && allowed.includes('GET')) return { status: 200, body: null };
    if (!allowed.includes(method)) return { status: 405, body: null, headers: { Allow: allowed.join(', ') } };
    if (isPrefetch(request)) return { status: 503, body: html`Ask again when somebody looks.` };
    const seconds = limit.retryAfterSeconds(clientAddress(request, behindProxy), performance.now());
    if (seconds > 0) return page.tooManyRequests(seconds);

    const query = new URLSearchParams(search);
    if (path === '/') return page.landing(request, query);
    if (path === '/answers') return method === 'POST' ? page.submit(request) : page.form(request);
    if (path === '/offers') return page.offers(request, query);
    if (path === '/results') return page.results(request);
    return page.question(request, path.slice(questionsPath.length));
  }
}

/** Returns the methods that a path supports; null for an unknown path. */
function allowedMethods(path: string): readonly string[] | null {
  if (path === '/answers') return ['GET', 'POST'];
  return path === '/' || path === '/offers' || path === '/results' || path.startsWith(questionsPath) ? ['GET'] : null;
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
