import { isIP } from 'node:net';
import type { Logger } from 'pino';
import type { IssuedKey } from '../../auth/api-key.ts';
import { EmbedOriginError, type EmbedOriginRegistry } from '../../auth/embed-origin-registry.ts';
import { isKeyFileBusy, isKeyFileUnwritable } from '../../auth/key-file.ts';
import { type KeyRegistry, type KeyVertical, parseNewKey, toIssuedKeyJson } from '../../auth/key-registry.ts';
import { validateWebOrigin } from '../../auth/web-origin.ts';
import { bounds } from '../../bounds.ts';
import type { CancelSignal } from '../../domain/async.ts';
import type { Clock } from '../../domain/clock.ts';
import {
  failureOutcomeWithCode,
  invalidRequest,
  type Outcome,
  serviceUnavailable,
  successOutcome,
} from '../../domain/outcome.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { MetricRegistry } from '../../metrics/metric-registry.ts';
import type { ClockAdvance } from '../../operations/advance-clock.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { errorReply, jsonHeaders, operatorTokenRequiredReply } from './replies.ts';
import { isJsonMediaType, parseJsonBody } from './request-parsing.ts';
import {
  allowedMethods,
  allowOnlyGet,
  type OperationsRouteName,
  replyNotFound,
  restrictMethods,
  withRoute,
} from './routing.ts';

/**
 * Returns a function that checks a `Host` header to prevent DNS rebinding. In a DNS rebinding attack, the host name of a web page resolves
 * to this machine, so that the page can send requests to the listener. The returned function accepts IP addresses, `localhost` and the
 * given names, each with any port. An empty or missing `Host` header, which no browser sends, is also accepted.
 *
 * @param names allowed host names without ports, not case-sensitive
 */
function createHostHeaderCheck(names: readonly string[]): (host: string) => boolean {
  const allowedNames = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === '') return true;
    const [, ipv6 = '', name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
    return allowedNames.has(name) || isIP(name) === 4 || isIP(ipv6) === 6;
  };
}

const methodsInOrder = ['GET', 'POST', 'DELETE'] as const;

/** Handlers of requests from operators to one path. Each handler returns the JSON response or an error. */
interface OperatorHandlers {
  GET?(context: RequestContext): Outcome<unknown>;
  /** `text` is the JSON text of `body`. */
  POST?(body: unknown, text: string, signal: CancelSignal): Outcome<unknown> | Promise<Outcome<unknown>>;
  DELETE?(context: RequestContext): Outcome<unknown>;
}

/**
 * Creates a handler for requests from operators. The handler first checks the HTTP method, then the operator token, and then the JSON body
 * of a POST request.
 *
 * @param postStatus status of the response to a valid POST request
 */
function operatorOnly({ isOperator }: AdminRoutesDeps, handlers: OperatorHandlers, postStatus = 200): RequestHandler {
  const methods = allowedMethods(...methodsInOrder.filter((method) => handlers[method] !== undefined));
  return restrictMethods(methods, (context) => {
    if (!isOperator(context.getRequestHeader('authorization'))) return context.reply(operatorTokenRequiredReply());
    if (context.method === 'DELETE') return sendOutcome(context, handlers.DELETE!(context));
    if (context.method !== 'POST') return sendOutcome(context, handlers.GET!(context));
    const isJson = isJsonMediaType(context.getRequestHeader('content-type'));
    context.readBody(async (bytes) => {
      const body = parseJsonBody(isJson, bytes);
      const outcome = body.ok ? await handlers.POST!(body.value, bytes.toString(), context) : body;
      sendOutcome(context, outcome, postStatus);
    });
  });
}

function sendOutcome(context: RequestContext, outcome: Outcome<unknown>, status = 200): void {
  if (outcome.ok) sendJson(context, outcome.value, status);
  else context.reply(errorReply(outcome.error, context.requestId));
}

function sendJson(context: RequestContext, value: unknown, status = 200): void {
  context.reply({ status, headers: jsonHeaders, body: `${JSON.stringify(value)}\n` });
}

const keysPath = '/keys';

/**
 * Calls `access` for the key file. Returns a failure if the key file is busy or unwritable, or an origin is invalid. Rethrows other errors.
 */
