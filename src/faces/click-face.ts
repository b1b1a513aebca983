import { bounds } from '../bounds.ts';
import { fixedHeaders, header } from '../http/header-text.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import { type ClickRequest, type FollowClickPorts, followClick } from '../operations/follow-click.ts';
import { answerReading } from './answer-reading.ts';
import { askAgain, fetchesAhead } from './fetches-ahead.ts';
import { clickNotFoundPage, sandboxLandingPage } from './pages.ts';
import { readQueryParameters } from './query-parameters.ts';
import { routeOf } from './routes.ts';

const clickParameters = ['sub', 'offer', 'v'] as const;
export const clickPath = '/c';
export const sandboxLandingPath = '/c/sandbox';
const clickRoute = routeOf('click');
const sandboxLandingRoute = routeOf('sandbox_landing');

const privately = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
// With a body, since the native engine ends some connections after an answer without one (docs/contributing/native-http.md).
const redirectHeaders = fixedHeaders({ 'Content-Type': 'text/plain; charset=utf-8', ...privately });
const redirectBody = 'Found';
const pageHeaders = fixedHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  ...privately,
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'X-Robots-Tag': 'noindex',
});

/** The redirect host (docs/contract.md#click-redirect): `/c` redirects a click to its lender, `/c/sandbox` is where sandbox clicks land. */
export class ClickFace {
  readonly #ports: FollowClickPorts;

  constructor(ports: FollowClickPorts) {
    this.#ports = ports;
  }

  readonly handle: Handler = (exchange) => {
    exchange.route = exchange.path === sandboxLandingPath ? sandboxLandingRoute : clickRoute;
    return answerReading(exchange, () => this.#answer(exchange));
  };

  #answer(exchange: Exchange): void | Promise<void> {
    if (exchange.path === sandboxLandingPath) {
      return exchange.reply({ status: 200, headers: pageHeaders, body: sandboxLandingPage });
    }
    if (fetchesAhead(exchange)) {
      // Refused rather than redirected, so that the browser asks again when the person really clicks.
      return exchange.reply({ status: 503, headers: askAgain, body: '' });
    }
    return this.#follow(exchange);
  }

  async #follow(exchange: Exchange): Promise<void> {
    const { query, method } = exchange;
    const outcome = await followClick(this.#ports, readClick(query, exchange.header('user-agent'), method));
    if (outcome.kind === 'unknown') return notFound(exchange);
    exchange.reply({
      status: 302,
      headers: header('Location', outcome.location) + redirectHeaders,
      body: redirectBody,
    });
  }
}

/** A `click_url` in the hands of a program that answers clicks itself. */
export function readClickUrl(url: string | URL, userAgent: string, method: string): ClickRequest {
  const text = String(url);
  const question = text.indexOf('?');
  return readClick(question < 0 ? '' : text.slice(question + 1), userAgent, method);
}

/** A repeated or badly encoded parameter is no link of ours, so it reads as an unknown session. Only a GET is a click. */
function readClick(query: string, userAgent: string, method: string): ClickRequest {
  const read = readQueryParameters(query, clickParameters);
  const { sub = '', offer = '', v = '' } = read.ok ? read.values : {};
  return { sub, offer, v, userAgent: userAgent.slice(0, bounds.userAgentCharactersMax), looksOnly: method !== 'GET' };
}

function notFound(exchange: Exchange): void {
  exchange.reply({ status: 404, headers: pageHeaders, body: clickNotFoundPage });
}
