import { bounds } from '../bounds.ts';
import { formatHeaders, formatHeader } from '../http/header-text.ts';
import type { RequestContext, Handler } from '../http/listener.ts';
import { parseOfferSelection } from '../operations/marketplace-request.ts';
import { verifyWidgetLink } from '../operations/open-widget.ts';
import type { RandomPool } from '../secrets/random-pool.ts';
import type { WidgetParameters } from '../widgets/embed-html.ts';
import type { EmbedPolicy } from '../widgets/embed-policy.ts';
import { widgetPageHtml, widgetPageCsp } from '../widgets/widget-page.ts';
import type { WidgetScript } from '../widgets/widget-script.ts';
import { respondToRead } from './answer-reading.ts';
import { errorReply } from './error-reply.ts';
import { widgetLinkInvalidPage, widgetExpiredPage } from './pages.ts';
import { parseQueryParameters } from './query-parameters.ts';
import { routeIndexOf } from './routes.ts';
import { type WidgetLinkParameters, widgetLinkParameters } from './widget-link-parameters.ts';
import { WidgetApiRoutes, type WidgetApiRoutesDeps } from './widget-requests-face.ts';
import { widgetScriptRoute } from './widget-script-face.ts';

export interface WidgetRoutesDeps extends WidgetApiRoutesDeps {
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
