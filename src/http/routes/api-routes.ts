import type { AdmittedCaller, Authenticator, AuthRejection } from '../../auth/authenticator.ts';
import type { Caller } from '../../auth/key-usage.ts';
import { isLimitRejection, rateLimitHeaders } from '../../auth/rate-limits.ts';
import { bounds } from '../../bounds.ts';
import { isJsonObject } from '../../domain/assert-options.ts';
import type { RequestParamName } from '../../domain/errors.ts';
import { type ApiError, type Failure, invalidRequest, type Outcome } from '../../domain/outcome.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  type ApiOperation,
  type ApiRequest,
  rejectAdmitted,
  reportIgnoredParameters,
  runOperation,
} from '../../operations/api-operation.ts';
import { type CsvPage, renderCsv } from '../../operations/csv-table.ts';
import { listIgnoredNames, reportsIgnoredNames } from '../../operations/ignored-names.ts';
import type { ParameterTexts } from '../../operations/request-members.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import type { CorsPolicy } from './cors.ts';
import { errorReply, jsonHeaders } from './replies.ts';
import { decodePathSegment, isJsonMediaType, parseJsonBody, prefersCsv, prefersJson } from './request-parsing.ts';
import { type AllowedMethods, allowedMethods, apiRouteIndexOf, PathTable, replyMethodNotAllowed } from './routing.ts';

const replayedHeaders = formatHeaders({ 'Idempotency-Replayed': 'true' });
const htmlHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
});

const csvHeaders = formatHeaders({
  'Content-Type': 'text/csv; charset=utf-8; header=present',
  'Cache-Control': 'no-store',
});

/**
 * Checks the credentials of a request, its vertical, its scope and its limits, and counts the request. `isRepeat` tells whether the caller
 * has already used the Idempotency-Key.
 */
export type AdmitRequest = (
  context: RequestContext,
  vertical: Vertical,
  operation: ApiOperation,
  isRepeat: ((caller: Caller) => boolean) | undefined,
) => AdmittedCaller | AuthRejection;

/** Admits requests with an API key in the header `Authorization`. */
export function admitByKey(authenticator: Authenticator): AdmitRequest {
  return (context, vertical, operation, isRepeat) =>
    authenticator.admitRequest(context.getRequestHeader('authorization'), vertical, operation, isRepeat);
}

export interface ApiRoutesDeps {
  /** Path before the vertical: `/v1`, or the path at which the partner console calls the operations. */
  readonly basePath: string;
  readonly verticals: readonly Vertical[];
  readonly admitRequest: AdmitRequest;
  /** How callers send their requests, for the audit log. */
  readonly actorKind: ApiRequest['actorKind'];
  readonly operations: readonly ApiOperation[];
  /** Components that the operations use. */
  readonly operationDeps: object;
  readonly cors: CorsPolicy;
  /** Handlers of paths that belong to no operation, such as the pages of the API documentation, by path. */
  readonly otherHandlers: ReadonlyMap<string, RequestHandler>;
}

/** A path of the API in one vertical. */
interface ApiRoute {
  readonly vertical: Vertical;
  /** Operations by HTTP method, also for HEAD. */
  readonly operations: ReadonlyMap<string, ApiOperation>;
  readonly routeIndex: number;
  readonly methods: AllowedMethods;
}

/** A request that has passed the checks of its API key and of the key's rate limits. */
interface AdmittedRequest extends ApiRequest {
  readonly context: RequestContext;
  readonly operation: ApiOperation;
  readonly operationDeps: never;
  /** Texts of the path parameters, not decoded. */
  readonly segments: readonly string[];
  /** Whether the client prefers CSV to JSON; false if the operation has no CSV response. */
  readonly wantsCsv: boolean;
  readonly corsHeaders: HeaderText;
  /** CORS and rate limit headers of the response. */
  readonly headers: HeaderText;
}

type ApiPaths = Pick<ApiRoutesDeps, 'basePath' | 'verticals' | 'operations'>;

/** Returns a function that tells whether a path belongs to an API operation. */
export function apiPathCheck(paths: ApiPaths): (path: string) => boolean {
  const routes = createRoutes(paths);
  return (path) => routes.find(path) !== undefined;
}

