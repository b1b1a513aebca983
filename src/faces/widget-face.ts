import { bounds } from '../bounds.ts';
import type { Refusal } from '../domain/outcome.ts';
import { fixedHeaders, type HeaderText, header } from '../http/header-text.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import { parseSelection } from '../operations/marketplace-request.ts';
import { type OpenWidgetPorts, openWidget, type WidgetLink } from '../operations/open-widget.ts';
import { type ReportWidgetEventsPorts, reportWidgetEvents } from '../operations/report-widget-events.ts';
import type { ShowOffersPorts } from '../operations/show-offers.ts';
import { showWidgetOffers } from '../operations/show-widget-offers.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { Session } from '../sessions/session.ts';
import type { WidgetParameters } from '../widgets/embed-html.ts';
import type { EmbedPolicy } from '../widgets/embed-policy.ts';
import { widgetPage, widgetPagePolicy } from '../widgets/widget-page.ts';
import type { WidgetScript } from '../widgets/widget-script.ts';
import { acceptsEncoding } from './accepts-encoding.ts';
import { errorReply, jsonHeaders } from './error-reply.ts';
import { readJson } from './json-body.ts';
import { widgetLinkBrokenPage, widgetOverPage } from './pages.ts';
import { readQueryParameters } from './query-parameters.ts';
import { sendStatic } from './static-reply.ts';

export interface WidgetFacePorts extends OpenWidgetPorts, ShowOffersPorts, ReportWidgetEventsPorts {
  readonly script: WidgetScript;
  readonly widgetScriptUrl: string;
  /** Where logos come from. */
  readonly cdnOrigin: string;
  readonly random: RandomPool;
}

export const widgetPath = '/w';
export const widgetScriptPath = '/w/widget.js';
const offersPath = '/w/offers';
const eventsPath = '/w/events';

const linkParameters = new Set(['sub', 'token', 'sort', 'max_offers', 'load'] as const);
const scriptParameters = new Set(['v'] as const);

const reads = fixedHeaders({ Allow: 'GET, HEAD, OPTIONS' });
const writes = fixedHeaders({ Allow: 'POST, OPTIONS' });
const pageHeaders = fixedHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // The token is in the address of the page: it is told to nobody but this host. A beacon needs its origin, so not no-referrer.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Robots-Tag': 'noindex',
});
/** Of a page that only says something. */
const noticePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";
const scriptHeaders = fixedHeaders({
  'Content-Type': 'text/javascript; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
});
const varies = fixedHeaders({ Vary: 'Origin' });
const exposed = fixedHeaders({ 'Access-Control-Expose-Headers': 'Retry-After, X-RateLimit-Reset, X-Request-Id' });
const preflight = fixedHeaders({ 'Access-Control-Allow-Headers': 'Content-Type', 'Access-Control-Max-Age': '600' });

type LinkParameters = Partial<Record<'sub' | 'token' | 'sort' | 'max_offers' | 'load', string>>;

/**
 * The door of the widgets (D9): `/w` is the page of an iframe, `/w/widget.js` the script, `/w/offers` and `/w/events` what the
 * script asks for and tells. Whoever comes here is a borrower's browser: its token opens one session's widget, no API key is
 * involved, and none is charged.
 */
export class WidgetFace {
  readonly #ports: WidgetFacePorts;

  constructor(ports: WidgetFacePorts) {
    this.#ports = ports;
  }

