import { bounds } from '../../bounds.ts';
import type { OfferUrls } from '../../catalogs/offer-view.ts';
import type { CompressedFile } from '../../domain/compressed-file.ts';
import type { ApiError, Outcome } from '../../domain/outcome.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import { selectionParameters } from '../../operations/get-marketplace.ts';
import { type RecordWidgetEventsDeps, recordWidgetEvents } from '../../operations/record-widget-events.ts';
import { MemberValidator } from '../../operations/request-members.ts';
import type { OffersResult, ShowOffersDeps } from '../../operations/show-offers.ts';
import {
  readLoanAmount,
  renderWidgetOffersJson,
  showWidgetOffers,
  type VerifyWidgetLinkDeps,
  verifyWidgetLink,
  widgetOffersParameters,
  widgetPageParameters,
} from '../../operations/show-widget-offers.ts';
import type { RandomBytesPool } from '../../secrets/random-pool.ts';
import {
  type EmbedPolicy,
  parseWidgetAppearance,
  widgetPageCsp,
  widgetPageHtml,
} from '../../widgets/widget-embedding.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import { varyByOriginHeaders, widgetCors } from './cors.ts';
import { noticePageCsp, widgetExpiredPage, widgetLinkInvalidPage, widgetOriginRefusedPage } from './html-pages.ts';
import { errorReply, jsonHeaders } from './replies.ts';
import { headersOfSpeculativeReply, isSpeculative, parseJsonBody } from './request-parsing.ts';
import {
  type AllowedMethods,
  allowedMethods,
  allowOnlyGet,
  checkMethod,
  replyMethodNotAllowed,
  replyNotFound,
  withRoute,
} from './routing.ts';
import { fileHandler } from './static-routes.ts';

const scriptParameterNames = Object.keys(widgetOffersParameters) as (keyof typeof widgetOffersParameters)[];
const pageParameterNames = Object.keys(widgetPageParameters) as (keyof typeof widgetPageParameters)[];
const selectionValidator = new MemberValidator(selectionParameters);

const scriptHeaders = formatHeaders({
  'Content-Type': 'text/javascript; charset=utf-8',
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept-Encoding',
});

interface WidgetApiDeps extends VerifyWidgetLinkDeps, ShowOffersDeps, RecordWidgetEventsDeps {
  readonly offerUrls: OfferUrls;
}

const offersMethods = allowedMethods('GET');
const eventsMethods = allowedMethods('POST');

/**
 * Handles `GET /w/offers`. Replies 503 to a speculative request, because a response with offers counts as a view
 * (docs/contract.md#widget-views).
 */
function handleOffers(deps: WidgetApiDeps, context: RequestContext): void | Promise<void> {
  const isSpeculativeRequest = isSpeculative(context);
  const request = checkWidgetRequest(deps, context, offersMethods);
  if (request === null) return;
  const { session, expiresMs, parameters, cors } = request;
  if (isSpeculativeRequest) return context.reply({ status: 503, headers: headersOfSpeculativeReply + cors, body: '' });

  // The fields of the session may change while its offers are ranked.
  const loanAmount = readLoanAmount(session);
  const sendOffers = (outcome: Outcome<OffersResult>): void => {
    if (outcome.ok) {
      const body = renderWidgetOffersJson(loanAmount, expiresMs, outcome.value, deps.offerUrls);
      context.reply({ status: 200, headers: jsonHeaders + cors, body });
    } else {
      sendWidgetError(deps, context, outcome.error, cors);
    }
  };
  const outcome = showWidgetOffers(deps, session, parameters.sub, parameters, context.method !== 'HEAD', context);
  return outcome instanceof Promise ? outcome.then(sendOffers) : sendOffers(outcome);
}

/** Handles `POST /w/events`. */
function handleEvents(deps: WidgetApiDeps, context: RequestContext): void {
  const request = checkWidgetRequest(deps, context, eventsMethods);
  if (request === null) return;
  const { session, parameters, cors } = request;
  context.readBody(async (bytes) => {
    // The content type is not checked: the widget sends events as plain text, because JSON requests need a preflight request.
    const body = parseJsonBody(true, bytes);
    const outcome = body.ok ? await recordWidgetEvents(deps, session, parameters.sub, body.value) : body;
    if (outcome.ok) context.reply({ status: 204, headers: cors, body: '' });
    else sendWidgetError(deps, context, outcome.error, cors);
  });
}

/**
 * Checks a request of the widget script, which runs in the iframe page or in a partner's page. Returns null if this function has already
 * sent an error response or the response to an OPTIONS request. The property `cors` of the result contains the headers that allow the
 * requesting page to read the response. Pages of all origins can read an error response, so that the widget script can report the problem.
 * Order of the checks:
 *
 *     method -> link -> origin -> session -> rate limit of the session
 */
