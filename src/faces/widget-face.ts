import { bounds } from '../bounds.ts';
import { fixedHeaders, header } from '../http/header-text.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import { parseSelection } from '../operations/marketplace-request.ts';
import { openWidget } from '../operations/open-widget.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { WidgetParameters } from '../widgets/embed-html.ts';
import type { EmbedPolicy } from '../widgets/embed-policy.ts';
import { widgetPage, widgetPagePolicy } from '../widgets/widget-page.ts';
import type { WidgetScript } from '../widgets/widget-script.ts';
import { answerReading } from './answer-reading.ts';
import { errorReply } from './error-reply.ts';
import { widgetLinkBrokenPage, widgetOverPage } from './pages.ts';
import { readQueryParameters } from './query-parameters.ts';
import { routeOf } from './routes.ts';
import { type WidgetLinkParameters, widgetLinkParameters } from './widget-link-parameters.ts';
import { WidgetRequestsFace, type WidgetRequestsFacePorts } from './widget-requests-face.ts';
import { widgetScriptFace } from './widget-script-face.ts';

export interface WidgetFacePorts extends WidgetRequestsFacePorts {
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
const pageRoute = routeOf('widget_page');
const scriptRoute = routeOf('widget_script');
const offersRoute = routeOf('widget_offers');
const eventsRoute = routeOf('widget_events');

const pageHeaders = fixedHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // The token is in the address of the page: it is told to nobody but this host. A beacon needs its origin, so not no-referrer.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
});
/** Of a page that only says something. */
const noticePolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/**
 * The widget host (docs/contract.md#widget): `/w` is the page of an iframe, `/w/widget.js` the script, `/w/offers` and `/w/events` what the
 * script asks for and tells. Whoever comes here is a borrower's browser: its token opens one session's widget, no API key is
 * involved, and none is charged.
 */
export class WidgetFace {
  readonly #ports: WidgetFacePorts;
  readonly #script: Handler;
  readonly #requests: WidgetRequestsFace;

  constructor(ports: WidgetFacePorts) {
    this.#ports = ports;
    this.#script = widgetScriptFace(ports.script);
    this.#requests = new WidgetRequestsFace(ports);
  }

  readonly handle: Handler = (exchange) => {
    switch (exchange.path) {
      case widgetPath:
      case `${widgetPath}/`:
        exchange.route = pageRoute;
        return answerReading(exchange, () => this.#page(exchange));
      case scriptPath:
        exchange.route = scriptRoute;
        return this.#script(exchange);
      case offersPath:
        exchange.route = offersRoute;
        return this.#requests.offers(exchange);
      case eventsPath:
        exchange.route = eventsRoute;
        return this.#requests.events(exchange);
      default:
        return exchange.reply(errorReply({ code: 'NOT_FOUND' }, exchange.requestId));
    }
  };

  #page(exchange: Exchange): void {
    const query = readQueryParameters(exchange.query, widgetLinkParameters);
    const parameters: WidgetLinkParameters = query.ok ? query.values : {};
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
    const nonce = random.take(bounds.widgetNonceBytes).toString('base64url');
    const policy = widgetPagePolicy(nonce, ownOrigin, cdnOrigin, frameAncestors);
    sendPage(exchange, 200, policy, widgetPage(widgetScriptUrl, nonce, widget));
  }
}

function sendPage(exchange: Exchange, status: number, policy: string, body: string): void {
  exchange.reply({ status, headers: pageHeaders + header('Content-Security-Policy', policy), body });
}
