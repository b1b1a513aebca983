import type { Admission, Gatekeeper } from '../access/gatekeeper.ts';
import type { Operation } from '../access/key-use.ts';
import { limitHeaders } from '../access/limit-headers.ts';
import type { Outcome, Refusal } from '../domain/outcome.ts';
import { fixedHeaders, type HeaderText, header } from '../http/header-text.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import { ignoredNames, knownNames } from '../operations/ignored-names.ts';
import type { MarketplaceRequest } from '../operations/marketplace-request.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { ApiOperations } from './api-operations.ts';
import type { Cors } from './cors.ts';
import { errorReply, jsonHeaders } from './error-reply.ts';
import { isJsonMediaType, readJson } from './json-body.ts';
import { prefersJson } from './prefers-json.ts';
import { readQueryParameters } from './query-parameters.ts';
import { type RouteName, routeOf } from './routes.ts';

const replayed = fixedHeaders({ 'Idempotency-Replayed': 'true' });
const htmlHeaders = fixedHeaders({
  'Content-Type': 'text/html; charset=utf-8',
  'Cache-Control': 'no-store',
});

export interface ApiFacePorts {
  readonly verticals: readonly Vertical[];
  readonly gatekeeper: Gatekeeper;
  readonly operations: ApiOperations;
  readonly cors: Cors;
  /** What else there is to read, by its path: looked up only where there is no operation. */
  readonly pages: ReadonlyMap<string, Handler>;
}

interface Route {
  readonly vertical: Vertical;
  readonly operation: Operation;
  /** For the figures. */
  readonly number: number;
  /** HEAD goes with GET. */
  readonly method: 'POST' | 'GET';
  /** Value of the Allow header. */
  readonly allow: string;
}

