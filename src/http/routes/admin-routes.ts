import { isIP } from 'node:net';
import type { AuditActor } from '../../audit/audit-log.ts';
import type { MetricRegistry } from '../../metrics/metric-registry.ts';
import type { ClockAdvance } from '../../operations/advance-clock.ts';
import type { RequestContext, RequestHandler } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { type ConsoleFiles, consolePageHandlers, consolePath } from './console/console-page.ts';
import { type OperatorLoginDeps, operatorLogin } from './console/operator-login.ts';
import { type AuditRoutesDeps, auditRoutes } from './operator/audit-routes.ts';
import { type CatalogRoutesDeps, catalogRoutes } from './operator/catalog-routes.ts';
import { type KeyRoutesDeps, keyRoutes } from './operator/key-routes.ts';
import { type OperatorRoute, operatorHandler, sendJson } from './operator/operator-route.ts';
import { type OriginRouteDeps, originRoute } from './operator/origin-route.ts';
import { type StatusRouteDeps, statusRoute } from './operator/status-route.ts';
import { testClockRoute } from './operator/test-clock-route.ts';
import { errorReply, operatorTokenRequiredReply } from './replies.ts';
import { allowOnlyGet, PathTable, replyNotFound, withRoute } from './routing.ts';

/**
 * Returns a function that checks a `Host` header to prevent DNS rebinding. In a DNS rebinding attack, the host name of a web page resolves
 * to this machine, so that the page can send requests to the listener. The returned function accepts IP addresses, `localhost` and the
 * given names, each with any port. An empty or missing `Host` header, which no browser sends, is also accepted.
 *
 * @param names allowed host names without ports, not case-sensitive
 */
export function createHostHeaderCheck(names: readonly string[]): (host: string) => boolean {
  const allowedNames = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  return (host) => {
    if (host === '') return true;
    const [, ipv6 = '', name = ''] = /^(?:\[([^\]]*)\]|([^:]*?)\.?)(?::\d*)?$/.exec(host.toLowerCase()) ?? [];
    return allowedNames.has(name) || isIP(name) === 4 || isIP(ipv6) === 6;
  };
}

interface AdminRoutesDeps
  extends AuditRoutesDeps,
    CatalogRoutesDeps,
    KeyRoutesDeps,
    OriginRouteDeps,
    OperatorLoginDeps,
    StatusRouteDeps {
  readonly consoleFiles: ConsoleFiles;
  /** Host names that the operations listener accepts besides `localhost` and IP addresses. */
  readonly hostNames: readonly string[];
  readonly metrics: MetricRegistry;
  /** Whether an Authorization header contains the operator token. */
  readonly isOperator: (authorization: string) => boolean;
  /** Null without a test clock; `/test-clock` is then an unknown path. */
  readonly testClock: Pick<ClockAdvance, 'advance' | 'readTime'> | null;
}

const tokenActor: AuditActor = { kind: 'operator_token', name: null };
const consoleActor: AuditActor = { kind: 'operator_console', name: null };

/** Returns the endpoints that need the operator token. */
function operatorRoutes(deps: AdminRoutesDeps): readonly OperatorRoute[] {
  return [
    statusRoute(deps),
    ...auditRoutes(deps),
    ...keyRoutes(deps),
    originRoute(deps),
    ...catalogRoutes(deps),
    ...(deps.testClock === null ? [] : [testClockRoute(deps.logger, deps.testClock)]),
  ];
}

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/**
 * Creates the handler of the operations listener. `/healthz`, `/readyz` (503 with the reasons if the service is not ready) and `/metrics`
 * (Prometheus text) need no token. The operator routes need the operator token. Requests with an unknown `Host` are rejected on every path.
 */
export function adminRoutes(deps: AdminRoutesDeps): RequestHandler {
  const { hostNames, notReadyReasons, metrics, testClock } = deps;
  const isKnownHost = createHostHeaderCheck(hostNames);
  const handlers = new PathTable<ReturnType<typeof operatorHandler>>();
  handlers.set(
    '/healthz',
    withRoute(
      'healthz',
      allowOnlyGet((context) => sendJson(context, { status: 'ok' })),
    ),
  );
  const replyReadiness = (context: RequestContext) => {
    const reasons = notReadyReasons();
    const clock = testClock && { test_clock: testClock.readTime() };
    if (reasons.length === 0) sendJson(context, { status: 'ready', ...clock });
    else sendJson(context, { status: 'not ready', reasons, ...clock }, 503);
  };
  handlers.set('/readyz', withRoute('readyz', allowOnlyGet(replyReadiness)));
  const replyMetrics = async (context: RequestContext) => {
    const body = await metrics.renderPrometheusText((cause) => {
      const text = 'metrics are missing; check the disk of the data folder, and the log lines of the aggregator';
      context.logIncompleteAnswer({ text, cause });
    });
    context.reply({ status: 200, headers: formatHeader('Content-Type', metrics.contentType) + noStore, body });
  };
  handlers.set('/metrics', withRoute('metrics', allowOnlyGet(replyMetrics)));
  const checkToken = (context: RequestContext) =>
    deps.isOperator(context.getRequestHeader('authorization')) ? null : operatorTokenRequiredReply();
  const { login, checkLogin } = operatorLogin(deps);
  for (const route of operatorRoutes(deps)) {
    handlers.set(route.path, withRoute(route.name, operatorHandler(route, checkToken, tokenActor)));
    handlers.set(
      `${consolePath}/api${route.path}`,
      withRoute(route.name, operatorHandler(route, checkLogin, consoleActor)),
    );
  }
  handlers.set(`${consolePath}/api/login`, login);
  for (const [path, handler] of consolePageHandlers('operator', deps.consoleFiles)) handlers.set(path, handler);
  return (context) => {
    if (!isKnownHost(context.getRequestHeader('host'))) {
      return context.reply(errorReply({ code: 'MISDIRECTED_REQUEST' }, context.requestId));
    }
    const match = handlers.find(context.path);
    return match === undefined ? replyNotFound(context) : match.value(context, match.segments);
  };
}
