import type { Admission, Authenticator } from '../../auth/authenticator.ts';
import type { Operation } from '../../auth/key-usage.ts';
import { rateLimitHeaders } from '../../auth/rate-limits.ts';
import type { Outcome, Refusal } from '../../domain/outcome.ts';
import type { ApiOperations } from '../../operations/api-operations.ts';
import type { MarketplaceRequest } from '../../operations/get-marketplace.ts';
import { collectIgnoredNames, knownRequestNames } from '../../operations/ignored-names.ts';
import type { Vertical } from '../../verticals/vertical.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders, type HeaderText } from '../engines/response-head.ts';
import type { Cors } from './cors.ts';
import { errorReply, jsonHeaders } from './replies.ts';
import { isJsonMediaType, parseJsonBody, parseQueryParameters, prefersJson } from './request-parsing.ts';
import { type RouteName, routeIndexOf } from './route-names.ts';

const replayedHeaders = formatHeaders({ 'Idempotency-Replayed': 'true' });
const htmlHeaders = formatHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
});

interface ApiRoutesDeps {
  readonly verticals: readonly Vertical[];
  readonly authenticator: Authenticator;
  readonly operations: ApiOperations;
  readonly cors: Cors;
  /** What else there is to read, by its path: looked up only where there is no operation. */
  readonly docsHandlers: ReadonlyMap<string, Handler>;
}

interface ApiRoute {
  readonly vertical: Vertical;
  readonly operation: Operation;
  /** For the figures. */
  readonly routeIndex: number;
  /** HEAD goes with GET. */
  readonly method: 'POST' | 'GET';
  /** Value of the Allow header. */
  readonly allow: string;
}

const operationPaths: readonly (readonly [segment: RouteName, operation: Operation, method: ApiRoute['method']])[] = [
  ['session', 'create_session', 'POST'],
  ['inputs', 'submit_inputs', 'POST'],
  ['marketplace', 'get_marketplace', 'GET'],
  ['analytics', 'query_analytics', 'GET'],
];

/**
 * The API, `/v1/<vertical>/<operation>`. Every request passes the same checks (docs/contract.md#order-of-checks), and a
 * refusal at one of them costs nothing of what comes after:
 *
 *     route -> key -> vertical -> limits -> body size, content type, JSON -> the operation
 */
export class ApiRoutes {
  readonly #deps: ApiRoutesDeps;
  readonly #routes = new Map<string, ApiRoute>();

