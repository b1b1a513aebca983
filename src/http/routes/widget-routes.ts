import { bounds } from '../../bounds.ts';
import type { Refusal } from '../../domain/outcome.ts';
import { parseOfferSelection } from '../../operations/get-marketplace.ts';
import { type RecordWidgetEventsDeps, recordWidgetEvents } from '../../operations/record-widget-events.ts';
import type { ShowOffersDeps } from '../../operations/show-offers.ts';
import { showWidgetOffers } from '../../operations/show-widget-offers.ts';
import {
  checkWidgetRateLimit,
  type VerifyWidgetLinkDeps,
  verifyWidgetLink,
} from '../../operations/verify-widget-link.ts';
import type { RandomPool } from '../../secrets/random-pool.ts';
import type { Session } from '../../sessions/session-store.ts';
import type { EmbedPolicy } from '../../widgets/embed-policy.ts';
import { type WidgetParameters, widgetPageCsp, widgetPageHtml } from '../../widgets/widget-html.ts';
import type { WidgetScript } from '../../widgets/widget-script.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { widgetExpiredPage, widgetLinkInvalidPage } from './html-pages.ts';
import { allowReadHeaders, errorReply, jsonHeaders, respondToRead } from './replies.ts';
import { isPrefetch, parseJsonBody, parseQueryParameters, retryLaterHeaders } from './request-parsing.ts';
import { routeIndexOf } from './route-names.ts';
import { createFileSender, readFileRequest } from './static-files.ts';

/** What the address of a widget's page, and of what its script asks for, may hold (docs/contract.md#embed-code). */
const widgetLinkParameters = ['sub', 'token', 'sort', 'max_offers', 'load'] as const;

/** The values sent; undefined where absent. */
export type WidgetLinkParameters = Partial<Record<(typeof widgetLinkParameters)[number], string>>;

const scriptHeaders = formatHeaders({
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
});

/** The door of the widget's script, which every page loads. */
function widgetScriptRoute(script: WidgetScript): Handler {
  const send = createFileSender(script, scriptHeaders);
  return (exchange) => respondToRead(exchange, () => send(exchange, readFileRequest(exchange)));
}

interface WidgetApiRoutesDeps extends VerifyWidgetLinkDeps, ShowOffersDeps, RecordWidgetEventsDeps {}

const allowPostHeaders = formatHeaders({ Allow: 'POST, OPTIONS' });
const varyHeaders = formatHeaders({ Vary: 'Origin' });
const exposedHeaders = formatHeaders({
  'Access-Control-Expose-Headers': 'Retry-After, X-RateLimit-Reset, X-Request-Id',
});
const preflightConstants = formatHeaders({
  'Access-Control-Allow-Headers': 'Content-Type',
  'Access-Control-Max-Age': '600',
});

/** A request of a live widget, from a page that may show it. */
interface CheckedWidgetRequest {
  readonly session: Session;
  readonly expiresMs: number;
  readonly parameters: WidgetLinkParameters & { readonly sub: string };
  /** Headers that let the page read the answer. */
  readonly cors: HeaderText;
}

/**
 * What the widget's script asks for and tells, from our own page or from a partner's. Every answer can be read by the page that
 * asked, so that the script can tell what is wrong; but offers are for pages of allowed origins alone. The checks, in order:
 *
 *     method -> link -> origin -> session -> limit of the session -> what is asked
 */
class WidgetApiRoutes {
  readonly #deps: WidgetApiRoutesDeps;

  constructor(deps: WidgetApiRoutesDeps) {
    this.#deps = deps;
  }

  /** `GET /w/offers`. A prefetch gets 503, because the answer would be a view (docs/contract.md#widget-views). */
  getOffers(exchange: RequestContext): void | Promise<void> {
    const ahead = isPrefetch(exchange);
    const admitted = this.#checkRequest(exchange, 'GET');
    if (admitted === null) return;
    if (ahead) exchange.reply({ status: 503, headers: retryLaterHeaders + admitted.cors, body: '' });
    else return this.#sendOffers(exchange, admitted);
  }

