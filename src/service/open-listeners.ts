import { bounds } from '../bounds.ts';
import type { Closers } from '../closers.ts';
import { confirmationsFace } from '../faces/confirmations-face.ts';
import { hostCheck } from '../faces/host-check.ts';
import { operationsFace } from '../faces/operations-face.ts';
import { allRouteNames } from '../faces/routes.ts';
import type { Handler } from '../http/listener.ts';
import { RequestLog, type RequestLogOptions } from '../logs/request-log.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { openOperatorToken, operatorTokenPath } from '../secrets/operator-token.ts';
import type { CertificateKeeper } from '../tls/certificate-keeper.ts';
import { accessFaces } from './access-faces.ts';
import type { Drain } from './drain.ts';
import { listenerOpener } from './listener-opener.ts';
import type { Service, ServiceOptions } from './service.ts';

/** What the listeners need of the service besides its options. */
interface Listened extends Pick<Service, 'confirmRevenue' | 'keys' | 'notReady' | 'originLists'> {
  readonly publicFace: Handler;
  readonly certificate: CertificateKeeper | null;
  readonly drain: Drain;
  readonly namesOf: RequestLogOptions['namesOf'];
}

/** The two listeners. The public one is the last to open and so the first to close: requests in flight need all the rest. */
export async function openListeners(
  options: ServiceOptions,
  { engine, operations, operationsAllowedHosts, public: endpoint, tls }: NonNullable<ServiceOptions['listen']>,
  closers: Closers,
  metrics: Metrics,
  { publicFace, certificate, drain, confirmRevenue, keys, namesOf, notReady, originLists }: Listened,
) {
  const path = operatorTokenPath(options.dataDir);
  const { token, created } = openOperatorToken(path);
  const isOperator = (authorization: string): boolean => token.isIn(authorization);
  const { logger, clock } = options;
  const requestLog = new RequestLog({ logger, clock, routeNames: allRouteNames, namesOf });
  closers.add(() => requestLog.close());
  const listen = listenerOpener(options, engine, closers, metrics, requestLog, drain);
  const operationsListener = await listen({
    endpoint: operations,
    handler: operationsFace({
      isKnownHost: hostCheck([operations.host, ...operationsAllowedHosts]),
      notReady,
      metrics,
      confirmations: confirmationsFace({ isOperator, confirm: confirmRevenue }),
      ...accessFaces(options, isOperator, keys, originLists),
    }),
    bodyBytesMax: bounds.confirmationBodyBytesMax,
    delayed: false,
  });
  const publicListener = await listen({
    endpoint,
    handler: publicFace,
    bodyBytesMax: bounds.bodyBytesMax,
    onAnswered: metrics.requests.count,
    tls: certificate && tls ? { certificate: certificate.current, minVersion: tls.minVersion } : undefined,
    delayed: true,
  });
  const { engine: running, engineReason: reason } = publicListener;
  if (engine === 'auto' && running === 'node') {
    logger.warn({ reason }, 'uWebSockets.js cannot be used, listening with node:http instead');
  }
  certificate?.onChange((changed) => publicListener.useCertificate(changed));
  return { public: publicListener, operations: operationsListener, operatorToken: { path, created } };
}
