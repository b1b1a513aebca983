import { bounds } from '../bounds.ts';
import type { CleanupStack } from '../closers.ts';
import type { Endpoint, EngineChoice } from '../config/config.ts';
import { errorReply } from '../faces/error-reply.ts';
import { startListener } from '../http/choose-listener.ts';
import type { Handler, Listener, ListenerOptions } from '../http/listener.ts';
import type { RequestLogger } from '../logs/request-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { DrainTimer } from './drain.ts';
import type { ServiceOptions } from './service.ts';

/** What one listener has for itself. */
interface ListenerSetup {
  readonly endpoint: Endpoint;
  readonly handler: Handler;
  readonly bodyBytesMax: number;
  readonly onAnswered?: NonNullable<ListenerOptions['onReply']>;
  readonly tls?: ListenerOptions['tls'];
  /** Goes on accepting for the drain's delay once the service is to stop. */
  readonly delaysDrain: boolean;
}

/** Opens listeners that fail, answer and close alike. */
export function createListenerOpener(
  { logger }: ServiceOptions,
  engine: EngineChoice,
  closers: CleanupStack,
  metrics: Metrics,
  requestLog: RequestLogger,
  drain: DrainTimer,
) {
  return async ({ endpoint, handler, bodyBytesMax, onAnswered: onReply, tls, delaysDrain }: ListenerSetup): Promise<Listener> => {
    const listener = await startListener(engine, {
      ...endpoint,
      handler,
      errorReply,
      onHandlerError: (fault, request) => {
        metrics.countRequestError();
        requestLog.logError(fault, request);
      },
      onErrorReply: requestLog.logRefusal,
      onSuccessReply: requestLog.logSuccess,
      onDeadline: metrics.countRequestTimeout,
      ...(onReply !== undefined && { onReply }),
      bodyBytesMax,
      deadlineMs: bounds.requestDeadlineMs,
      tls,
    });
    closers.defer(async () => {
      const unanswered = await listener.close(drain.remainingMs, delaysDrain ? drain.delayMs : 0);
      if (unanswered === 0) return;
      logger.warn({ unanswered, port: listener.port }, 'requests left unanswered: the drain deadline passed');
    });
    return listener;
  };
}