const operationPaths: readonly (readonly [segment: RouteName, operation: Operation, method: Route['method']])[] = [
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
export class ApiFace {
  readonly #ports: ApiFacePorts;
  readonly #routes = new Map<string, Route>();

  constructor(ports: ApiFacePorts) {
    this.#ports = ports;
    for (const vertical of ports.verticals) {
      for (const [segment, operation, method] of operationPaths) {
        const allow = method === 'GET' ? 'GET, HEAD, OPTIONS' : 'POST, OPTIONS';
        this.#routes.set(`/v1/${vertical.segment}/${segment}`, {
          vertical,
          operation,
          number: routeOf(segment),
          method,
          allow,
        });
      }
    }
  }

  readonly handle: Handler = (exchange) => {
    const route = this.#routes.get(exchange.path);
    if (route === undefined) return this.#read(exchange);
    exchange.route = route.number;
    const { method } = exchange;
    if (method === 'OPTIONS') return this.#describe(exchange, route);
    const cors = this.#ports.cors.headersFor(exchange);
    exchange.refusalHeaders = cors;
    if (method !== route.method && !(method === 'HEAD' && route.method === 'GET')) {
      return this.#refuse(exchange, { code: 'METHOD_NOT_ALLOWED' }, cors + header('Allow', route.allow));
    }

    const { gatekeeper, operations } = this.#ports;
    const idempotencyKey = route.operation === 'create_session' ? exchange.header('idempotency-key') || null : null;
    const admission = gatekeeper.admit(
      exchange.header('authorization'),
      route.vertical,
      route.operation,
      operations.isRepeat(idempotencyKey),
    );
    if (!admission.ok) {
      const { refusal, limits } = admission;
      exchange.askedBy = admission.askedBy;
      return this.#refuse(exchange, refusal, limits === null ? cors : cors + limitHeaders(limits));
    }
    const headers = cors + limitHeaders(admission.limits);
    exchange.refusalHeaders = headers;
    exchange.askedBy = admission.caller;

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

  #read(exchange: Exchange): void | Promise<void> {
    const page = this.#ports.pages.get(exchange.path);
    if (page !== undefined) return page(exchange);
    this.#refuse(exchange, { code: 'NOT_FOUND' }, this.#ports.cors.headersFor(exchange));
  }

  #createSession(exchange: Exchange, admission: Admission, idempotencyKey: string | null, headers: HeaderText): void {
    this.#withJsonBody(exchange, headers, admission, (body) =>
      this.#ports.operations.createSession(admission, body, idempotencyKey).then((outcome) => {
        if (!outcome.ok) return this.#refuse(exchange, outcome.refusal, headers);
        const { session, replayed: again } = outcome.value;
        const ignored = ignoredMembers(admission, body, knownNames.create_session);
        this.#sendJson(exchange, again ? headers + replayed : headers, JSON.stringify(session), ignored);
      }),
    );
  }

  #submitInputs(exchange: Exchange, admission: Admission, headers: HeaderText): void {
    this.#withJsonBody(exchange, headers, admission, (body) =>
      this.#ports.operations
        .submitInputs(admission, body)
        .then((outcome) =>
          this.#answer(exchange, headers, outcome, ignoredMembers(admission, body, knownNames.submit_inputs)),
        ),
    );
  }

  #getMarketplace(exchange: Exchange, admission: Admission, headers: HeaderText): void | Promise<void> {
    const others = otherParameters(admission);
    const query = readQueryParameters(exchange.query, knownNames.get_marketplace, others);
    if (!query.ok) return this.#refuse(exchange, query.refusal, headers);
    const { format } = query.values;
    const ignored = others === undefined ? none : ignoredNames(others, none);
    if (format === 'iframe' || format === 'js') {
      return this.#embedWidget(exchange, admission, query.values, headers, ignored);
    }
    const counts = exchange.method !== 'HEAD';
    const outcome = this.#ports.operations.getMarketplace(admission, query.values, counts, exchange);
    if (!(outcome instanceof Promise)) return this.#answerText(exchange, headers, outcome, ignored);
    return outcome.then((settled) => this.#answerText(exchange, headers, settled, ignored));
  }

  #embedWidget(
    exchange: Exchange,
    admission: Admission,
    request: MarketplaceRequest,
    headers: HeaderText,
    ignored: readonly string[],
  ): void {
    const asJson = prefersJson(exchange.header('accept'));
    const outcome = this.#ports.operations.embedWidget(admission, request);
    if (!outcome.ok || asJson) this.#answer(exchange, headers, outcome, ignored);
    else exchange.reply({ status: 200, headers: headers + htmlHeaders, body: `${outcome.value.html}\n` });
  }

  async #queryAnalytics(exchange: Exchange, admission: Admission, headers: HeaderText): Promise<void> {
    const others = otherParameters(admission);
    const query = readQueryParameters(exchange.query, knownNames.query_analytics, others);
    if (!query.ok) return this.#refuse(exchange, query.refusal, headers);
    const outcome = await this.#ports.operations.queryAnalytics(admission, query.values, exchange);
    this.#answer(exchange, headers, outcome, others === undefined ? none : ignoredNames(others, none));
  }

  /** Checks content type, then JSON (docs/contract.md#order-of-checks). A body that never comes gives back what was reserved for it. */
  #withJsonBody(
    exchange: Exchange,
    headers: HeaderText,
    admission: Admission,
    operate: (body: unknown) => void | Promise<void>,
  ): void {
    const { operations } = this.#ports;
    const giveUp = (refusal: Refusal): void =>
      this.#answer(exchange, headers, operations.giveUp(admission, refusal), none);
    const isJson = isJsonMediaType(exchange.header('content-type'));
    exchange.readBody(
      (bytes) => {
        const read = readJson(isJson, bytes);
        if (!read.ok) return giveUp(read.refusal);
        return operate(read.value);
      },
      () => admission.daySlot?.giveBack(),
    );
  }

  #answer(exchange: Exchange, headers: HeaderText, outcome: Outcome<object>, ignored: readonly string[]): void {
    const text: Outcome<string> = outcome.ok ? { ok: true, value: JSON.stringify(outcome.value) } : outcome;
    this.#answerText(exchange, headers, text, ignored);
  }

  /** The value is the JSON text of the answer. */
  #answerText(exchange: Exchange, headers: HeaderText, outcome: Outcome<string>, ignored: readonly string[]): void {
    if (outcome.ok) this.#sendJson(exchange, headers, outcome.value, ignored);
    else this.#refuse(exchange, outcome.refusal, headers);
  }

  /** Adds the member `ignored` to the JSON text of an object, where there is something to list. */
  #sendJson(exchange: Exchange, headers: HeaderText, json: string, ignored: readonly string[]): void {
    const body = ignored.length === 0 ? json : `${json.slice(0, -1)},"ignored":${JSON.stringify(ignored)}}`;
    exchange.reply({ status: 200, headers: headers + jsonHeaders, body });
  }

  #refuse(exchange: Exchange, refusal: Refusal, headers: HeaderText): void {
    exchange.reply(errorReply(refusal, exchange.requestId, headers));
  }

  #describe(exchange: Exchange, route: Route): void {
    const headers = header('Allow', route.allow) + this.#ports.cors.preflightHeaders(exchange, route.allow);
    exchange.reply({ status: 204, headers, body: '' });
  }
}

const none: readonly string[] = [];

/** A list for the names of unknown query parameters; `undefined` for live keys, whose answers do not list them. */
function otherParameters({ caller }: Admission): string[] | undefined {
  return caller.mode === 'test' ? [] : undefined;
}

/** Unknown members of a body; empty for live keys. */
function ignoredMembers({ caller }: Admission, body: unknown, known: readonly string[]): readonly string[] {
  if (caller.mode === 'live' || typeof body !== 'object' || body === null) return none;
  return ignoredNames(Object.keys(body), known);
}
