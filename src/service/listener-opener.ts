import { bounds } from '../bounds.ts';
import type { Closers } from '../closers.ts';
import type { Endpoint, ListenerChoice } from '../config/config.ts';
import { errorReply } from '../faces/error-reply.ts';
import { startListener } from '../http/choose-listener.ts';
import type { Handler, Listener, ListenerOptions } from '../http/listener.ts';
import type { RequestLog } from '../logs/request-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Drain } from './drain.ts';
import type { ServiceOptions } from './service.ts';

/** What one listener has for itself. */
interface ListenerSetup {
  readonly endpoint: Endpoint;
  readonly handler: Handler;
  readonly bodyBytesMax: number;
  readonly onAnswered?: NonNullable<ListenerOptions['onAnswered']>;
  readonly tls?: ListenerOptions['tls'];
  /** Goes on accepting for the drain's delay once the service is to stop. */
  readonly delayed: boolean;
}

/** Opens listeners that fail, answer and close alike. */
export function listenerOpener(
  { logger }: ServiceOptions,
  engine: ListenerChoice,
  closers: Closers,
  metrics: Metrics,
  requestLog: RequestLog,
  drain: Drain,
) {
  return async ({ endpoint, handler, bodyBytesMax, onAnswered, tls, delayed }: ListenerSetup): Promise<Listener> => {
    const listener = await startListener(engine, {
      ...endpoint,
      handler,
      errorReply,
      onFault: (fault, request) => {
        metrics.fault();
        requestLog.fault(fault, request);
      },
      onRefusal: requestLog.refused,
      onSuccess: requestLog.answered,
      onDeadline: metrics.deadline,
      ...(onAnswered !== undefined && { onAnswered }),
      bodyBytesMax,
      deadlineMs: bounds.requestDeadlineMs,
      tls,
    });
    closers.add(async () => {
      const unanswered = await listener.close(drain.graceMs, delayed ? drain.delayMs : 0);
      if (unanswered === 0) return;
      logger.warn({ unanswered, port: listener.port }, 'requests left unanswered: the drain deadline passed');
    });
    return listener;
  };
}