function createRoutes({ basePath, verticals, operations }: ApiPaths): PathTable<ApiRoute> {
  const routes = new PathTable<ApiRoute>();
  for (const [path, ofPath] of Map.groupBy(operations, (operation) => operation.path)) {
    const methods = allowedMethods(...ofPath.map(({ method }) => method));
    const byMethod = new Map<string, ApiOperation>(ofPath.map((operation) => [operation.method, operation]));
    const read = byMethod.get('GET');
    if (read !== undefined) byMethod.set('HEAD', read);
    for (const vertical of verticals) {
      const routeIndex = apiRouteIndexOf({ path });
      routes.set(`${basePath}/${vertical.segment}${path}`, { vertical, operations: byMethod, routeIndex, methods });
    }
  }
  return routes;
}

/**
 * Creates the handler of API operations, `<base path>/<vertical>/<operation>`. The order of the checks (docs/contract.md#order-of-checks) is:
 *
 *     route -> key or login -> vertical -> scope -> limits -> body size, content type, JSON -> operation
 */
export function apiRoutes(deps: ApiRoutesDeps): RequestHandler {
  const { admitRequest, actorKind, cors } = deps;
  const operationDeps = deps.operationDeps as never;
  const routes = createRoutes(deps);

  return (context) => {
    const match = routes.find(context.path);
    if (match === undefined) {
      const otherHandler = deps.otherHandlers.get(context.path);
      if (otherHandler !== undefined) return otherHandler(context);
      return sendError(context, { code: 'NOT_FOUND' }, cors.responseHeaders(context));
    }
    const { vertical, operations, routeIndex, methods } = match.value;
    context.routeIndex = routeIndex;
    const operation = operations.get(context.method);
    if (operation === undefined && context.method === 'OPTIONS') {
      const headers = methods.headers + cors.preflightHeaders(context, methods.list);
      return context.reply({ status: 204, headers, body: '' });
    }
    const corsHeaders = cors.responseHeaders(context, operation?.createCsvPage !== undefined);
    context.errorHeaders = corsHeaders;
    if (operation === undefined) return replyMethodNotAllowed(context, methods, corsHeaders);

    const acceptsKey = operation.isRepeat !== undefined && context.hasIdempotencyKey;
    const idempotencyKey = acceptsKey ? context.getRequestHeader('idempotency-key') : null;
    const isRepeat = createRepeatCheck(operation, operationDeps, idempotencyKey);
    const admission = admitRequest(context, vertical, operation, isRepeat);
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
    const request = {
      context,
      operation,
      operationDeps,
      segments: match.segments,
      wantsCsv: operation.createCsvPage !== undefined && prefersCsv(context.getRequestHeader('accept')),
      corsHeaders,
      headers,
      caller: admission.caller,
      actorKind,
      quotaReservation: admission.quotaReservation,
      idempotencyKey,
      hasResponseBody: context.method !== 'HEAD',
      signal: context,
    };
    return operation.bodyValidator === null ? handleQuery(request) : handleBody(request);
  };
}

/** Returns the function that recognizes a repeated request; undefined for a request without an Idempotency-Key. */
function createRepeatCheck({ isRepeat }: ApiOperation, deps: never, idempotencyKey: string | null) {
  if (idempotencyKey === null) return undefined;
  return (caller: Caller) => isRepeat!(deps, caller, idempotencyKey);
}

/** Handles a request of an operation without a body. */
function handleQuery(request: AdmittedRequest): void | Promise<void> {
  const { context, operation } = request;
  const unknownNames = reportsIgnoredNames(request.caller, operation) ? [] : undefined;
  const query = parseQueryParameters(context.query, operation.queryParameters, unknownNames);
  return query.ok ? run(request, query.values, undefined, unknownNames) : refuse(request, query);
}

/** Reads a JSON body, and runs the operation. If the body is missing or invalid, the request does not count towards the daily session limit. */
function handleBody(request: AdmittedRequest): void {
  const { context, operation, caller } = request;
  const isJson = isJsonMediaType(context.getRequestHeader('content-type'));
  context.readBody(
    (bytes) => {
      const body = parseJsonBody(isJson, bytes);
      if (!body.ok) return refuse(request, body);
      const query = parseQueryParameters(context.query, operation.queryParameters);
      if (!query.ok) return refuse(request, query);
      const hasNames = isJsonObject(body.value) && reportsIgnoredNames(caller, operation);
      return run(request, query.values, body.value, hasNames ? Object.keys(body.value as object) : undefined);
    },
    () => request.quotaReservation?.release(),
  );
}