  /** `POST /w/events`. */
  postEvents(exchange: RequestContext): void {
    const admitted = this.#checkRequest(exchange, 'POST');
    if (admitted !== null) exchange.readBody((bytes) => this.#recordEvents(exchange, admitted, bytes));
  }

  async #sendOffers(
    exchange: RequestContext,
    { session, expiresMs, parameters, cors }: CheckedWidgetRequest,
  ): Promise<void> {
    const which = { subId: parameters.sub, expiresMs };
    const counts = exchange.method !== 'HEAD';
    const outcome = await showWidgetOffers(this.#deps, session, which, parameters, counts, exchange);
    if (outcome.ok) exchange.reply({ status: 200, headers: jsonHeaders + cors, body: outcome.value });
    else this.#sendError(exchange, outcome.refusal, cors);
  }

  async #recordEvents(
    exchange: RequestContext,
    { session, parameters, cors }: CheckedWidgetRequest,
    bytes: Buffer,
  ): Promise<void> {
    // A beacon comes as text, since for JSON the browser would ask beforehand whether it may send it.
    const read = parseJsonBody(true, bytes);
    const outcome = read.ok ? await recordWidgetEvents(this.#deps, session, parameters.sub, read.value) : read;
    if (outcome.ok) exchange.reply({ status: 204, headers: cors, body: '' });
    else this.#sendError(exchange, outcome.refusal, cors);
  }

  /** Null where the request has been answered: refused, or told what it may ask. */
  #checkRequest(exchange: RequestContext, method: 'GET' | 'POST'): CheckedWidgetRequest | null {
    const origin = exchange.header('origin');
    const allow = method === 'GET' ? allowReadHeaders : allowPostHeaders;
    const readable = origin === '' ? varyHeaders : corsHeadersFor('*');
    const describes = exchange.method === 'OPTIONS';
    const asks = exchange.method === method || (exchange.method === 'HEAD' && method === 'GET');
    if (!asks && !describes) return this.#sendError(exchange, { code: 'METHOD_NOT_ALLOWED' }, allow + readable);

    const query = parseQueryParameters(exchange.query, widgetLinkParameters);
    if (!query.ok) return this.#sendError(exchange, query.refusal, readable);
    const { sub = '', token = '' } = query.values;
    const link = verifyWidgetLink(this.#deps, { sub, token });
    if (link === null) return this.#sendError(exchange, { code: 'SUB_ID_NOT_FOUND' }, readable);

    const allowed = link.policy.corsOriginFor(origin);
    // A page that tells nobody where it is may report what a widget did on it, since the token proves that; it gets no offers.
    if (allowed === null && !(method === 'POST' && origin === 'null')) {
      return this.#sendError(exchange, { code: 'ORIGIN_NOT_ALLOWED' }, readable);
    }
    const cors = allowed === null || allowed === '' ? varyHeaders : corsHeadersFor(allowed);
    if (describes) {
      const methods = formatHeader('Access-Control-Allow-Methods', method);
      exchange.reply({ status: 204, headers: allow + cors + methods + preflightConstants, body: '' });
      return null;
    }
    if (!link.session.ok) return this.#sendError(exchange, link.session.refusal, cors);
    const session = link.session.value;
    exchange.caller = session.tenant;
    const admission = checkWidgetRateLimit(this.#deps, session);
    if (!admission.ok) return this.#sendError(exchange, admission.refusal, cors);
    exchange.errorHeaders = cors;
    return { session, expiresMs: link.expiresMs, parameters: { ...query.values, sub }, cors };
  }

  /** A 429 names the moment as a clock shows it, too, as on the API (docs/contract.md#limit-headers). */
  #sendError(exchange: RequestContext, refusal: Refusal, headers: HeaderText): null {
    const { code, retryAfterSeconds = 0 } = refusal;
    const resetSeconds = Math.ceil(this.#deps.clock.wallMs() / 1000) + retryAfterSeconds;
    const reset = code === 'RATE_LIMIT_EXCEEDED' ? formatHeader('X-RateLimit-Reset', String(resetSeconds)) : '';
    exchange.reply(errorReply(refusal, exchange.requestId, headers + reset));
    return null;
  }
}

function corsHeadersFor(origin: string): HeaderText {
  return varyHeaders + formatHeader('Access-Control-Allow-Origin', origin) + exposedHeaders;
}

interface WidgetRoutesDeps extends WidgetApiRoutesDeps {
  readonly script: WidgetScript;
  readonly widgetScriptUrl: string;
  /** Where logos come from. */
  readonly cdnOrigin: string;
  readonly random: RandomPool;
}

export const widgetPath = '/w';
const scriptPath = '/w/widget.js';
const offersPath = '/w/offers';
const eventsPath = '/w/events';
const pageRouteIndex = routeIndexOf('widget_page');
const scriptRouteIndex = routeIndexOf('widget_script');
const offersRouteIndex = routeIndexOf('widget_offers');
const eventsRouteIndex = routeIndexOf('widget_events');

const pageHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // The token is in the address of the page: it is told to nobody but this host. A beacon needs its origin, so not no-referrer.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
});
/** Of a page that only says something. */
const noticePagePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * The widget host (docs/contract.md#widget): `/w` is the page of an iframe, `/w/widget.js` the script, `/w/offers` and `/w/events` what the
 * script asks for and tells. Whoever comes here is a borrower's browser: its token opens one session's widget, no API key is
 * involved, and none is charged.
 */
export class WidgetRoutes {
  readonly #deps: WidgetRoutesDeps;
  readonly #handleScript: Handler;
  readonly #api: WidgetApiRoutes;

  constructor(deps: WidgetRoutesDeps) {
    this.#deps = deps;
    this.#handleScript = widgetScriptRoute(deps.script);
    this.#api = new WidgetApiRoutes(deps);
  }

  readonly handle: Handler = (exchange) => {
    switch (exchange.path) {
      case widgetPath:
      case `${widgetPath}/`:
        exchange.routeIndex = pageRouteIndex;
        return respondToRead(exchange, () => this.#sendWidgetPage(exchange));
      case scriptPath:
        exchange.routeIndex = scriptRouteIndex;
        return this.#handleScript(exchange);
      case offersPath:
        exchange.routeIndex = offersRouteIndex;
        return this.#api.getOffers(exchange);
      case eventsPath:
        exchange.routeIndex = eventsRouteIndex;
        return this.#api.postEvents(exchange);
      default:
        return exchange.reply(errorReply({ code: 'NOT_FOUND' }, exchange.requestId));
    }
  };

  #sendWidgetPage(exchange: RequestContext): void {
    const query = parseQueryParameters(exchange.query, widgetLinkParameters);
    const parameters: WidgetLinkParameters = query.ok ? query.values : {};
    const { sub = '', token = '' } = parameters;
    const link = verifyWidgetLink(this.#deps, { sub, token });
    const selection = parseOfferSelection(parameters);
    if (link === null || !selection.ok) {
      sendPage(exchange, 404, noticePagePolicy, widgetLinkInvalidPage);
    } else if (link.session.ok) {
      this.#sendLivePage(exchange, link.policy, { sub, token, ...selection.value });
    } else {
      sendPage(exchange, 400, `${noticePagePolicy}; frame-ancestors ${link.policy.frameAncestors}`, widgetExpiredPage);
    }
  }

  #sendLivePage(exchange: RequestContext, { frameAncestors }: EmbedPolicy, widget: WidgetParameters): void {
    const { random, ownOrigin, cdnOrigin, widgetScriptUrl } = this.#deps;
    const nonce = random.randomBytes(bounds.widgetNonceBytes).toString('base64url');
    const policy = widgetPageCsp(nonce, ownOrigin, cdnOrigin, frameAncestors);
    sendPage(exchange, 200, policy, widgetPageHtml(widgetScriptUrl, nonce, widget));
  }
}

function sendPage(exchange: RequestContext, status: number, policy: string, body: string): void {
  exchange.reply({ status, headers: pageHeaders + formatHeader('Content-Security-Policy', policy), body });
}
