import { bounds } from '../bounds.ts';
import type { CleanupStack } from '../closers.ts';
import { confirmationsRoute } from '../faces/confirmations-face.ts';
import { createHostCheck } from '../faces/host-check.ts';
import { adminRoutes } from '../faces/operations-face.ts';
import { allRouteNames } from '../faces/routes.ts';
import type { Handler } from '../http/listener.ts';
import { RequestLogger, type RequestLoggerOptions } from '../logs/request-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { openOperatorToken, operatorTokenPath } from '../secrets/operator-token.ts';
import type { CertificateStore } from '../tls/certificate-keeper.ts';
import { createOperatorRoutes } from './access-faces.ts';
import type { DrainTimer } from './drain.ts';
import { createListenerOpener } from './listener-opener.ts';
import type { Service, ServiceOptions } from './service.ts';

/** What the listeners need of the service besides its options. */
interface ListenerDeps extends Pick<Service, 'confirmRevenue' | 'keys' | 'notReadyReasons' | 'embedOrigins'> {
  readonly publicFace: Handler;
  readonly certificate: CertificateStore | null;
  readonly drain: DrainTimer;
  readonly namesOf: RequestLoggerOptions['callerNames'];
}

/** The two listeners. The public one is the last to open and so the first to close: requests in flight need all the rest. */
export async function openListeners(
  options: ServiceOptions,
  { engine, operations, operationsAllowedHosts, public: endpoint, tls }: NonNullable<ServiceOptions['listen']>,
  closers: CleanupStack,
  metrics: Metrics,
  { publicFace, certificate, drain, confirmRevenue, keys, namesOf: callerNames, notReadyReasons, embedOrigins }: ListenerDeps,
) {
  const path = operatorTokenPath(options.dataDir);
  const { token, created } = openOperatorToken(path);
  const isOperator = (authorization: string): boolean => token.matchesHeader(authorization);
  const { logger, clock } = options;
  const requestLog = new RequestLogger({ logger, clock, routeNames: allRouteNames, callerNames });
  closers.defer(() => requestLog.close());
  const listen = createListenerOpener(options, engine, closers, metrics, requestLog, drain);
  const operationsListener = await listen({
    endpoint: operations,
    handler: adminRoutes({
      isKnownHost: createHostCheck([operations.host, ...operationsAllowedHosts]),
      notReadyReasons,
      metrics,
      confirmations: confirmationsRoute({ isOperator, confirm: confirmRevenue }),
      ...createOperatorRoutes(options, isOperator, keys, embedOrigins),
    }),
    bodyBytesMax: bounds.confirmationBodyBytesMax,
    delaysDrain: false,
  });
  const publicListener = await listen({
    endpoint,
    handler: publicFace,
    bodyBytesMax: bounds.requestBodyBytesMax,
    onAnswered: metrics.requests.record,
    tls: certificate && tls ? { certificate: certificate.current, minVersion: tls.minVersion } : undefined,
    delaysDrain: true,
  });
  const { engine: running, engineReason: reason } = publicListener;
  if (engine === 'auto' && running === 'node') {
    logger.warn({ reason }, 'uWebSockets.js cannot be used, listening with node:http instead');
  }
  certificate?.onChange((changed) => publicListener.setCertificate(changed));
  return { public: publicListener, operations: operationsListener, operatorToken: { path, created } };
}
