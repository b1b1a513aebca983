import { bounds } from '../bounds.ts';
import type { ListenSettings } from '../config/service-settings.ts';
import { serviceUnavailable } from '../domain/outcome.ts';
import { shardOperationsSocketPath } from '../files/data-paths.ts';
import type { HandlingOptions, Listener, ListenerOptions, RequestHandler } from '../http/engines/listener.ts';
import { startListener } from '../http/engines/start-listener.ts';
import { errorReply } from '../http/routes/replies.ts';
import { allRouteNames } from '../http/routes/routing.ts';
import { RequestLogger, type RequestLoggerOptions } from '../logging/request-logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { CertificateStore } from '../tls/certificate.ts';
import type { CleanupStack, ServiceLifecycle } from './lifecycle.ts';
import { type Forwarding, openForwarding, prepareSocket } from './open-forwarding.ts';
import type { ServiceOptions } from './service.ts';

/** Loads the TLS certificate of the public listener. Returns null without TLS. */
export function openCertificateStore(
  { clock, logger, listen }: ServiceOptions,
  cleanup: CleanupStack,
): CertificateStore | null {
  const tls = listen?.tls ?? null;
  if (tls === null) return null;
  const certificates = new CertificateStore({
    files: tls,
    clock,
    onExpiryWarning: (secondsLeft) => {
      const fields = { file: tls.certificateFile, secondsLeft };
      if (secondsLeft > 0) logger.warn(fields, 'certificate expires soon');
      else logger.error(fields, 'certificate has expired');
    },
  });
  cleanup.addCleanupCallback(() => certificates.close());
  return certificates;
}

interface ListenerDeps {
  readonly cleanup: CleanupStack;
  readonly metrics: Metrics;
  readonly certificate: CertificateStore | null;
  readonly lifecycle: Pick<ServiceLifecycle, 'drainDelayMs' | 'remainingDrainMs'>;
  readonly callerNames: RequestLoggerOptions['callerNames'];
  /** Returns the shard of a tenant. */
  readonly findShard: (account: number, verticalAndMode: number) => number;
}

/** Handlers of the two listeners, and of the requests that other shards forward. */
type Handlers = Readonly<Record<'public' | 'operations' | 'forwarded', RequestHandler>>;

/**
 * Binds the operations listener, which is a Unix socket in a shard, then the socket of other shards, and then the public listener. Call
 * this function after all other `open` functions. The listeners are closed before all other components, so that pending requests can still
 * use the other components. The listeners reply 503 to every request until `setHandlers` is called.
 */
export async function openListeners(
  serviceOptions: ServiceOptions,
  { engine, host, port, operationsHost, operationsPort, tls }: ListenSettings,
  { cleanup, metrics, certificate, lifecycle, callerNames, findShard }: ListenerDeps,
) {
  const { logger, shard } = serviceOptions;
  const reports = openRequestReports(serviceOptions, { cleanup, metrics, callerNames });

  const open = async (
    delaysDrain: boolean,
    options: Pick<
      ListenerOptions,
      'host' | 'port' | 'sharesPort' | 'socketPath' | 'handler' | 'bodyBytesMax' | 'onReply' | 'tls'
    >,
  ): Promise<Listener> => {
    const listener = await startListener(options.socketPath === undefined ? engine : 'node', {
      ...options,
      ...reports,
    });
    cleanup.addCleanupCallback(async () => {
      const requestsInFlight = await listener.close(
        lifecycle.remainingDrainMs,
        delaysDrain ? lifecycle.drainDelayMs : 0,
      );
      if (requestsInFlight === 0) return;
      logger.warn(
        { requestsInFlight, port: listener.port },
        'drain deadline exceeded; connections with pending requests closed',
      );
    });
    return listener;
  };

  const unready: RequestHandler = (context) => {
    const { error } = serviceUnavailable(bounds.retryAfterSeconds, { text: 'the service is starting' });
    context.reply(errorReply(error, context.requestId));
  };
  let handlers: Handlers = { public: unready, operations: unready, forwarded: unready };
  const socketPath = shard === null ? undefined : prepareSocket(shardOperationsSocketPath(shard.rootDir, shard.number));
  const operationsListener = await open(false, {
    socketPath,
    host: operationsHost,
    port: operationsPort,
    handler: (context) => handlers.operations(context),
    bodyBytesMax: bounds.confirmationBodyBytesMax,
  });
  const publicLimits = { bodyBytesMax: bounds.requestBodyBytesMax, onReply: metrics.requests.record };
  const handling: HandlingOptions = {
    ...reports,
    ...publicLimits,
    handler: (context) => handlers.forwarded(context),
  };
  const forwarding: Forwarding | null =
    shard && (await openForwarding(serviceOptions, shard, { cleanup, metrics, lifecycle, findShard, handling }));
  const publicListener = await open(true, {
    ...publicLimits,
    host,
    port,
    sharesPort: shard !== null,
    handler: (context) => handlers.public(context),
    tls: certificate && tls ? { certificate: certificate.currentCertificate, minVersion: tls.minVersion } : undefined,
  });
  if (engine === 'auto' && publicListener.engine === 'node') {
    logger.warn({ reason: publicListener.engineReason }, 'uWebSockets.js unavailable; using node:http');
  }
  certificate?.onCertificateChange((changed) => publicListener.setCertificate(changed));
  return {
    public: publicListener,
    operations: operationsListener,
    forwarding,
    onHandlerError: reports.onHandlerError,
    setHandlers: (served: Handlers) => {
      handlers = served;
    },
  };
}

/** Returns the callbacks of all listeners, which log the outcomes of requests, and the deadline of requests. */
function openRequestReports(
  { logger, clock }: ServiceOptions,
  { cleanup, metrics, callerNames }: Pick<ListenerDeps, 'cleanup' | 'metrics' | 'callerNames'>,
) {
  const requestLog = new RequestLogger({ logger, clock, routeNames: allRouteNames, callerNames });
  cleanup.addCleanupCallback(() => requestLog.close());
  return {
    errorReply,
    onHandlerError: (error, request) => {
      metrics.countRequestError();
      requestLog.logError(error, request);
    },
    onErrorReply: requestLog.logErrorReply,
    onSuccessReply: requestLog.logSuccess,
    onIncompleteAnswer: requestLog.logIncompleteAnswer,
    onDeadline: metrics.countRequestTimeout,
    deadlineMs: bounds.requestDeadlineMs,
  } satisfies Partial<HandlingOptions>;
}