function checkWidgetRequest(deps: WidgetApiDeps, context: RequestContext, methods: AllowedMethods) {
  const origin = context.getRequestHeader('origin');
  const readableByAll = origin === '' ? varyByOriginHeaders : widgetCors.allowOriginHeaders('*');
  const refuse = (error: ApiError, headers = readableByAll): null => {
    sendWidgetError(deps, context, error, headers);
    return null;
  };
  const methodCheck = checkMethod(context, methods);
  if (methodCheck === 'not_allowed') {
    replyMethodNotAllowed(context, methods, readableByAll);
    return null;
  }
  const query = parseQueryParameters(context.query, scriptParameterNames);
  if (!query.ok) return refuse(query.error);
  const { sub = '', token = '' } = query.values;
  const link = verifyWidgetLink(deps, sub, token);
  if (link === null) return refuse({ code: 'SUB_ID_NOT_FOUND' });

  const allowedOrigin = link.policy.getCorsOrigin(origin);
  // A page with an opaque origin (`Origin: null`) gets no offers, but may report widget events, because only a page with the widget has the
  // token.
  if (allowedOrigin === null && !(methods === eventsMethods && origin === 'null')) {
    return refuse({ code: 'ORIGIN_NOT_ALLOWED' });
  }
  const cors =
    allowedOrigin === null || allowedOrigin === '' ? varyByOriginHeaders : widgetCors.allowOriginHeaders(allowedOrigin);
  if (methodCheck === 'options') {
    const headers = methods.headers + cors + widgetCors.preflightHeaders(methods.names[0]!);
    context.reply({ status: 204, headers, body: '' });
    return null;
  }
  if (!link.session.ok) return refuse(link.session.error, cors);
  const session = link.session.value;
  context.caller = session.tenant;
  // Counts every request, even one that fails later (docs/contract.md#widget-limits).
  const retryAfterSeconds = session.widgetUsage.checkRequestLimit(deps.clock.monotonicMs());
  if (retryAfterSeconds > 0) return refuse({ code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds }, cors);
  context.errorHeaders = cors;
  return { session, expiresMs: link.expiresMs, parameters: { ...query.values, sub }, cors };
}

/** Sends an error response. A 429 response contains `X-RateLimit-Reset`, as in the API (docs/contract.md#limit-headers). */
function sendWidgetError(
  { clock }: WidgetApiDeps,
  context: RequestContext,
  error: ApiError,
  headers: HeaderText,
): void {
  const { code, retryAfterSeconds = 0 } = error;
  const resetSeconds = Math.ceil(clock.wallMs() / 1000) + retryAfterSeconds;
  const reset = code === 'RATE_LIMIT_EXCEEDED' ? formatHeader('X-RateLimit-Reset', String(resetSeconds)) : '';
  context.reply(errorReply(error, context.requestId, headers + reset));
}

interface WidgetRoutesDeps extends WidgetApiDeps {
  readonly script: CompressedFile;
  readonly widgetScriptUrl: string;
  /** Origin of logo URLs. */
  readonly cdnOrigin: string;
  readonly random: RandomBytesPool;
}

export const widgetPath = '/w';

const pageHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
  // Hides the page URL, which contains the token, from other hosts. `no-referrer` would also remove the page's origin from beacons.
  'Referrer-Policy': 'same-origin',
  'X-Robots-Tag': 'noindex',
});

/** Creates the handler of the widget host: `/w` (iframe page), `/w/widget.js`, `/w/offers` and `/w/events`. */
export function widgetRoutes(deps: WidgetRoutesDeps): RequestHandler {
  const page = withRoute('widget_page', allowOnlyGet(widgetPage(deps)));
  const handlers = new Map<string, RequestHandler>([
    [widgetPath, page],
    [`${widgetPath}/`, page],
    [`${widgetPath}/widget.js`, withRoute('widget_script', fileHandler(deps.script, scriptHeaders))],
    [`${widgetPath}/offers`, withRoute('widget_offers', (context) => handleOffers(deps, context))],
    [`${widgetPath}/events`, withRoute('widget_events', (context) => handleEvents(deps, context))],
  ]);
  return (context) => (handlers.get(context.path) ?? replyNotFound)(context);
}

function widgetPage(deps: WidgetRoutesDeps): RequestHandler {
  return (context) => {
    const query = parseQueryParameters(context.query, pageParameterNames);
    const parameters = query.ok ? query.values : {};
    const { sub = '', token = '' } = parameters;
    const link = verifyWidgetLink(deps, sub, token);
    const sortOrders = link?.session.ok ? link.session.value.tenant.vertical : {};
    const selection = selectionValidator.parseTexts(parameters, sortOrders);
    if (link === null || !selection.ok) return sendPage(context, 404, noticePageCsp, widgetLinkInvalidPage);
    // A browser shows no page in a frame that `frame-ancestors` forbids, so this page, which contains no offers, has no `frame-ancestors`.
    if (isFramedByRefusedOrigin(context, link.policy))
      return sendPage(context, 403, noticePageCsp, widgetOriginRefusedPage);
    const { frameAncestors } = link.policy;
    if (!link.session.ok) {
      return sendPage(context, 400, `${noticePageCsp}; frame-ancestors ${frameAncestors}`, widgetExpiredPage);
    }
    const { random, ownOrigin, cdnOrigin, widgetScriptUrl } = deps;
    const nonce = random.randomBytes(bounds.widgetNonceBytes).toString('base64url');
    const csp = widgetPageCsp(nonce, ownOrigin, cdnOrigin, frameAncestors);
    const { segment: vertical } = link.session.value.tenant.vertical;
    const { sort, max_offers: maxOffers } = selection.value;
    const widget = { sub, token, vertical, sort, maxOffers };
    sendPage(context, 200, csp, widgetPageHtml(widgetScriptUrl, nonce, widget, parseWidgetAppearance(parameters)));
  };
}

/** Whether the page is requested for a frame in a page of an origin that the account does not allow, according to the `Referer` header. */
function isFramedByRefusedOrigin(context: RequestContext, { getCorsOrigin }: EmbedPolicy): boolean {
  if (!/^(?:iframe|frame|embed|object)$/.test(context.getRequestHeader('sec-fetch-dest'))) return false;
  const referrer = context.getRequestHeader('referer');
  return URL.canParse(referrer) && getCorsOrigin(new URL(referrer).origin) === null;
}

function sendPage(context: RequestContext, status: number, csp: string, body: string): void {
  context.reply({ status, headers: pageHeaders + formatHeader('Content-Security-Policy', csp), body });
}
