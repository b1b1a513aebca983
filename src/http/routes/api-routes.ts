import type { AdmittedCaller, Authenticator } from '../../auth/authenticator.ts';
import type { OperationName } from '../../auth/key-usage.ts';
import { rateLimitHeaders } from '../../auth/rate-limits.ts';
import type { OfferUrls } from '../../catalogs/offer-view.ts';
import type { ApiError, Outcome } from '../../domain/outcome.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Vertical } from '../../domain/vertical.ts';
import type { ApiOperations } from '../../operations/api-operations.ts';
import type { MarketplaceRequest } from '../../operations/get-marketplace.ts';
import { knownRequestParameters, listIgnoredNames, reportIgnoredParameters } from '../../operations/ignored-names.ts';
import type { OffersResult } from '../../operations/show-offers.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeaders, type HeaderText } from '../engines/response-head.ts';
import type { CorsPolicy } from './cors.ts';
import { renderMarketplaceJson } from './offers-json.ts';
import { errorReply, jsonHeaders } from './replies.ts';
import { isJsonMediaType, parseJsonBody, prefersJson } from './request-parsing.ts';
import {
  type AllowedMethods,
  allowedMethods,
  checkMethod,
  type RouteName,
  replyMethodNotAllowed,
  routeIndexOf,
} from './routing.ts';

const replayedHeaders = formatHeaders({ 'Idempotency-Replayed': 'true' });
const htmlHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
});

interface ApiRoutesDeps {
  readonly verticals: readonly Vertical[];
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  readonly cors: CorsPolicy;
  readonly offerUrls: OfferUrls;
  /** Handlers for the pages and files of the API documentation, by path. */
  readonly docsHandlers: ReadonlyMap<string, RequestHandler>;
}

interface ApiRoute {
  readonly vertical: Vertical;
  readonly operation: OperationName;
  readonly routeIndex: number;
  readonly methods: AllowedMethods;
}

const operationPaths: readonly (readonly [segment: RouteName, operation: OperationName, method: 'POST' | 'GET'])[] = [
  ['session', 'create_session', 'POST'],
  ['inputs', 'submit_inputs', 'POST'],
  ['marketplace', 'get_marketplace', 'GET'],
  ['analytics', 'query_analytics', 'GET'],
  ['tags', 'list_tags', 'GET'],
];

/** A request that has passed the checks of its API key and of the key's rate limits. */
interface AdmittedRequest {
  readonly context: RequestContext;
  readonly admission: AdmittedCaller;
  /** CORS and rate limit headers that every response to this request contains. */
  readonly headers: HeaderText;
}

/**
 * Creates the handler of the API, `/v1/<vertical>/<operation>`. The order of the checks (docs/contract.md#order-of-checks) is:
 *
 *     route -> key -> vertical -> limits -> body size, content type, JSON -> operation
 */
export function apiRoutes(deps: ApiRoutesDeps): RequestHandler {
  const { authenticator, operations, cors } = deps;
  const routes = new Map<string, ApiRoute>();
  for (const vertical of deps.verticals) {
    for (const [segment, operation, method] of operationPaths) {
      const route = { vertical, operation, routeIndex: routeIndexOf(segment), methods: allowedMethods(method) };
      routes.set(`/v1/${vertical.segment}/${segment}`, route);
    }
  }

  return (context) => {
    const route = routes.get(context.path);
    if (route === undefined) {
      const docsHandler = deps.docsHandlers.get(context.path);
      if (docsHandler !== undefined) return docsHandler(context);
      return sendError(context, { code: 'NOT_FOUND' }, cors.responseHeaders(context));
    }
    context.routeIndex = route.routeIndex;
    const { operation, methods } = route;
    const methodCheck = checkMethod(context, methods);
    if (methodCheck === 'options') {
      const headers = methods.headers + cors.preflightHeaders(context, methods.list);
      return context.reply({ status: 204, headers, body: '' });
    }
    const corsHeaders = cors.responseHeaders(context);
    context.errorHeaders = corsHeaders;
    if (methodCheck === 'not_allowed') return replyMethodNotAllowed(context, methods, corsHeaders);

    const idempotencyKey =
      operation === 'create_session' && context.hasIdempotencyKey ? context.getRequestHeader('idempotency-key') : null;
    const admission = authenticator.admitRequest(
      context.getRequestHeader('authorization'),
      route.vertical,
      operation,
      operations.repeatCheckFor(idempotencyKey),
    );
    context.caller = admission.caller;
    if (!admission.ok) {
      const { error, limitStatus } = admission;
      return sendError(
        context,
        error,
        limitStatus === null ? corsHeaders : corsHeaders + rateLimitHeaders(limitStatus),
      );
    }
    const headers = corsHeaders + rateLimitHeaders(admission.limitStatus);
    context.errorHeaders = headers;
    const request = { context, admission, headers };
    switch (operation) {
      case 'create_session':
        return handleCreateSession(deps, request, idempotencyKey);
      case 'submit_inputs':
        return handleSubmitInputs(deps, request);
      case 'get_marketplace':
        return handleGetMarketplace(deps, request);
      case 'query_analytics':
        return handleQueryAnalytics(deps, request);
      case 'list_tags':
        return handleListTags(deps, request);
    }
  };
}

