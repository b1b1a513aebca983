import { EmbedOriginError } from '../auth/embed-origin-registry.ts';
import { isKeyFileBusy, isKeyFileUnwritable } from '../auth/key-file.ts';
import { openOperatorToken, operatorTokenPath } from '../auth/operator-token.ts';
import { bounds } from '../bounds.ts';
import type { Endpoint, EngineChoice } from '../config/config.ts';
import { invalidRequest, type Outcome, succeeded, unavailable } from '../domain/outcome.ts';
import type { Handler, Listener, ListenerOptions } from '../http/engines/listener.ts';
import { startListener } from '../http/engines/start-listener.ts';
import { keyRoutes, originRoutes } from '../http/routes/admin-account-routes.ts';
import { adminRoutes, confirmationsRoute } from '../http/routes/admin-routes.ts';
import { createHostCheck, type IsOperator } from '../http/routes/operator-access.ts';
import { errorReply } from '../http/routes/replies.ts';
import { allRouteNames } from '../http/routes/route-names.ts';
import { RequestLogger, type RequestLoggerOptions } from '../logging/request-logger.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { CertificateStore } from '../tls/certificate.ts';
import { type Service, type ServiceOptions, servedVerticals } from './service.ts';
import type { CleanupStack, DrainTimer } from './shutdown.ts';

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
function createListenerOpener(
  { logger }: ServiceOptions,
  engine: EngineChoice,
  closers: CleanupStack,
  metrics: Metrics,
  requestLog: RequestLogger,
  drain: DrainTimer,
) {
  return async ({
    endpoint,
    handler,
    bodyBytesMax,
    onAnswered: onReply,
    tls,
    delaysDrain,
  }: ListenerSetup): Promise<Listener> => {
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

/** The operator's doors to keys and origins. The log says what was changed through them, by the id of a key, never the key itself. */
function createOperatorRoutes(
  options: ServiceOptions,
  isOperator: IsOperator,
  keys: Service['keys'],
  originLists: Service['embedOrigins'],
) {
  const { logger, clock } = options;
  return {
    keys: keyRoutes({
      isOperator,
      clock,
      verticals: servedVerticals(options),
      keys: {
        create: (wanted, nowMs) => {
          const created = toOutcome(() => keys.create(wanted, nowMs));
          if (created.ok) {
            const { id, accountName } = created.value.issued;
            logger.info({ key: id, account: accountName }, 'API key created by the operator');
          }
          return created;
        },
        find: (id) => keys.find(id),
        list: () => keys.list(),
        revoke: (id, nowMs) => {
          const revoked = toOutcome(() => keys.revoke(id, nowMs));
          if (revoked.ok && revoked.value === 'revoked') {
            logger.info({ key: id, account: keys.find(id)?.accountName }, 'API key revoked by the operator');
          }
          return revoked;
        },
      },
    }),
    origins: originRoutes({
      isOperator,
      embedOrigins: {
        allow: (account, origins) => {
          const allowed = toOutcome(() => originLists.allow(account, origins));
          const added = allowed.ok ? allowed.value.filter((outcome) => outcome === 'allowed') : [];
          if (added.length > 0)
            logger.info({ account, origins: added.length }, 'embedding origins allowed by the operator');
          return allowed;
        },
        list: (account) => toOutcome(() => originLists.list(account)),
        remove: (account, origins) => {
          const removed = toOutcome(() => originLists.remove(account, origins));
          const gone = removed.ok ? removed.value.filter((outcome) => outcome === 'removed') : [];
          if (gone.length > 0)
            logger.info({ account, origins: gone.length }, 'embedding origins removed by the operator');
          return removed;
        },
      },
    }),
  };
}

/** What keeps a change from being made, where the caller can do something about it. */
function toOutcome<Value>(change: () => Value): Outcome<Value> {
  try {
    return succeeded(change());
  } catch (fault) {
    if (isKeyFileBusy(fault) || isKeyFileUnwritable(fault)) return unavailable(bounds.retryAfterSeconds);
    if (fault instanceof EmbedOriginError) return invalidRequest(fault.argument);
    throw fault;
  }
}

/** The certificate of the public listener; null where it speaks plain HTTP. */
export function openCertificate(options: ServiceOptions, closers: CleanupStack): CertificateStore | null {
  const { clock, logger, listen } = options;
  const tls = listen?.tls ?? null;
  if (tls === null) return null;
  const keeper = new CertificateStore({
    files: tls,
    clock,
    onExpiryWarning: (secondsLeft) => {
      const told = { file: tls.certificateFile, secondsLeft };
      if (secondsLeft > 0) logger.warn(told, 'certificate expires soon');
      else logger.error(told, 'certificate has expired');
    },
  });
  closers.defer(() => keeper.close());
  return keeper;
}

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
  {
    publicFace,
    certificate,
    drain,
    confirmRevenue,
    keys,
    namesOf: callerNames,
    notReadyReasons,
    embedOrigins,
  }: ListenerDeps,
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
