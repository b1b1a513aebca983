import { bounds } from '../bounds.ts';
import type { Closers } from '../closers.ts';
import type { Endpoint, ListenerChoice } from '../config/config.ts';
import { errorReply } from '../faces/error-reply.ts';
import { startListener } from '../http/choose-listener.ts';
import type { Handler, Listener, ListenerOptions } from '../http/listener.ts';
import type { RefusalLog } from '../logs/refusal-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { ServiceOptions } from './service.ts';

/** Opens listeners that fail, answer and close alike. */
export function listenerOpener(
  { logger }: ServiceOptions,
  engine: ListenerChoice,
  closers: Closers,
  metrics: Metrics,
  refusals: RefusalLog,
) {
  return async (
    endpoint: Endpoint,
    handler: Handler,
    bodyBytesMax: number,
    onAnswered?: NonNullable<ListenerOptions['onAnswered']>,
  ): Promise<Listener> => {
    const listener = await startListener(
      engine,
      {
        ...endpoint,
        handler,
        errorReply,
        onFault: (fault, request) => {
          metrics.fault();
          refusals.fault(fault, request);
        },
        onRefusal: refusals.refused,
        onDeadline: metrics.deadline,
        ...(onAnswered !== undefined && { onAnswered }),
        bodyBytesMax,
        deadlineMs: bounds.requestDeadlineMs,
      },
      (reason) => logger.warn({ reason }, 'uWebSockets.js cannot be used, listening with node:http instead'),
    );
    closers.add(() => listener.close(bounds.drainGraceMs));
    return listener;
  };
}