function handleCreateSession(
  { operations }: ApiRoutesDeps,
  request: AdmittedRequest,
  idempotencyKey: string | null,
): void {
  const { context, admission, headers } = request;
  readJsonBody(operations, request, async (body) => {
    const outcome = await operations.createSession(admission, body, idempotencyKey);
    if (!outcome.ok) return sendError(context, outcome.error, headers);
    const { session, replayed } = outcome.value;
    const view = reportIgnoredParameters(session, ignoredMembers(admission, body, 'create_session'));
    sendJson(context, JSON.stringify(view), replayed ? headers + replayedHeaders : headers);
  });
}

function handleSubmitInputs({ operations }: ApiRoutesDeps, request: AdmittedRequest): void {
  const { admission } = request;
  readJsonBody(operations, request, async (body) => {
    const outcome = await operations.submitInputs(admission, body);
    sendOutcome(request, outcome, ignoredMembers(admission, body, 'submit_inputs'));
  });
}

function handleGetMarketplace(deps: ApiRoutesDeps, request: AdmittedRequest): void | Promise<void> {
  const { context, admission, headers } = request;
  const unknownNames = createUnknownNamesList(admission);
  const query = parseQueryParameters(context.query, knownRequestParameters.get_marketplace, unknownNames);
  if (!query.ok) return sendError(context, query.error, headers);
  const ignored = listIgnoredNames(admission.caller, 'get_marketplace', unknownNames ?? noNames);
  const { format } = query.values;
  if (format === 'iframe' || format === 'js') return handleEmbedWidget(deps, request, query.values, ignored);

  const sendOffers = (outcome: Outcome<OffersResult>): void => {
    if (outcome.ok) {
      sendJson(context, renderMarketplaceJson(outcome.value, deps.offerUrls, ignored), headers);
    } else {
      sendError(context, outcome.error, headers);
    }
  };
  // A HEAD request does not count as a view, because its response contains no offers.
  const countsAsView = context.method !== 'HEAD';
  const outcome = deps.operations.getMarketplace(admission, query.values, countsAsView, context);
  return outcome instanceof Promise ? outcome.then(sendOffers) : sendOffers(outcome);
}

function handleEmbedWidget(
  { operations }: ApiRoutesDeps,
  request: AdmittedRequest,
  parameters: MarketplaceRequest,
  ignored: readonly string[],
): void {
  const { context, admission, headers } = request;
  const asJson = prefersJson(context.getRequestHeader('accept'));
  const outcome = operations.embedWidget(admission, parameters);
  if (!outcome.ok || asJson) sendOutcome(request, outcome, ignored);
  else context.reply({ status: 200, headers: headers + htmlHeaders, body: `${outcome.value.html}\n` });
}

async function handleQueryAnalytics({ operations }: ApiRoutesDeps, request: AdmittedRequest): Promise<void> {
  const { context, admission, headers } = request;
  const unknownNames: string[] = [];
  const query = parseQueryParameters(context.query, knownRequestParameters.query_analytics, unknownNames);
  if (!query.ok) return sendError(context, query.error, headers);
  const outcome = await operations.queryAnalytics(admission, query.values, context);
  sendOutcome(request, outcome, listIgnoredNames(admission.caller, 'query_analytics', unknownNames));
}

async function handleListTags({ operations }: ApiRoutesDeps, request: AdmittedRequest): Promise<void> {
  const { context, admission, headers } = request;
  const unknownNames: string[] = [];
  const query = parseQueryParameters(context.query, knownRequestParameters.list_tags, unknownNames);
  if (!query.ok) return sendError(context, query.error, headers);
  const outcome = await operations.listTags(admission, query.values, context);
  sendOutcome(request, outcome, listIgnoredNames(admission.caller, 'list_tags', unknownNames));
}

/** Reads a JSON body and calls `handle`. If the body is missing or invalid, the request does not count towards the daily session limit. */
function readJsonBody(
  operations: ApiOperations,
  { context, admission, headers }: AdmittedRequest,
  handle: (body: unknown) => Promise<void>,
): void {
  const isJson = isJsonMediaType(context.getRequestHeader('content-type'));
  context.readBody(
    (bytes) => {
      const body = parseJsonBody(isJson, bytes);
      if (body.ok) return handle(body.value);
      return sendError(context, operations.rejectAdmitted(admission, body.error).error, headers);
    },
    () => admission.quotaReservation?.release(),
  );
}

function sendOutcome(
  { context, headers }: AdmittedRequest,
  outcome: Outcome<object>,
  ignored: readonly string[],
): void {
  if (outcome.ok) sendJson(context, JSON.stringify(reportIgnoredParameters(outcome.value, ignored)), headers);
  else sendError(context, outcome.error, headers);
}

function sendJson(context: RequestContext, body: string, headers: HeaderText): void {
  context.reply({ status: 200, headers: headers + jsonHeaders, body });
}

function sendError(context: RequestContext, error: ApiError, headers: HeaderText): void {
  context.reply(errorReply(error, context.requestId, headers));
}

const noNames: readonly string[] = [];

/** Returns an empty list for the names of unknown query parameters, or undefined for a live key, whose offers contain no such list. */
function createUnknownNamesList({ caller }: AdmittedCaller): string[] | undefined {
  return caller.mode === 'test' ? [] : undefined;
}

/** Returns the ignored names of the members of a request body. */
function ignoredMembers({ caller }: AdmittedCaller, body: unknown, operation: OperationName): readonly string[] {
  if (caller.mode === 'live' || typeof body !== 'object' || body === null) return noNames;
  return listIgnoredNames(caller, operation, Object.keys(body));
}
