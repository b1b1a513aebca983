import { fixedHeaders, header } from '../http/header-text.ts';
import type { Exchange, Handler } from '../http/listener.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { answerReading } from './answer-reading.ts';
import { confirmationsPath } from './confirmations-face.ts';
import { errorReply, jsonHeaders } from './error-reply.ts';
import { keysPath } from './keys-face.ts';
import { originsPath } from './origins-face.ts';

export interface OperationsFacePorts {
  /** What keeps the service from taking requests, in words; empty when it is ready. */
  readonly notReady: () => readonly string[];
  readonly metrics: Metrics;
  /** Answers `/confirmations`. */
  readonly confirmations: Handler;
  /** Answers `/keys` and what is under it. */
  readonly keys: Handler;
  /** Answers `/origins`. */
  readonly origins: Handler;
}

const noStore = fixedHeaders({ 'Cache-Control': 'no-store' });

/**
 * The door of the operations listener: `/healthz` (the process answers), `/readyz` (it can take requests; 503 and the
 * reasons when not) and `/metrics` (Prometheus text) for everyone; `/confirmations`, `/keys` and `/origins` for the operator.
 */
export function operationsFace({ notReady, metrics, confirmations, keys, origins }: OperationsFacePorts): Handler {
  const pages: Readonly<Record<string, (exchange: Exchange) => void | Promise<void>>> = {
    '/healthz': (exchange) => sendJson(exchange, 200, { status: 'ok' }),
    '/readyz': (exchange) => {
      const reasons = notReady();
      if (reasons.length === 0) sendJson(exchange, 200, { status: 'ready' });
      else sendJson(exchange, 503, { status: 'not ready', reasons });
    },
    '/metrics': async (exchange) => {
      const body = await metrics.render();
      exchange.reply({
        status: 200,
        headers: header('Content-Type', metrics.contentType) + noStore,
        body,
      });
    },
  };
  return (exchange) => {
    const { path } = exchange;
    if (path === confirmationsPath) return confirmations(exchange);
    if (path === keysPath || path.startsWith(`${keysPath}/`)) return keys(exchange);
    if (path === originsPath) return origins(exchange);
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (page === undefined) return exchange.reply(errorReply({ code: 'NOT_FOUND' }, exchange.requestId));
    return answerReading(exchange, () => page(exchange));
  };
}

function sendJson(exchange: Exchange, status: number, body: object): void {
  exchange.reply({ status, headers: jsonHeaders, body: `${JSON.stringify(body)}\n` });
}