function tryKeyFile<Value>(access: () => Value): Outcome<Value> {
  try {
    return successOutcome(access());
  } catch (error) {
    if (isKeyFileBusy(error) || isKeyFileUnwritable(error)) return serviceUnavailable(bounds.retryAfterSeconds);
    if (error instanceof EmbedOriginError) return invalidRequest(error.argument);
    throw error;
  }
}

/**
 * Creates the handler that manages API keys. `GET /keys` lists all keys, `POST /keys` creates a key, `GET /keys/<id>` shows a key and
 * `DELETE /keys/<id>` revokes a key. Only the response to `POST /keys` contains the text of the key. Responses never contain the hash of a
 * key. Log lines never contain the text or the hash of a key.
 */
function keyRoutes(deps: AdminRoutesDeps): RequestHandler {
  const { keys, clock, verticals, logger } = deps;
  const toJson = (key: IssuedKey) => toIssuedKeyJson(key, clock.wallMs());
  const keyIdOf = ({ path }: RequestContext) => path.slice(keysPath.length + 1);
  const show = (keyId: string): Outcome<object> => {
    const key = keys.find(keyId);
    return key === undefined ? failureOutcomeWithCode('NOT_FOUND') : successOutcome(toJson(key));
  };
  const create = (body: unknown): Outcome<object> => {
    const nowMs = clock.wallMs();
    const newKey = parseNewKey(body, verticals, nowMs);
    if (!newKey.ok) return newKey;
    return tryKeyFile(() => {
      const { key, issued } = keys.create(newKey.value, nowMs);
      const { id, accountName } = issued;
      logger.info({ keyId: id, account: accountName }, 'API key created through the operations API');
      return { key, ...toJson(issued) };
    });
  };
  const revoke = (keyId: string): Outcome<object> => {
    const revoked = tryKeyFile(() => keys.revokeKey(keyId, clock.wallMs()));
    if (!revoked.ok) return revoked;
    if (revoked.value === 'revoked') {
      const account = keys.find(keyId)?.accountName;
      logger.info({ keyId, account }, 'API key revoked through the operations API');
    }
    return show(keyId);
  };
  const all = operatorOnly(deps, { GET: () => successOutcome(keys.listKeys().map(toJson)), POST: create }, 201);
  const one = operatorOnly(deps, {
    GET: (context) => show(keyIdOf(context)),
    DELETE: (context) => revoke(keyIdOf(context)),
  });
  return (context) => (context.path === keysPath ? all(context) : one(context));
}

const originParameters = ['account', 'origin'] as const;

/**
 * Creates the handler that manages the web origins that may embed the widgets of an account. `GET /origins` lists the origins of all
 * accounts, or of the account in `?account=`. `POST /origins` allows origins, and `DELETE /origins?account=&origin=` removes an origin.
 */
function originRoutes(deps: AdminRoutesDeps): RequestHandler {
  const { embedOrigins, logger } = deps;
  return operatorOnly(deps, {
    GET(context) {
      const query = parseQueryParameters(context.query, originParameters);
      if (!query.ok) return query;
      return tryKeyFile(() => {
        const listed = embedOrigins.listOrigins(query.values.account);
        return listed.map(({ accountName, origin }) => ({ account: accountName, origin }));
      });
    },
    POST(body) {
      const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
      if (typeof account !== 'string') return invalidRequest('account');
      if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
        return invalidRequest('origins');
      }
      return tryKeyFile(() => {
        const outcomes = embedOrigins.allowOrigins(account, origins);
        const count = outcomes.filter((outcome) => outcome === 'allowed').length;
        if (count > 0) logger.info({ account, origins: count }, 'embedding origins allowed through the operations API');
        return outcomes.map((outcome, index) => ({ origin: origins[index], outcome }));
      });
    },
    DELETE(context) {
      const query = parseQueryParameters(context.query, originParameters);
      if (!query.ok) return query;
      const { account, origin } = query.values;
      if (account === undefined) return invalidRequest('account');
      if (!isOrigin(origin)) return invalidRequest('origin');
      return tryKeyFile(() => {
        const [outcome] = embedOrigins.removeOrigins(account, [origin]);
        if (outcome === 'removed') {
          logger.info({ account, origins: 1 }, 'embedding origins removed through the operations API');
        }
        return [{ origin, outcome }];
      });
    },
  });
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && validateWebOrigin(value) === null;
}

