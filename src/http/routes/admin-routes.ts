import type { CancelSignal } from '../../domain/async.ts';
import type { Outcome } from '../../domain/outcome.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import type { ConfirmationsView } from '../../operations/confirm-revenue.ts';
import type { Handler, RequestContext } from '../engines/listener.ts';
import { formatHeader, formatHeaders } from '../engines/response-head.ts';
import { keysPath, originsPath } from './admin-account-routes.ts';
import { readOnly } from './methods.ts';
import { type IsOperator, operatorOnly, replyToJsonBody } from './operator-access.ts';
import { errorReply, jsonHeaders } from './replies.ts';
import { type RouteName, routeIndexOf } from './route-names.ts';

const confirmationsPath = '/confirmations';

interface ConfirmationsRouteDeps {
  readonly isOperator: IsOperator;
  /** Records confirmations. `text` is the JSON text of `body`. */
  readonly confirm: (body: unknown, text: string, signal: CancelSignal) => Promise<Outcome<ConfirmationsView>>;
}

/** Creates the handler of `POST /confirmations` (docs/contract.md#confirmations). */
export function confirmationsRoute({ isOperator, confirm }: ConfirmationsRouteDeps): Handler {
  return operatorOnly(isOperator, {
    POST: (context) => replyToJsonBody(context, (body, text) => confirm(body, text, context)),
  });
}

interface AdminRoutesDeps {
  /** Whether the host of a `Host` header is allowed. */
  readonly isKnownHost: (host: string) => boolean;
  /** Returns the reasons why the service is not ready; empty when the service is ready. */
  readonly notReadyReasons: () => readonly string[];
  readonly metrics: Metrics;
  readonly confirmations: Handler;
  /** Handles `/keys` and the paths below it. */
  readonly keys: Handler;
  readonly origins: Handler;
}

const noStore = formatHeaders({ 'Cache-Control': 'no-store' });

/**
 * Creates the handler of the operations listener. `/healthz`, `/readyz` (503 with the reasons if the service is not ready) and `/metrics`
 * (Prometheus text) need no token. `/confirmations`, `/keys` and `/origins` need the operator token. A request with an unknown `Host` is
 * refused on every path.
 */
export function adminRoutes(deps: AdminRoutesDeps): Handler {
  const { isKnownHost, notReadyReasons, metrics, confirmations, keys, origins } = deps;
  const pages: Readonly<Record<string, Handler>> = {
    '/healthz': (context) => sendJson(context, 200, { status: 'ok' }),
    '/readyz': (context) => {
      const reasons = notReadyReasons();
      if (reasons.length === 0) sendJson(context, 200, { status: 'ready' });
      else sendJson(context, 503, { status: 'not ready', reasons });
    },
    '/metrics': async (context) => {
      const body = await metrics.render();
      context.reply({
        status: 200,
        headers: formatHeader('Content-Type', metrics.contentType) + noStore,
        body,
      });
    },
  };
  const handlers = new Map<string, Handler>([
    ...Object.entries(pages).map(([path, page]): [string, Handler] => [path, readOnly(page)]),
    [confirmationsPath, confirmations],
    [keysPath, keys],
    [originsPath, origins],
  ]);
  return (context) => {
    if (!isKnownHost(context.header('host'))) {
      return context.reply(errorReply({ code: 'MISDIRECTED_REQUEST' }, context.requestId));
    }
    // Each key has its own path below `/keys`.
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