  readonly handle: Handler = (exchange) => {
    switch (exchange.path) {
      case widgetPath:
      case `${widgetPath}/`:
        return this.#forReading(exchange, () => this.#page(exchange));
      case widgetScriptPath:
        return this.#forReading(exchange, () => this.#script(exchange));
      case offersPath:
        return this.#forPages(exchange, 'GET', (link, parameters, cors) =>
          this.#offers(exchange, link, parameters, cors),
        );
      case eventsPath:
        return this.#forPages(exchange, 'POST', (link, parameters, cors) =>
          this.#events(exchange, link, parameters, cors),
        );
      default:
        return refuse(exchange, { code: 'NOT_FOUND' }, '');
    }
  };

  #forReading(exchange: Exchange, answer: () => void): void {
    const { method } = exchange;
    if (method === 'OPTIONS') exchange.reply({ status: 204, headers: reads, body: '' });
    else if (method === 'GET' || method === 'HEAD') answer();
    else refuse(exchange, { code: 'METHOD_NOT_ALLOWED' }, reads);
  }

  #page(exchange: Exchange): void {
    const query = readQueryParameters(exchange.query, linkParameters);
    const parameters: LinkParameters = query.ok ? query.values : {};
    const { sub = '', token = '' } = parameters;
    const link = openWidget(this.#ports, { sub, token });
    const selection = parseSelection(parameters);
    if (link === null || !selection.ok) {
      sendPage(exchange, 404, noticePolicy, widgetLinkBrokenPage);
    } else if (link.session.ok) {
      this.#livePage(exchange, link.policy, { sub, token, ...selection.value });
    } else {
      sendPage(exchange, 400, `${noticePolicy}; frame-ancestors ${link.policy.frameAncestors}`, widgetOverPage);
    }
  }

  #livePage(exchange: Exchange, { frameAncestors }: EmbedPolicy, widget: WidgetParameters): void {
    const { random, ownOrigin, cdnOrigin, widgetScriptUrl } = this.#ports;
    const bytes = Buffer.alloc(bounds.widgetNonceBytes);
    random.fill(bytes, 0, bytes.length);
    const nonce = bytes.toString('base64url');
    const policy = widgetPagePolicy(nonce, ownOrigin, cdnOrigin, frameAncestors);
    sendPage(exchange, 200, policy, widgetPage(widgetScriptUrl, nonce, widget));
  }

  #script(exchange: Exchange): void {
    const { script } = this.#ports;
    const query = readQueryParameters(exchange.query, scriptParameters);
    const accepted = exchange.header('accept-encoding');
    const encoding = (['br', 'gzip'] as const).find((name) => acceptsEncoding(accepted, name));
    const bytes = encoding === 'br' ? script.brotli : encoding === 'gzip' ? script.gzip : script.plain;
    const headers = scriptHeaders + (encoding === undefined ? '' : header('Content-Encoding', encoding));
    sendStatic(exchange, { bytes, hash: script.hash, headers }, query.ok ? query.values.v : undefined);
  }

  /**
   * What the script asks for, from our own page or from a partner's. Every answer can be read by the page that asked, so that
   * the script can tell what is wrong; but offers are for pages of allowed origins alone.
   */
  #forPages(
    exchange: Exchange,
    method: 'GET' | 'POST',
    answer: (link: WidgetLink, parameters: LinkParameters, cors: HeaderText) => void | Promise<void>,
  ): void | Promise<void> {
    const origin = exchange.header('origin');
    const allow = method === 'GET' ? reads : writes;
    const readable = origin === '' ? varies : readableBy('*');
    const isAsked = exchange.method === method || (exchange.method === 'HEAD' && method === 'GET');
    if (!isAsked && exchange.method !== 'OPTIONS') {
      return refuse(exchange, { code: 'METHOD_NOT_ALLOWED' }, allow + readable);
    }
    const query = readQueryParameters(exchange.query, linkParameters);
    if (!query.ok) return refuse(exchange, { code: 'INVALID_REQUEST', param: query.param }, readable);
    const { sub = '', token = '' } = query.values;
    const link = openWidget(this.#ports, { sub, token });
    if (link === null) return refuse(exchange, { code: 'SUB_ID_NOT_FOUND' }, readable);
    const allowed = link.policy.allowOrigin(origin);
    // A page that tells nobody where it is may report what a widget did on it, since the token proves that; it gets no offers.
    if (allowed === null && !(method === 'POST' && origin === 'null')) {
      return refuse(exchange, { code: 'ORIGIN_NOT_ALLOWED' }, readable);
    }
    const cors = allowed === null || allowed === '' ? varies : readableBy(allowed);
    if (exchange.method === 'OPTIONS') {
      const methods = header('Access-Control-Allow-Methods', method);
      return exchange.reply({ status: 204, headers: allow + cors + methods + preflight, body: '' });
    }
    exchange.refusalHeaders = cors;
    return answer(link, query.values, cors);
  }

  async #offers(exchange: Exchange, link: WidgetLink, parameters: LinkParameters, cors: HeaderText): Promise<void> {
    if (!link.session.ok) return refuse(exchange, link.session.refusal, cors);
    const { expiresMs } = link;
    const which = { subId: parameters.sub!, expiresMs };
    const counts = exchange.method !== 'HEAD';
    const outcome = await showWidgetOffers(this.#ports, link.session.value, which, parameters, counts);
    if (!outcome.ok) return this.#refuse(exchange, outcome.refusal, cors);
    exchange.reply({ status: 200, headers: jsonHeaders + cors, body: outcome.value });
  }

  #events(exchange: Exchange, { session }: WidgetLink, parameters: LinkParameters, cors: HeaderText): void {
    if (session.ok) exchange.readBody((bytes) => this.#report(exchange, session.value, parameters.sub!, bytes, cors));
    else refuse(exchange, session.refusal, cors);
  }

  async #report(exchange: Exchange, session: Session, subId: string, bytes: Buffer, cors: HeaderText): Promise<void> {
    // A beacon comes as text, since for JSON the browser would ask beforehand whether it may send it.
    const read = readJson(true, bytes);
    const outcome = read.ok ? await reportWidgetEvents(this.#ports, session, subId, read.value) : read;
    if (!outcome.ok) return this.#refuse(exchange, outcome.refusal, cors);
    exchange.reply({ status: 204, headers: cors, body: '' });
  }

  /** A 429 names the moment as a clock shows it, too, as on the API (contract section 7). */
  #refuse(exchange: Exchange, refusal: Refusal, cors: HeaderText): void {
    const { code, retryAfterSeconds = 0 } = refusal;
    const resetSeconds = Math.ceil(this.#ports.clock.wallMs() / 1000) + retryAfterSeconds;
    const reset = code === 'RATE_LIMIT_EXCEEDED' ? header('X-RateLimit-Reset', String(resetSeconds)) : '';
    refuse(exchange, refusal, cors + reset);
  }
}

function refuse(exchange: Exchange, refusal: Refusal, headers: HeaderText): void {
  exchange.reply(errorReply(refusal, exchange.requestId, headers));
}

function readableBy(origin: string): HeaderText {
  return varies + header('Access-Control-Allow-Origin', origin) + exposed;
}

function sendPage(exchange: Exchange, status: number, policy: string, body: string): void {
  exchange.reply({ status, headers: pageHeaders + header('Content-Security-Policy', policy), body });
}