  constructor(deps: ApiRoutesDeps) {
    this.#deps = deps;
    for (const vertical of deps.verticals) {
      for (const [segment, operation, method] of operationPaths) {
        const allow = method === 'GET' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
        this.#routes.set(`/v1/${vertical.segment}/${segment}`, {
          vertical,
          operation,
          routeIndex: routeIndexOf(segment),
          method,
          allow,
        });
      }
    }
  }

  readonly handle: Handler = (exchange) => {
    const route = this.#routes.get(exchange.path);
    if (route === undefined) return this.#serveDocs(exchange);
    exchange.routeIndex = route.routeIndex;
    const { method } = exchange;
    if (method === 'OPTIONS') return this.#answerOptions(exchange, route);
    const cors = this.#deps.cors.headersFor(exchange);
    exchange.errorHeaders = cors;
    if (method !== route.method && !(method === 'HEAD' && route.method === 'GET')) {
      return this.#sendError(exchange, { code: 'METHOD_NOT_ALLOWED' }, cors + formatHeader('Allow', route.allow));
    }

    const { authenticator, operations } = this.#deps;
    const idempotencyKey = route.operation === 'create_session' ? exchange.header('idempotency-key') || null : null;
    const admission = authenticator.admit(
      exchange.header('authorization'),
      route.vertical,
      route.operation,
      operations.repeatCheckFor(idempotencyKey),
    );
    if (!admission.ok) {
      const { refusal, limitStatus } = admission;
      exchange.caller = admission.caller;
      return this.#sendError(exchange, refusal, limitStatus === null ? cors : cors + rateLimitHeaders(limitStatus));
    }
    const headers = cors + rateLimitHeaders(admission.limitStatus);
    exchange.errorHeaders = headers;
    exchange.caller = admission.caller;

    switch (route.operation) {
      case 'create_session':
        return this.#createSession(exchange, admission, idempotencyKey, headers);
      case 'submit_inputs':
        return this.#submitInputs(exchange, admission, headers);
      case 'get_marketplace':
        return this.#getMarketplace(exchange, admission, headers);
      case 'query_analytics':
        return this.#queryAnalytics(exchange, admission, headers);
    }
  };

  #serveDocs(exchange: RequestContext): void | Promise<void> {
    const page = this.#deps.docsHandlers.get(exchange.path);
    if (page !== undefined) return page(exchange);
    this.#sendError(exchange, { code: 'NOT_FOUND' }, this.#deps.cors.headersFor(exchange));
  }

  #createSession(
    exchange: RequestContext,
    admission: Admission,
    idempotencyKey: string | null,
    headers: HeaderText,
  ): void {
    this.#withJsonBody(exchange, headers, admission, (body) =>
      this.#deps.operations.createSession(admission, body, idempotencyKey).then((outcome) => {
        if (!outcome.ok) return this.#sendError(exchange, outcome.refusal, headers);
        const { session, replayed: again } = outcome.value;
        const ignored = ignoredMembers(admission, body, knownRequestNames.create_session);
        this.#sendJson(exchange, again ? headers + replayedHeaders : headers, JSON.stringify(session), ignored);
      }),
    );
  }

  #submitInputs(exchange: RequestContext, admission: Admission, headers: HeaderText): void {
    this.#withJsonBody(exchange, headers, admission, (body) =>
      this.#deps.operations
        .submitInputs(admission, body)
        .then((outcome) =>
          this.#sendOutcome(
            exchange,
            headers,
            outcome,
            ignoredMembers(admission, body, knownRequestNames.submit_inputs),
          ),
        ),
    );
  }

  #getMarketplace(exchange: RequestContext, admission: Admission, headers: HeaderText): void | Promise<void> {
    const others = createUnknownNamesList(admission);
    const query = parseQueryParameters(exchange.query, knownRequestNames.get_marketplace, others);
    if (!query.ok) return this.#sendError(exchange, query.refusal, headers);
    const { format } = query.values;
    const ignored = others === undefined ? noNames : collectIgnoredNames(others, noNames);
    if (format === 'iframe' || format === 'js') {
      return this.#embedWidget(exchange, admission, query.values, headers, ignored);
    }
    const counts = exchange.method !== 'HEAD';
    const outcome = this.#deps.operations.getMarketplace(admission, query.values, counts, exchange);
    if (!(outcome instanceof Promise)) return this.#sendJsonOutcome(exchange, headers, outcome, ignored);
    return outcome.then((settled) => this.#sendJsonOutcome(exchange, headers, settled, ignored));
  }

  #embedWidget(
    exchange: RequestContext,
    admission: Admission,
    request: MarketplaceRequest,
    headers: HeaderText,
    ignored: readonly string[],
  ): void {
    const asJson = prefersJson(exchange.header('accept'));
    const outcome = this.#deps.operations.embedWidget(admission, request);
    if (!outcome.ok || asJson) this.#sendOutcome(exchange, headers, outcome, ignored);
    else exchange.reply({ status: 200, headers: headers + htmlHeaders, body: `${outcome.value.html}\n` });
  }

  async #queryAnalytics(exchange: RequestContext, admission: Admission, headers: HeaderText): Promise<void> {
    const others = createUnknownNamesList(admission);
    const query = parseQueryParameters(exchange.query, knownRequestNames.query_analytics, others);
    if (!query.ok) return this.#sendError(exchange, query.refusal, headers);
    const outcome = await this.#deps.operations.queryAnalytics(admission, query.values, exchange);
    this.#sendOutcome(
      exchange,
      headers,
      outcome,
      others === undefined ? noNames : collectIgnoredNames(others, noNames),
    );
  }

  /** Checks content type, then JSON (docs/contract.md#order-of-checks). A body that never comes gives back what was reserved for it. */
  #withJsonBody(
    exchange: RequestContext,
    headers: HeaderText,
    admission: Admission,
    operate: (body: unknown) => void | Promise<void>,
  ): void {
    const { operations } = this.#deps;
    const giveUp = (refusal: Refusal): void =>
      this.#sendOutcome(exchange, headers, operations.refuseAdmitted(admission, refusal), noNames);
    const isJson = isJsonMediaType(exchange.header('content-type'));
    exchange.readBody(
      (bytes) => {
        const read = parseJsonBody(isJson, bytes);
        if (!read.ok) return giveUp(read.refusal);
        return operate(read.value);
      },
      () => admission.quotaReservation?.release(),
    );
  }

  #sendOutcome(
    exchange: RequestContext,
    headers: HeaderText,
    outcome: Outcome<object>,
    ignored: readonly string[],
  ): void {
    const text: Outcome<string> = outcome.ok ? { ok: true, value: JSON.stringify(outcome.value) } : outcome;
    this.#sendJsonOutcome(exchange, headers, text, ignored);
  }

  /** The value is the JSON text of the answer. */
  #sendJsonOutcome(
    exchange: RequestContext,
    headers: HeaderText,
    outcome: Outcome<string>,
    ignored: readonly string[],
  ): void {
    if (outcome.ok) this.#sendJson(exchange, headers, outcome.value, ignored);
    else this.#sendError(exchange, outcome.refusal, headers);
  }

  /** Adds the member `ignored` to the JSON text of an object, where there is something to list. */
  #sendJson(exchange: RequestContext, headers: HeaderText, json: string, ignored: readonly string[]): void {
    const body = ignored.length === 0 ? json : `${json.slice(0, -1)},"ignored":${JSON.stringify(ignored)}}`;
    exchange.reply({ status: 200, headers: headers + jsonHeaders, body });
  }

  #sendError(exchange: RequestContext, refusal: Refusal, headers: HeaderText): void {
    exchange.reply(errorReply(refusal, exchange.requestId, headers));
  }

  #answerOptions(exchange: RequestContext, route: ApiRoute): void {
    const headers = formatHeader('Allow', route.allow) + this.#deps.cors.preflightHeaders(exchange, route.allow);
    exchange.reply({ status: 204, headers, body: '' });
  }
}

const noNames: readonly string[] = [];

/** A list for the names of unknown query parameters; `undefined` for live keys, whose answers do not list them. */
function createUnknownNamesList({ caller }: Admission): string[] | undefined {
  return caller.mode === 'test' ? [] : undefined;
}

/** Unknown members of a body; empty for live keys. */
function ignoredMembers({ caller }: Admission, body: unknown, known: readonly string[]): readonly string[] {
  if (caller.mode === 'live' || typeof body !== 'object' || body === null) return noNames;
  return collectIgnoredNames(Object.keys(body), known);
}