/**
 * Runs the operation and sends its result.
 *
 * @param texts texts of the query parameters, to which the path parameters are added
 * @param names names of the request that may be unknown to the operation
 */
function run(
  request: AdmittedRequest,
  texts: Record<string, string | undefined>,
  body: unknown,
  names: readonly string[] = noNames,
): void | Promise<void> {
  const { operation, segments } = request;
  for (let index = 0; index < segments.length; index++) {
    const name = operation.pathParameters[index] as RequestParamName;
    const text = decodePathSegment(segments[index]!);
    if (text === null) return refuse(request, invalidRequest(name, 'must be valid percent-encoded UTF-8'));
    texts[name] = text;
  }
  const outcome = runOperation(operation, request.operationDeps, texts, body, request);
  if (outcome instanceof Promise) return outcome.then((settled) => sendOutcome(request, settled, texts, names));
  sendOutcome(request, outcome, texts, names);
}

const noNames: readonly string[] = [];

function refuse(request: AdmittedRequest, failure: Failure): void {
  sendError(request.context, rejectAdmitted(request, failure).error, request.headers);
}

function sendOutcome(
  request: AdmittedRequest,
  outcome: Outcome<unknown>,
  texts: ParameterTexts,
  names: readonly string[],
): void {
  const { context, operation, operationDeps, caller, corsHeaders, headers } = request;
  if (!outcome.ok) {
    const limitHeaders = isLimitRejection(outcome) ? corsHeaders + rateLimitHeaders(outcome.limitStatus) : headers;
    sendError(context, outcome.error, limitHeaders);
    return;
  }
  const result = outcome.value as object;
  // The result of an operation with HTML responses is no promise, so the request headers are available.
  const html = operation.renderHtml?.(result) ?? null;
  if (html !== null && !prefersJson(context.getRequestHeader('accept'))) {
    context.reply({ status: 200, headers: headers + htmlHeaders, body: html });
    return;
  }
  const csvPage = request.wantsCsv ? operation.createCsvPage!(result) : null;
  if (csvPage !== null) {
    sendCsvPage(request, csvPage, texts);
    return;
  }
  const ignored = names.length === 0 ? names : listIgnoredNames(caller, operation, names);
  const replayed = operation.isReplayed?.(result) === true ? replayedHeaders : '';
  const body =
    operation.renderJson?.(result, operationDeps, ignored) ??
    JSON.stringify(reportIgnoredParameters(operation.createResponse?.(result, operationDeps) ?? result, ignored));
  context.reply({ status: 200, headers: headers + replayed + jsonHeaders, body });
}

/** Sends a page as CSV. Refuses the request if the link to the next page would be too long for many clients. */
function sendCsvPage(request: AdmittedRequest, page: CsvPage, texts: ParameterTexts): void {
  const { context, headers } = request;
  const link = nextPageLink(request, page, texts);
  if (link.length > bounds.linkHeaderCharactersMax) refuse(request, invalidRequest('Accept'));
  else context.reply({ status: 200, headers: headers + csvHeaders + link, body: renderCsv(page) });
}

/**
 * Returns the header `Link` with the next page; empty on the last page. The link is relative to the URL of the request, because a proxy may
 * have changed the start of the path.
 */
function nextPageLink({ operation }: AdmittedRequest, { nextCursor }: CsvPage, texts: ParameterTexts): HeaderText {
  if (nextCursor === null) return '';
  const query = new URLSearchParams();
  for (const name of operation.queryParameters) {
    const text = name === 'cursor' ? nextCursor : texts[name];
    if (text !== undefined) query.set(name, text);
  }
  return formatHeader('Link', `<?${query}>; rel="next"`);
}

function sendError(context: RequestContext, error: ApiError, headers: HeaderText): void {
  context.reply(errorReply(error, context.requestId, headers));
}