/** Creates the handler of `/test-clock`. `GET` returns the time of the test clock, and `POST {"advance_days": 46}` advances it. */
function testClockRoutes(deps: AdminRoutesDeps, testClock: Pick<ClockAdvance, 'advance' | 'readTime'>): RequestHandler {
  return operatorOnly(deps, {
    GET: () => successOutcome(testClock.readTime()),
    POST: async (body) => {
      const { advance_days: days, ...others } = Object(body) as Readonly<Record<string, unknown>>;
      if (Object.keys(others).length > 0) {
        return invalidRequest('body', 'must be an object with no other member than advance_days');
      }
      const advanced = await testClock.advance(days);
      if (advanced.ok) deps.logger.info({ advancedDays: advanced.value.advanced_days }, 'test clock advanced');
      return advanced;
    },
  });
}

interface AdminRoutesDeps {
  readonly logger: Logger;
  /** Host names that the operations listener accepts besides `localhost` and IP addresses. */
  readonly hostNames: readonly string[];
  /** Returns the reasons why the service is not ready; empty when the service is ready. */
  readonly notReadyReasons: () => readonly string[];
  readonly metrics: MetricRegistry;
  /** Whether an Authorization header contains the operator token. */
  readonly isOperator: (authorization: string) => boolean;
  readonly clock: Clock;
  readonly verticals: readonly KeyVertical[];
  readonly keys: Pick<KeyRegistry, 'create' | 'find' | 'listKeys' | 'revokeKey'>;
  readonly embedOrigins: Pick<EmbedOriginRegistry, 'allowOrigins' | 'listOrigins' | 'removeOrigins'>;
  /** Null without a test clock; `/test-clock` is then an unknown path. */
  readonly testClock: Pick<ClockAdvance, 'advance' | 'readTime'> | null;
  /** Records revenue confirmations (docs/contract.md#confirmations). `text` is the JSON text of `body`. */
  readonly confirmRevenue: NonNullable<OperatorHandlers['POST']>;
}

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/**
 * Creates the handler of the operations listener. `/healthz`, `/readyz` (503 with the reasons if the service is not ready) and `/metrics`
 * (Prometheus text) need no token. `/confirmations`, `/keys`, `/origins` and `/test-clock` need the operator token. Requests with an
 * unknown `Host` are rejected on every path.
 */
export function adminRoutes(deps: AdminRoutesDeps): RequestHandler {
  const { hostNames, notReadyReasons, metrics, confirmRevenue, testClock } = deps;
  const isKnownHost = createHostHeaderCheck(hostNames);
  const routes: Readonly<Partial<Record<OperationsRouteName, RequestHandler>>> = {
    healthz: allowOnlyGet((context) => sendJson(context, { status: 'ok' })),
    readyz: allowOnlyGet((context) => {
      const reasons = notReadyReasons();
      const clock = testClock && { test_clock: testClock.readTime() };
      if (reasons.length === 0) sendJson(context, { status: 'ready', ...clock });
      else sendJson(context, { status: 'not ready', reasons, ...clock }, 503);
    }),
    metrics: allowOnlyGet(async (context) => {
      const body = await metrics.renderPrometheusText();
      context.reply({ status: 200, headers: formatHeader('Content-Type', metrics.contentType) + noStore, body });
    }),
    confirmations: operatorOnly(deps, { POST: confirmRevenue }),
    keys: keyRoutes(deps),
    origins: originRoutes(deps),
    ...(testClock !== null && { 'test-clock': testClockRoutes(deps, testClock) }),
  };
  const handlers = new Map(
    Object.entries(routes).map(([name, handler]) => [`/${name}`, withRoute(name as OperationsRouteName, handler)]),
  );
  return (context) => {
    if (!isKnownHost(context.getRequestHeader('host'))) {
      return context.reply(errorReply({ code: 'MISDIRECTED_REQUEST' }, context.requestId));
    }
    // One handler serves all paths below `/keys`.
    const path = context.path.startsWith(`${keysPath}/`) ? keysPath : context.path;
    return (handlers.get(path) ?? replyNotFound)(context);
  };
}
