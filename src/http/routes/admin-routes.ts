import type { CancelSignal } from '../../domain/async.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { ConfirmationsView } from '../../operations/confirm-revenue.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { keysPath, originsPath } from './admin-account-routes.ts';
import { type IsOperator, operatorOnly, replyToJsonBody } from './operator-access.ts';
import { errorReply, jsonHeaders, respondToRead } from './replies.ts';
import { type RouteName, routeIndexOf } from './route-names.ts';

const confirmationsPath = '/confirmations';

interface ConfirmationsRouteDeps {
  readonly isOperator: IsOperator;
  /** `text` is the JSON text of `body`. */
  readonly confirm: (body: unknown, text: string, signal: CancelSignal) => Promise<Outcome<ConfirmationsView>>;
}

/** `POST /confirmations` (docs/contract.md#confirmations). The rows never refuse each other. */
export function confirmationsRoute({ isOperator, confirm }: ConfirmationsRouteDeps): Handler {
  return operatorOnly(isOperator, {
    POST: (exchange) => replyToJsonBody(exchange, (body, text) => confirm(body, text, exchange)),
  });
}

interface AdminRoutesDeps {
  /** Checks a `Host` header. */
  readonly isKnownHost: (host: string) => boolean;
  /** What keeps the service from taking requests, in words; empty when it is ready. */
  readonly notReadyReasons: () => readonly string[];
  readonly metrics: Metrics;
  /** Answers `/confirmations`. */
  readonly confirmations: Handler;
  /** Answers `/keys` and what is under it. */
  readonly keys: Handler;
  /** Answers `/origins`. */
  readonly origins: Handler;
}

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/**
 * The door of the operations listener: `/healthz` (the process answers), `/readyz` (it can take requests; 503 and the
 * reasons when not) and `/metrics` (Prometheus text) for everyone; `/confirmations`, `/keys` and `/origins` for the operator. A request for a host that is not
 * known is refused whatever its path.
 */
export function adminRoutes(ports: AdminRoutesDeps): Handler {
  const { isKnownHost, notReadyReasons, metrics, confirmations, keys, origins } = ports;
  const pages: Readonly<Record<string, Handler>> = {
    '/healthz': (exchange) => sendJson(exchange, 200, { status: 'ok' }),
    '/readyz': (exchange) => {
      const reasons = notReadyReasons();
      if (reasons.length === 0) sendJson(exchange, 200, { status: 'ready' });
      else sendJson(exchange, 503, { status: 'not ready', reasons });
    },
    '/metrics': async (exchange) => {
      const body = await metrics.render();
      exchange.reply({
        status: 200,
        headers: formatHeader('Content-Type', metrics.contentType) + noStore,
        body,
      });
    },
  };
  const reading = Object.entries(pages).map(([path, page]): [string, Handler] => [
    path,
    (exchange) => respondToRead(exchange, () => page(exchange)),
  ]);
  const handlers = new Map<string, Handler>([
    ...reading,
    [confirmationsPath, confirmations],
    [keysPath, keys],
    [originsPath, origins],
  ]);
  return (exchange) => {
    if (!isKnownHost(exchange.header('host'))) {
      return exchange.reply(errorReply({ code: 'MISDIRECTED_REQUEST' }, exchange.requestId));
    }
    // A key has a path of its own under that of all.
    const path = exchange.path.startsWith(`${keysPath}/`) ? keysPath : exchange.path;
    const handler = handlers.get(path);
    if (handler === undefined) return exchange.reply(errorReply({ code: 'NOT_FOUND' }, exchange.requestId));
    exchange.routeIndex = routeIndexOf(path.slice(1) as RouteName);
    return handler(exchange);
  };
}

function sendJson(exchange: RequestContext, status: number, body: object): void {
  exchange.reply({ status, headers: jsonHeaders, body: `${JSON.stringify(body)}\n` });
}
