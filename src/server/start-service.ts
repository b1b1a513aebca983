import { existsSync, readdirSync } from 'node:fs';
import { bounds } from '../bounds.ts';
import { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import { DailyCaps } from '../clicks/daily-caps.ts';
import { SharedTimeout } from '../clicks/shared-timeout.ts';
import type { PublicUrls } from '../config/config.ts';
import { SerialQueue } from '../domain/async.ts';
import { unavailable } from '../domain/outcome.ts';
import { flattenString } from '../domain/text.ts';
import { dataFiles } from '../files/data-files.ts';
import { lockFolder } from '../files/folder-lock.ts';
import { createPrivateFolder, restrictFolderToOwner } from '../files/private-files.ts';
import type { Handler } from '../http/engines/listener.ts';
import { apiRoutes } from '../http/routes/api-routes.ts';
import { clickRoutes, sandboxLandingPath } from '../http/routes/click-routes.ts';
import { Cors } from '../http/routes/cors.ts';
import { docsRoutes } from '../http/routes/docs-routes.ts';
import { logoRoute } from '../http/routes/logo-routes.ts';
import { publicRoutes } from '../http/routes/public-routes.ts';
import { publicRouteNames } from '../http/routes/route-names.ts';
import { widgetRoutes } from '../http/routes/widget-routes.ts';
import { ClickIds } from '../ids/click-id.ts';
import { ClickTokenCipher } from '../ids/click-token-cipher.ts';
import { PageCursors } from '../ids/page-cursor.ts';
import { SubIds } from '../ids/sub-id.ts';
import { WidgetTokens } from '../ids/widget-token.ts';
import { Metrics } from '../metrics/metrics.ts';
import { docsFiles } from '../openapi/docs-files.ts';
import { ApiOperations } from '../operations/api-operations.ts';
import { clickUrlPrefix } from '../operations/click-url.ts';
import { confirmRevenue } from '../operations/confirm-revenue.ts';
import { followClick } from '../operations/follow-click.ts';
import { RandomPool } from '../secrets/random-pool.ts';
import { openOrCreateSecretFile } from '../secrets/secret-file.ts';
import { DeviceClassifier } from '../user-agents/device-classifier.ts';
import { loadWidgetScript } from '../widgets/widget-script.ts';
import { assertLedgerFolder } from './missing-folder.ts';
import { openAuth } from './open-auth.ts';
import {
  CatalogStatusTracker,
  connectDailyCaps,
  openCatalogs,
  openLogos,
  openMatcher,
  reloadCatalogs,
} from './open-catalogs.ts';
import { openCertificate, openListeners } from './open-listeners.ts';
import { openStorage } from './open-storage.ts';
import { registerServiceGauges } from './register-service-gauges.ts';
import type { Service, ServiceOptions } from './service.ts';
import { servedVerticals } from './service.ts';
import { CleanupStack, DrainTimer } from './shutdown.ts';

/**
 * The one composition root: which adapter stands behind which port is decided here and nowhere else. Pieces are opened in
 * the order in which they need each other, and closed in reverse, also when one of them fails to open.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const closers = new CleanupStack();
  try {
    return await composeService(options, closers);
  } catch (fault) {
    await closers.close().catch(() => {}); // What failed first is what the caller should hear of.
    throw fault;
  }
}

async function composeService(options: ServiceOptions, closers: CleanupStack): Promise<Service> {
  const { dataDir, clock, startAbortSignal, logger } = options;
  // Ids of live sessions and the callers' metadata are in there: nobody else's business.
  createPrivateFolder(dataDir);
  const lock = lockFolder(dataDir);
  closers.defer(() => lock.release());
  // Also one that somebody else made, or left open. What we put into it is closed by itself, so that a volume which is not ours
  // to change is worth a warning, not the start.
  if (!restrictFolderToOwner(dataDir)) {
    logger.warn({ dataDir }, 'data folder is open to other users; chmod failed');
  }

  const files = dataFiles(dataDir);
  assertLedgerFolder(files);
  const { ledgerFolder } = files;
  const secrets = openOrCreateSecretFile(
    options.secretFile,
    existsSync(ledgerFolder) && readdirSync(ledgerFolder).length > 0,
  );
  const metrics = new Metrics(publicRouteNames);
  const {
    gatekeeper: authenticator,
    keys,
    keysKnown: apiKeyCount,
    namesOf,
    origins,
    originLists: embedOrigins,
  } = openAuth(options, closers, metrics);
  // Answers name the port that was bound, which is known last; nothing asks for it before the first answer.
  let urls: PublicUrls;
  const catalogs = openCatalogs(options, () => urls.cdn);
  const caps = new DailyCaps(clock.wallMs());
  for (const { vertical, mode } of options.catalogs) {
    caps.restoreCatalogs(catalogs.current(vertical.number, mode), catalogs.replacedCatalogs(vertical.number, mode));
  }
  const budget = new ClickRecordLimiter();
  const widgetScript = loadWidgetScript();
  const certificate = openCertificate(options, closers);
  const { sessions, idempotencyKeys, referrerTags, ledger, journal, analytics } = await openStorage(
    options,
    closers,
    secrets,
    authenticator,
    caps,
    budget,
    metrics,
  );
  startAbortSignal?.throwIfAborted();
  connectDailyCaps(options, caps, catalogs, ledger);
  const logos = await openLogos(options, closers, catalogs);
  // A change of catalog reads the ledger, so it is given up before that closes.
  closers.defer(() => catalogs.close());
  const matcher = await openMatcher(options, closers, catalogs, metrics);
  startAbortSignal?.throwIfAborted();
  const patience = new SharedTimeout(bounds.clickDurabilityTimeoutMs, bounds.deadlineCheckIntervalMs);
  closers.defer(() => patience.close());

  let stage: 'starting' | 'serving' | 'stopping' = 'starting';
  const notReadyReasons = (): readonly string[] => {
    if (stage !== 'serving') return [`the service is ${stage}`];
    const reasons: string[] = [];
    if (!ledger.healthy) reasons.push('the ledger cannot be written');
    if (!journal.healthy) reasons.push('the journal cannot be written');
    if (!analytics.healthy) reasons.push('the aggregator is not running');
    return reasons;
  };
  const catalogStatus = new CatalogStatusTracker(options, catalogs);
  const drain = new DrainTimer(clock, options.drain);
  // The listeners are open a little before everything is put together. The face of the public one is put in right after,
  // before the event loop can bring it a request.
  let face!: Handler;
  const listeners =
    options.listen &&
    (await openListeners(options, options.listen, closers, metrics, {
      publicFace: (exchange) => face(exchange),
      certificate,
      drain,
      confirmRevenue: async (rows, text, signal) =>
        stage === 'starting' ? unavailable(bounds.retryAfterSeconds) : confirmRevenue(confirmPorts, rows, text, signal),
      keys,
      namesOf,
      notReadyReasons,
      embedOrigins,
    }));
  if (listeners !== null) {
    registerServiceGauges(options, closers, metrics, {
      notReadyReasons,
      publicListener: listeners.public,
      certificate,
      apiKeyCount,
      sessions,
      catalogStatus,
      matcher,
      caps,
      ledger,
      journal,
      analytics,
    });
  }
  urls = options.resolveUrls(listeners?.public.port ?? 0);

  const random = new RandomPool();
  const shared = {
    clock,
    sessions,
    subIds: new SubIds(secrets, random),
    ledger,
    devices: new DeviceClassifier(bounds.userAgentCacheEntriesMax),
    catalogs,
    caps,
    seal: new ClickTokenCipher(secrets, random),
  };
  const showing = {
    ...shared,
    matcher,
    explanations: new SerialQueue(bounds.explanationQueueMax),
    sessionTtlMs: options.sessions.ttlMs,
    onSessionMissing: metrics.countMissingSession,
    onViewLost: metrics.countLostView,
    tokens: new WidgetTokens(secrets),
    random,
    widgetScriptUrl: `${urls.widget}/widget.js?v=${widgetScript.hash}`,
  };
  const operations = new ApiOperations({
    ...showing,
    idempotencyKeys,
    referrerTags,
    journal,
    analytics,
    pageCursors: new PageCursors(secrets),
    widgetUrl: urls.widget,
  });
  const clickIds = new ClickIds(secrets, random);
  const queue = new SerialQueue(bounds.confirmationQueueBatchesMax);
  const confirmPorts = { ...shared, clickIds, history: analytics, queue };
  const clickPorts = {
    ...shared,
    clickIds,
    budget,
    patience,
    sandboxLandingUrl: urls.click + sandboxLandingPath,
    onUnrecorded: metrics.countUnrecordedClick,
  };
  const verticals = servedVerticals(options);
  const clickUrlPrefixJson = flattenString(JSON.stringify(clickUrlPrefix(urls.click)).slice(1, -1));
  face = publicRoutes({
    api: apiRoutes({
      verticals,
      authenticator,
      operations,
      cors: new Cors(options.corsOrigins),
      clickUrlPrefixJson,
      docsHandlers: docsRoutes(docsFiles(verticals, urls)),
    }),
    click: clickRoutes(clickPorts),
    widget: widgetRoutes({
      ...showing,
      clickUrlPrefixJson,
      originsOf: (account) => origins.forAccount(account),
      ownOrigin: new URL(urls.widget).origin,
      cdnOrigin: new URL(urls.cdn).origin,
      script: widgetScript,
      onWidgetEvents: metrics.countWidgetEvents,
    }),
    logo: logoRoute(logos.cache),
  });
  stage = 'serving';

  const close = (): Promise<void> => {
    if (stage !== 'stopping') drain.start();
    stage = 'stopping';
    return closers.close();
  };
  const closeNow = (): Promise<void> => {
    drain.expire();
    return close();
  };
  return {
    authenticator,
    operations,
    keys,
    embedOrigins,
    urls,
    ports: listeners && { public: listeners.public.port, operations: listeners.operations.port },
    engine: listeners && { name: listeners.public.engine, reason: listeners.public.engineReason },
    followClick: (request) => followClick(clickPorts, request),
    confirmRevenue: (rows, text, signal) => confirmRevenue(confirmPorts, rows, text, signal),
    operatorToken: listeners?.operatorToken ?? null,
    reloadCatalogs: () => reloadCatalogs(options, catalogs, logos, catalogStatus),
    reloadCertificate: () => certificate?.reload() ?? null,
    notReadyReasons,
    isStopping: () => stage === 'stopping',
    requestsInFlight: () => (listeners ? listeners.public.inFlightCount + listeners.operations.inFlightCount : 0),
    close,
    closeNow,
    [Symbol.asyncDispose]: close,
  };
}
