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
import type { ConfirmationsResponse } from '../../operations/confirm-revenue.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { errorReply, jsonHeaders, operatorTokenRequiredReply } from './replies.ts';
import { isJsonMediaType, parseJsonBody } from './request-parsing.ts';
import { allowedMethods, allowOnlyGet, type RouteName, restrictMethods, routeIndexOf } from './routing.ts';

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

type AdminMethod = 'GET' | 'POST' | 'DELETE';

/** Creates a handler for requests from operators. The handler first checks the HTTP method and then the operator token. */
function operatorOnly(
  { isOperator }: AdminRoutesDeps,
  handlers: { readonly [Name in AdminMethod]?: RequestHandler },
): RequestHandler {
  const handle: RequestHandler = (context) => {
    if (!isOperator(context.getRequestHeader('authorization'))) return context.reply(operatorTokenRequiredReply());
    return handlers[context.method === 'HEAD' ? 'GET' : (context.method as AdminMethod)]!(context);
  };
  return restrictMethods(allowedMethods(...(Object.keys(handlers) as AdminMethod[])), handle);
}

/** Reads a JSON body and replies with the outcome of `handle`. The arguments of `handle` are the parsed body and the text of the body. */
function replyToJsonBody(
  context: RequestContext,
  handle: (body: unknown, text: string) => Outcome<unknown> | Promise<Outcome<unknown>>,
  status = 200,
): void {
  const isJson = isJsonMediaType(context.getRequestHeader('content-type'));
  context.readBody(async (bytes) => {
    const body = parseJsonBody(isJson, bytes);
    sendOutcome(context, body.ok ? await handle(body.value, bytes.toString()) : body, status);
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
  const all = operatorOnly(deps, {
    GET: (context) => sendOutcome(context, successOutcome(keys.listKeys().map(toJson))),
    POST: (context) => {
      const issue = (body: unknown): Outcome<object> => {
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
      replyToJsonBody(context, issue, 201);
    },
  });
  const one = operatorOnly(deps, {
    GET: (context) => sendOutcome(context, find(context.path)),
    DELETE: (context) => {
      const keyId = keyIdOf(context.path);
      const revoked = tryKeyFile(() => keys.revokeKey(keyId, clock.wallMs()));
      if (revoked.ok && revoked.value === 'revoked') {
        const account = keys.find(keyId)?.accountName;
        logger.info({ keyId, account }, 'API key revoked through the operations API');
      }
      sendOutcome(context, revoked.ok ? find(context.path) : revoked);
    },
  });
  const find = (path: string): Outcome<object> => {
    const key = keys.find(keyIdOf(path));
    return key === undefined ? failureOutcomeWithCode('NOT_FOUND') : successOutcome(toJson(key));
  };
  return (context) => (context.path === keysPath ? all(context) : one(context));
}

function keyIdOf(path: string): string {
  return path.slice(keysPath.length + 1);
}

const originParameters = ['account', 'origin'] as const;

/**
 * Creates the handler that manages the web origins that may embed the widgets of an account. `GET /origins` lists the origins of all
 * accounts, or of the account in `?account=`. `POST /origins` allows origins, and `DELETE /origins?account=&origin=` removes an origin.
 */
function originRoutes(deps: AdminRoutesDeps): RequestHandler {
  const { embedOrigins, logger } = deps;
  return operatorOnly(deps, {
    GET: (context) => sendOutcome(context, list(context.query)),
    POST: (context) => {
      replyToJsonBody(context, (body) => {
        const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
        if (typeof account !== 'string') return invalidRequest('account');
        if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
          return invalidRequest('origins');
        }
        return change('allowOrigins', account, origins);
      });
    },
    DELETE: (context) => sendOutcome(context, remove(context.query)),
  });

  function list(text: string): Outcome<unknown> {
    const query = parseQueryParameters(text, originParameters);
    if (!query.ok) return query;
    const listed = tryKeyFile(() => embedOrigins.listOrigins(query.values.account));
    return listed.ok
      ? successOutcome(listed.value.map((each) => ({ account: each.accountName, origin: each.origin })))
      : listed;
  }

  function remove(text: string): Outcome<unknown> {
    const query = parseQueryParameters(text, originParameters);
    if (!query.ok) return query;
    const { account, origin } = query.values;
    if (account === undefined) return invalidRequest('account');
    return isOrigin(origin) ? change('removeOrigins', account, [origin]) : invalidRequest('origin');
  }

  /** Allows or removes origins, logs the number of changed origins, and returns the result of each origin. */
  function change(
    operation: 'allowOrigins' | 'removeOrigins',
    account: string,
    origins: readonly string[],
  ): Outcome<unknown> {
    const results = tryKeyFile<readonly string[]>(() => embedOrigins[operation](account, origins));
    if (!results.ok) return results;
    const count = results.value.filter((result) => result === 'allowed' || result === 'removed').length;
    if (count > 0 && operation === 'allowOrigins') {
      logger.info({ account, origins: count }, 'embedding origins allowed through the operations API');
    } else if (count > 0) {
      logger.info({ account, origins: count }, 'embedding origins removed through the operations API');
    }
    return successOutcome(results.value.map((outcome, index) => ({ origin: origins[index], outcome })));
  }
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && validateWebOrigin(value) === null;
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
  /** Records revenue confirmations (docs/contract.md#confirmations). `text` is the JSON text of `body`. */
  readonly confirmRevenue: (
    body: unknown,
    text: string,
    signal: CancelSignal,
  ) => Promise<Outcome<ConfirmationsResponse>>;
}

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/**
 * Creates the handler of the operations listener. `/healthz`, `/readyz` (503 with the reasons if the service is not ready) and `/metrics`
 * (Prometheus text) need no token. `/confirmations`, `/keys` and `/origins` need the operator token. Requests with an
 * unknown `Host` are rejected on every path.
 */
export function adminRoutes(deps: AdminRoutesDeps): RequestHandler {
  const { hostNames, notReadyReasons, metrics, confirmRevenue } = deps;
  const isKnownHost = createHostHeaderCheck(hostNames);
  const handlers = new Map<string, RequestHandler>([
    ['/healthz', allowOnlyGet((context) => sendJson(context, { status: 'ok' }))],
    [
      '/readyz',
      allowOnlyGet((context) => {
        const reasons = notReadyReasons();
        if (reasons.length === 0) sendJson(context, { status: 'ready' });
        else sendJson(context, { status: 'not ready', reasons }, 503);
      }),
    ],
    [
      '/metrics',
      allowOnlyGet(async (context) => {
        const body = await metrics.renderPrometheusText();
        context.reply({ status: 200, headers: formatHeader('Content-Type', metrics.contentType) + noStore, body });
      }),
    ],
    [
      '/confirmations',
      operatorOnly(deps, {
        POST: (context) => replyToJsonBody(context, (body, text) => confirmRevenue(body, text, context)),
      }),
    ],
    [keysPath, keyRoutes(deps)],
    ['/origins', originRoutes(deps)],
  ]);
  return (context) => {
    if (!isKnownHost(context.getRequestHeader('host'))) {
      return context.reply(errorReply({ code: 'MISDIRECTED_REQUEST' }, context.requestId));
    }
    // One handler serves all paths below `/keys`.
    const path = context.path.startsWith(`${keysPath}/`) ? keysPath : context.path;
    const handler = handlers.get(path);
    if (handler === undefined) return context.reply(errorReply({ code: 'NOT_FOUND' }, context.requestId));
    context.routeIndex = routeIndexOf(path.slice(1) as RouteName);
    return handler(context);
  };
}
