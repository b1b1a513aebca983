import type { Refusal } from '../domain/outcome.ts';
import { formatHeaders, type HeaderText, formatHeader } from '../http/header-text.ts';
import type { RequestContext } from '../http/listener.ts';
import { checkWidgetRateLimit } from '../operations/admit-to-widget.ts';
import { type VerifyWidgetLinkDeps, verifyWidgetLink } from '../operations/open-widget.ts';
import { type RecordWidgetEventsDeps, recordWidgetEvents } from '../operations/report-widget-events.ts';
import type { ShowOffersDeps } from '../operations/show-offers.ts';
import { showWidgetOffers } from '../operations/show-widget-offers.ts';
import type { Session } from '../sessions/session.ts';
import { allowReadHeaders } from './answer-reading.ts';
import { errorReply, jsonHeaders } from './error-reply.ts';
import { retryLaterHeaders, isPrefetch } from './fetches-ahead.ts';
import { parseJsonBody } from './json-body.ts';
import { parseQueryParameters } from './query-parameters.ts';
import { type WidgetLinkParameters, widgetLinkParameters } from './widget-link-parameters.ts';

export interface WidgetApiRoutesDeps extends VerifyWidgetLinkDeps, ShowOffersDeps, RecordWidgetEventsDeps {}

const allowPostHeaders = formatHeaders({ Allow: 'POST, OPTIONS' });
const varyHeaders = formatHeaders({ Vary: 'Origin' });
const exposedHeaders = formatHeaders({ 'Access-Control-Expose-Headers': 'Retry-After, X-RateLimit-Reset, X-Request-Id' });
const preflightConstants = formatHeaders({ 'Access-Control-Allow-Headers': 'Content-Type', 'Access-Control-Max-Age': '600' });

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
export class WidgetApiRoutes {
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

  async #sendOffers(exchange: RequestContext, { session, expiresMs, parameters, cors }: CheckedWidgetRequest): Promise<void> {
    const which = { subId: parameters.sub, expiresMs };
    const counts = exchange.method !== 'HEAD';
    const outcome = await showWidgetOffers(this.#deps, session, which, parameters, counts, exchange);
    if (outcome.ok) exchange.reply({ status: 200, headers: jsonHeaders + cors, body: outcome.value });
    else this.#sendError(exchange, outcome.refusal, cors);
  }

  async #recordEvents(exchange: RequestContext, { session, parameters, cors }: CheckedWidgetRequest, bytes: Buffer): Promise<void> {
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
