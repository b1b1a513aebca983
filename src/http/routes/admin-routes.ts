import { isIP } from 'node:net';
import type { IssuedKey, NewKey, RevokeResult } from '../../auth/api-key.ts';
import { type KeyVertical, parseKeyRequest, toIssuedKeyJson } from '../../auth/key-registry.ts';
import { type AllowedOrigin, type AllowResult, type RemoveResult, validateWebOrigin } from '../../auth/web-origin.ts';
import { bounds } from '../../bounds.ts';
import type { CancelSignal } from '../../domain/async.ts';
import type { Clock } from '../../domain/clock.ts';
import { failedWithCode, invalidRequest, type Outcome, succeeded } from '../../domain/outcome.ts';
import { parseQueryParameters } from '../../domain/query-string.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { ConfirmationsView } from '../../operations/confirm-revenue.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { errorReply, jsonHeaders, operatorTokenRequiredReply } from './replies.ts';
import { isJsonMediaType, parseJsonBody } from './request-parsing.ts';
import { allowedMethods, allowOnlyGet, type RouteName, restrictMethods, routeIndexOf } from './routing.ts';

/**
 * Returns a function that checks a `Host` header to prevent DNS rebinding. In a DNS rebinding attack, a web page reaches the listener
 * through a host name that resolves to this machine, and the browser sends this host name. The function accepts IP addresses, `localhost`
 * and the given names, each with any port. An empty or missing header is also accepted, because browsers always send the header.
 *
 * @param names allowed host names without ports, not case-sensitive
 */
export function createHostCheck(names: readonly string[]): (host: string) => boolean {
  const allowedNames = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === '') return true;
    const [, ipv6 = '', name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
    return allowedNames.has(name) || isIP(name) === 4 || isIP(ipv6) === 6;
  };
}

/** Whether an Authorization header contains the operator token. */
export type OperatorCheck = (authorization: string) => boolean;

type AdminMethod = 'GET' | 'POST' | 'DELETE';

