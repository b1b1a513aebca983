import type { Refusal } from '../domain/outcome.ts';
import { fixedHeaders, type HeaderText, header } from '../http/header-text.ts';
import type { Exchange } from '../http/listener.ts';
import { admitToWidget } from '../operations/admit-to-widget.ts';
import { type OpenWidgetPorts, openWidget } from '../operations/open-widget.ts';
import { type ReportWidgetEventsPorts, reportWidgetEvents } from '../operations/report-widget-events.ts';
import type { ShowOffersPorts } from '../operations/show-offers.ts';
import { showWidgetOffers } from '../operations/show-widget-offers.ts';
import type { Session } from '../sessions/session.ts';
import { allowReading } from './answer-reading.ts';
import { errorReply, jsonHeaders } from './error-reply.ts';
import { askAgain, fetchesAhead } from './fetches-ahead.ts';
import { readJson } from './json-body.ts';
import { readQueryParameters } from './query-parameters.ts';
import { type WidgetLinkParameters, widgetLinkParameters } from './widget-link-parameters.ts';

export interface WidgetRequestsFacePorts extends OpenWidgetPorts, ShowOffersPorts, ReportWidgetEventsPorts {}

const allowWriting = fixedHeaders({ Allow: 'POST, OPTIONS' });
const varies = fixedHeaders({ Vary: 'Origin' });
const exposed = fixedHeaders({ 'Access-Control-Expose-Headers': 'Retry-After, X-RateLimit-Reset, X-Request-Id' });
const preflight = fixedHeaders({ 'Access-Control-Allow-Headers': 'Content-Type', 'Access-Control-Max-Age': '600' });

/** A request of a live widget, from a page that may show it. */
interface Admitted {
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
export class WidgetRequestsFace {
  readonly #ports: WidgetRequestsFacePorts;

  constructor(ports: WidgetRequestsFacePorts) {
    this.#ports = ports;
  }

  /** `GET /w/offers`. A prefetch gets 503, because the answer would be a view (docs/contract.md#widget-views). */
  offers(exchange: Exchange): void | Promise<void> {
    const ahead = fetchesAhead(exchange);
    const admitted = this.#admit(exchange, 'GET');
    if (admitted === null) return;
    if (ahead) exchange.reply({ status: 503, headers: askAgain + admitted.cors, body: '' });
    else return this.#showOffers(exchange, admitted);
  }

  /** `POST /w/events`. */
  events(exchange: Exchange): void {
    const admitted = this.#admit(exchange, 'POST');
    if (admitted !== null) exchange.readBody((bytes) => this.#report(exchange, admitted, bytes));
  }

  async #showOffers(exchange: Exchange, { session, expiresMs, parameters, cors }: Admitted): Promise<void> {
    const which = { subId: parameters.sub, expiresMs };
    const counts = exchange.method !== 'HEAD';
    const outcome = await showWidgetOffers(this.#ports, session, which, parameters, counts, exchange);
    if (outcome.ok) exchange.reply({ status: 200, headers: jsonHeaders + cors, body: outcome.value });
    else this.#refuse(exchange, outcome.refusal, cors);
  }

  async #report(exchange: Exchange, { session, parameters, cors }: Admitted, bytes: Buffer): Promise<void> {
    // A beacon comes as text, since for JSON the browser would ask beforehand whether it may send it.
    const read = readJson(true, bytes);
    const outcome = read.ok ? await reportWidgetEvents(this.#ports, session, parameters.sub, read.value) : read;
    if (outcome.ok) exchange.reply({ status: 204, headers: cors, body: '' });
    else this.#refuse(exchange, outcome.refusal, cors);
  }

  /** Null where the request has been answered: refused, or told what it may ask. */
  #admit(exchange: Exchange, method: 'GET' | 'POST'): Admitted | null {
    const origin = exchange.header('origin');
    const allow = method === 'GET' ? allowReading : allowWriting;
    const readable = origin === '' ? varies : readableBy('*');
    const describes = exchange.method === 'OPTIONS';
    const asks = exchange.method === method || (exchange.method === 'HEAD' && method === 'GET');
    if (!asks && !describes) return this.#refuse(exchange, { code: 'METHOD_NOT_ALLOWED' }, allow + readable);

    const query = readQueryParameters(exchange.query, widgetLinkParameters);
    if (!query.ok) return this.#refuse(exchange, query.refusal, readable);
    const { sub = '', token = '' } = query.values;
    const link = openWidget(this.#ports, { sub, token });
    if (link === null) return this.#refuse(exchange, { code: 'SUB_ID_NOT_FOUND' }, readable);

    const allowed = link.policy.allowOrigin(origin);
    // A page that tells nobody where it is may report what a widget did on it, since the token proves that; it gets no offers.
    if (allowed === null && !(method === 'POST' && origin === 'null')) {
      return this.#refuse(exchange, { code: 'ORIGIN_NOT_ALLOWED' }, readable);
    }
    const cors = allowed === null || allowed === '' ? varies : readableBy(allowed);
    if (describes) {
      const methods = header('Access-Control-Allow-Methods', method);
      exchange.reply({ status: 204, headers: allow + cors + methods + preflight, body: '' });
      return null;
    }
    if (!link.session.ok) return this.#refuse(exchange, link.session.refusal, cors);
    const session = link.session.value;
    exchange.askedBy = session.tenant;
    const admission = admitToWidget(this.#ports, session);
    if (!admission.ok) return this.#refuse(exchange, admission.refusal, cors);
    exchange.refusalHeaders = cors;
    return { session, expiresMs: link.expiresMs, parameters: { ...query.values, sub }, cors };
  }

  /** A 429 names the moment as a clock shows it, too, as on the API (docs/contract.md#limit-headers). */
  #refuse(exchange: Exchange, refusal: Refusal, headers: HeaderText): null {
    const { code, retryAfterSeconds = 0 } = refusal;
    const resetSeconds = Math.ceil(this.#ports.clock.wallMs() / 1000) + retryAfterSeconds;
    const reset = code === 'RATE_LIMIT_EXCEEDED' ? header('X-RateLimit-Reset', String(resetSeconds)) : '';
    exchange.reply(errorReply(refusal, exchange.requestId, headers + reset));
    return null;
  }
}

function readableBy(origin: string): HeaderText {
  return varies + header('Access-Control-Allow-Origin', origin) + exposed;
}
