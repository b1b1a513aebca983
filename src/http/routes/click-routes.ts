import { bounds } from '../../bounds.ts';
import { type ClickRequest, type FollowClickDeps, followClick } from '../../operations/follow-click.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { clickNotFoundPage, sandboxLandingPage } from './html-pages.ts';
import { respondToRead } from './replies.ts';
import { isPrefetch, parseQueryParameters, retryLaterHeaders } from './request-parsing.ts';
import { routeIndexOf } from './route-names.ts';

const clickParameters = ['sub', 'offer', 'v'] as const;
export const clickPath = '/c';
export const sandboxLandingPath = '/c/sandbox';
const clickRouteIndex = routeIndexOf('click');
const sandboxLandingRouteIndex = routeIndexOf('sandbox_landing');

const privacyHeaders = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
// With a body, since the native engine ends some connections after an answer without one (docs/contributing/native-http.md).
const redirectHeaders = formatHeaders({ 'Content-Type': 'text/plain; charset=utf-8', ...privacyHeaders });
const redirectBody = 'Found';
const pageHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  ...privacyHeaders,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'X-Robots-Tag': 'noindex',
});

/** The redirect host (docs/contract.md#click-redirect): `/c` redirects a click to its lender, `/c/sandbox` is where sandbox clicks land. */
export class ClickRoutes {
  readonly #deps: FollowClickDeps;

  constructor(deps: FollowClickDeps) {
    this.#deps = deps;
  }

  readonly handle: Handler = (exchange) => {
    exchange.routeIndex = exchange.path === sandboxLandingPath ? sandboxLandingRouteIndex : clickRouteIndex;
    return respondToRead(exchange, () => this.#respond(exchange));
  };

  #respond(exchange: RequestContext): void | Promise<void> {
    if (exchange.path === sandboxLandingPath) {
      return exchange.reply({ status: 200, headers: pageHeaders, body: sandboxLandingPage });
    }
    if (isPrefetch(exchange)) {
      // Refused rather than redirected, so that the browser asks again when the person really clicks.
      return exchange.reply({ status: 503, headers: retryLaterHeaders, body: '' });
    }
    return this.#redirect(exchange);
  }

  async #redirect(exchange: RequestContext): Promise<void> {
    const { query, method } = exchange;
    const outcome = await followClick(this.#deps, parseClickQuery(query, exchange.header('user-agent'), method));
    if (outcome.kind === 'unknown') return sendNotFound(exchange);
    exchange.reply({
      status: 302,
      headers: formatHeader('Location', outcome.location) + redirectHeaders,
      body: redirectBody,
    });
  }
}

/** A `click_url` in the hands of a program that answers clicks itself. */
export function parseClickUrl(url: string | URL, userAgent: string, method: string): ClickRequest {
  const text = String(url);
  const question = text.indexOf('?');
  return parseClickQuery(question < 0 ? '' : text.slice(question + 1), userAgent, method);
}

/** A repeated or badly encoded parameter is no link of ours, so it reads as an unknown session. Only a GET is a click. */
function parseClickQuery(query: string, userAgent: string, method: string): ClickRequest {
  const read = parseQueryParameters(query, clickParameters);
  const { sub = '', offer = '', v = '' } = read.ok ? read.values : {};
  return { sub, offer, v, userAgent: userAgent.slice(0, bounds.userAgentCharactersMax), isHead: method !== 'GET' };
}

function sendNotFound(exchange: RequestContext): void {
  exchange.reply({ status: 404, headers: pageHeaders, body: clickNotFoundPage });
}