/** Creates a handler for operators. The handler checks the HTTP method first and then the operator token. */
function operatorOnly(isOperator: OperatorCheck, handlers: { readonly [Name in AdminMethod]?: Handler }): Handler {
  const handle: Handler = (context) => {
    if (!isOperator(context.header('authorization'))) return context.reply(operatorTokenRequiredReply());
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
  const isJson = isJsonMediaType(context.header('content-type'));
  context.readBody(async (bytes) => {
    const body = parseJsonBody(isJson, bytes);
    sendOutcome(context, body.ok ? await handle(body.value, bytes.toString()) : body, status);
  });
}

function sendOutcome(context: RequestContext, outcome: Outcome<unknown>, status = 200): void {
  context.reply(
    outcome.ok
      ? { status, headers: jsonHeaders, body: `${JSON.stringify(outcome.value)}\n` }
      : errorReply(outcome.error, context.requestId),
  );
}

const keysPath = '/keys';

interface KeyAdmin {
  createKey(newKey: NewKey, nowMs: number): Outcome<{ readonly key: string; readonly issued: IssuedKey }>;
  findKey(id: string): IssuedKey | undefined;
  listKeys(): readonly IssuedKey[];
  revokeKey(id: string, nowMs: number): Outcome<RevokeResult>;
}

/**
 * Creates the handler that manages API keys. `GET /keys` lists all keys, `POST /keys` creates a key, `GET /keys/<id>` shows a key and
 * `DELETE /keys/<id>` revokes a key. Only the response to `POST /keys` contains the text of the key. No response contains the hash of a
 * key.
 */
function keyRoutes({ isOperator, keys, clock, verticals }: AdminRoutesDeps): Handler {
  const toJson = (key: IssuedKey) => toIssuedKeyJson(key, clock.wallMs());
  const all = operatorOnly(isOperator, {
    GET: (context) => sendOutcome(context, succeeded(keys.listKeys().map(toJson))),
    POST: (context) => {
      const issue = (body: unknown): Outcome<object> => {
        const nowMs = clock.wallMs();
        const newKey = parseKeyRequest(body, verticals, nowMs);
        if (!newKey.ok) return newKey;
        const created = keys.createKey(newKey.value, nowMs);
        return created.ok ? succeeded({ key: created.value.key, ...toJson(created.value.issued) }) : created;
      };
      replyToJsonBody(context, issue, 201);
    },
  });
  const one = operatorOnly(isOperator, {
    GET: (context) => sendOutcome(context, find(context.path)),
    DELETE: (context) => {
      const revoked = keys.revokeKey(keyIdOf(context.path), clock.wallMs());
      sendOutcome(context, revoked.ok ? find(context.path) : revoked);
    },
  });
  const find = (path: string): Outcome<object> => {
    const key = keys.findKey(keyIdOf(path));
    return key === undefined ? failedWithCode('NOT_FOUND') : succeeded(toJson(key));
  };
  return (context) => (context.path === keysPath ? all(context) : one(context));
}

function keyIdOf(path: string): string {
  return path.slice(keysPath.length + 1);
}

interface EmbedOriginAdmin {
  allowOrigins(account: string, origins: readonly string[]): Outcome<readonly AllowResult[]>;
  listOrigins(account?: string): Outcome<readonly AllowedOrigin[]>;
  removeOrigins(account: string, origins: readonly string[]): Outcome<readonly RemoveResult[]>;
}

const originParameters = ['account', 'origin'] as const;

/**
 * Creates the handler that manages the web origins that may embed the widgets of an account. `GET /origins` lists the origins of all
 * accounts, or of the account in `?account=`. `POST /origins` allows origins, and `DELETE /origins?account=&origin=` removes an origin.
 */
function originRoutes({ isOperator, embedOrigins }: AdminRoutesDeps): Handler {
  return operatorOnly(isOperator, {
    GET: (context) => {
      const query = parseQueryParameters(context.query, originParameters);
      if (!query.ok) return sendOutcome(context, query);
      const listed = embedOrigins.listOrigins(query.values.account);
      sendOutcome(
        context,
        mapOutcome(listed, ({ accountName, origin }) => ({ account: accountName, origin })),
      );
    },
    POST: (context) => {
      replyToJsonBody(context, (body) => {
        const { account, origins } = (body ?? {}) as Readonly<Record<string, unknown>>;
        if (typeof account !== 'string') return invalidRequest('account');
        if (!Array.isArray(origins) || origins.length > bounds.embedOriginsPerAccountMax || !origins.every(isOrigin)) {
          return invalidRequest('origins');
        }
        return mapOutcome(embedOrigins.allowOrigins(account, origins), (outcome, index) => ({
          origin: origins[index]!,
          outcome,
        }));
      });
    },
    DELETE: (context) => sendOutcome(context, remove(context)),
  });

  function remove(context: RequestContext): Outcome<unknown> {
    const query = parseQueryParameters(context.query, originParameters);
    if (!query.ok) return query;
    const { account, origin } = query.values;
    if (account === undefined) return invalidRequest('account');
    if (!isOrigin(origin)) return invalidRequest('origin');
    return mapOutcome(embedOrigins.removeOrigins(account, [origin]), (outcome) => ({ origin, outcome }));
  }
}

function isOrigin(value: unknown): value is string {
  return typeof value === 'string' && validateWebOrigin(value) === null;
}

function mapOutcome<From, To>(
  outcome: Outcome<readonly From[]>,
  map: (from: From, index: number) => To,
): Outcome<To[]> {
  return outcome.ok ? succeeded(outcome.value.map(map)) : outcome;
}

interface AdminRoutesDeps {
  /** Checks the value of a `Host` header, see {@link createHostCheck}. */
  readonly isKnownHost: (host: string) => boolean;
  /** Returns the reasons why the service is not ready; empty when the service is ready. */
  readonly notReadyReasons: () => readonly string[];
  readonly metrics: Metrics;
  readonly isOperator: OperatorCheck;
  readonly clock: Clock;
  /** Verticals for which keys can be created. */
  readonly verticals: readonly KeyVertical[];
  readonly keys: KeyAdmin;
  readonly embedOrigins: EmbedOriginAdmin;
  /** Records revenue confirmations (docs/contract.md#confirmations). `text` is the JSON text of `body`. */
  readonly confirm: (body: unknown, text: string, signal: CancelSignal) => Promise<Outcome<ConfirmationsView>>;
}

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/**
 * Creates the handler of the operations listener. `/healthz`, `/readyz` (503 with the reasons if the service is not ready) and `/metrics`
 * (Prometheus text) need no token. `/confirmations`, `/keys` and `/origins` need the operator token. Requests with an
 * unknown `Host` are rejected on every path.
 */
export function adminRoutes(deps: AdminRoutesDeps): Handler {
  const { isKnownHost, notReadyReasons, metrics, isOperator, confirm } = deps;
  const pages: Readonly<Record<string, Handler>> = {
    '/healthz': (context) => sendJson(context, 200, { status: 'ok' }),
    '/readyz': (context) => {
      const reasons = notReadyReasons();
      if (reasons.length === 0) sendJson(context, 200, { status: 'ready' });
      else sendJson(context, 503, { status: 'not ready', reasons });
    },
    '/metrics': async (context) => {
      const body = await metrics.renderPrometheusText();
      context.reply({
        status: 200,
        headers: formatHeader('Content-Type', metrics.contentType) + noStore,
        body,
      });
    },
  };
  const handlers = new Map<string, Handler>([
    ...Object.entries(pages).map(([path, page]): [string, Handler] => [path, allowOnlyGet(page)]),
    [
      '/confirmations',
      operatorOnly(isOperator, {
        POST: (context) => replyToJsonBody(context, (body, text) => confirm(body, text, context)),
      }),
    ],
    [keysPath, keyRoutes(deps)],
    ['/origins', originRoutes(deps)],
  ]);
  return (context) => {
    if (!isKnownHost(context.header('host'))) {
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

function sendJson(context: RequestContext, status: number, body: object): void {
  context.reply({ status, headers: jsonHeaders, body: `${JSON.stringify(body)}\n` });
}
