import { existsSync, readdirSync } from 'node:fs';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import { PageCursors } from '../analytics/page-cursors.ts';
import { bounds } from '../bounds.ts';
import { ClickBudget } from '../clicks/click-budget.ts';
import { ClickIds } from '../clicks/click-id.ts';
import { DailyCaps } from '../clicks/daily-caps.ts';
import { OfferValueSeal } from '../clicks/offer-value-seal.ts';
import { Patience } from '../clicks/patience.ts';
import { Closers } from '../closers.ts';
import type { PublicUrls } from '../config/config.ts';
import { flatText } from '../domain/flat-text.ts';
import { unavailable } from '../domain/outcome.ts';
import { TaskQueue } from '../domain/task-queue.ts';
import { lockFolder } from '../events/folder-lock.ts';
import { ApiFace } from '../faces/api-face.ts';
import { ApiOperations } from '../faces/api-operations.ts';
import { ClickFace, clickPath, sandboxLandingPath } from '../faces/click-face.ts';
import { Cors } from '../faces/cors.ts';
import { logoFace } from '../faces/logo-face.ts';
import { publicFace } from '../faces/public-face.ts';
import { referencePages } from '../faces/reference-face.ts';
import { routeNames } from '../faces/routes.ts';
import { WidgetFace } from '../faces/widget-face.ts';
import { closeFolderToOthers } from '../files/close-folder-to-others.ts';
import { makePrivateFolder } from '../files/make-private-folder.ts';
import type { Handler } from '../http/listener.ts';
import { Metrics } from '../metrics/metrics.ts';
import { referenceFiles } from '../openapi/reference-files.ts';
import { confirmRevenue } from '../operations/confirm-revenue.ts';
import { followClick } from '../operations/follow-click.ts';
import { RandomPool } from '../secrets/random-pool.ts';
import { openSecretFile } from '../secrets/secret-file.ts';
import { SubIds } from '../sessions/sub-id.ts';
import { DeviceClassifier } from '../user-agents/device-class.ts';
import { loadWidgetScript } from '../widgets/widget-script.ts';
import { WidgetTokens } from '../widgets/widget-token.ts';
import { CatalogWatch } from './catalog-watch.ts';
import { Drain } from './drain.ts';
import { requireLedger } from './missing-folder.ts';
import { openAccess } from './open-access.ts';
import { keepCaps, openCatalogs, openLogos, reloadCatalogs } from './open-catalogs.ts';
import { openCertificate } from './open-certificate.ts';
import { openHistory } from './open-history.ts';
import { openListeners } from './open-listeners.ts';
import { openMatcher } from './open-matcher.ts';
import type { Service, ServiceOptions } from './service.ts';
import { shard } from './shard.ts';
import { verticalsOf } from './verticals-of.ts';
import { watchFigures } from './watch-figures.ts';

/**
 * The one composition root: which adapter stands behind which port is decided here and nowhere else. Pieces are opened in
 * the order in which they need each other, and closed in reverse, also when one of them fails to open.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const closers = new Closers();
  try {
    return await compose(options, closers);
  } catch (fault) {
    await closers.close().catch(() => {}); // What failed first is what the caller should hear of.
    throw fault;
  }
}

async function compose(options: ServiceOptions, closers: Closers): Promise<Service> {
  const { dataDir, clock, giveUpStart, logger } = options;
  // Ids of live sessions and the callers' metadata are in there: nobody else's business.
  makePrivateFolder(dataDir);
  const lock = lockFolder(dataDir);
  closers.add(() => lock.release());
  // Also one that somebody else made, or left open. What we put into it is closed by itself, so that a volume which is not ours
  // to change is worth a warning, not the start.
  if (!closeFolderToOthers(dataDir)) {
    logger.warn({ dataDir }, 'data folder is open to other users; chmod failed');
  }

  const files = analyticsFiles(dataDir);
  requireLedger(files);
  const { ledgerFolder } = files;
  const secrets = openSecretFile(options.secretFile, existsSync(ledgerFolder) && readdirSync(ledgerFolder).length > 0);
  const metrics = new Metrics(routeNames);
  const { gatekeeper, keys, keysKnown, namesOf, origins, originLists } = openAccess(options, closers, metrics);
  // Answers name the port that was bound, which is known last; nothing asks for it before the first answer.
  let urls: PublicUrls;
  const catalogs = openCatalogs(options, () => urls.cdn);
  const caps = new DailyCaps(clock.wallMs());
  for (const { vertical, mode } of options.catalogs) {
    caps.resume(catalogs.current(vertical.number, mode), catalogs.replaced(vertical.number, mode));
  }
  const budget = new ClickBudget();
  const widgetScript = loadWidgetScript();
  const certificate = openCertificate(options, closers);
  const { sessions, idempotencyKeys, referrerTags, ledger, journal, analytics } = await openHistory(
    options,
    closers,
    secrets,
    gatekeeper,
    caps,
    budget,
    metrics,
  );
  giveUpStart?.throwIfAborted();
  keepCaps(options, caps, catalogs, ledger);
  const logos = await openLogos(options, closers, catalogs);
  // A change of catalog reads the ledger, so it is given up before that closes.
  closers.add(() => catalogs.close());
  const matcher = await openMatcher(options, closers, catalogs, metrics);
  giveUpStart?.throwIfAborted();
  const patience = new Patience(bounds.clickLogWaitMs, bounds.deadlineCheckMs);
  closers.add(() => patience.close());

  let stage: 'starting' | 'serving' | 'stopping' = 'starting';
  const notReady = (): readonly string[] => {
    if (stage !== 'serving') return [`the service is ${stage}`];
    const reasons: string[] = [];
    if (!ledger.healthy) reasons.push('the ledger cannot be written');
    if (!journal.healthy) reasons.push('the journal cannot be written');
    if (!analytics.healthy) reasons.push('the aggregator is not running');
    return reasons;
  };
  const catalogWatch = new CatalogWatch(options, catalogs);
  const drain = new Drain(clock, options.drain);
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
      notReady,
      originLists,
    }));
  if (listeners !== null) {
    watchFigures(options, closers, metrics, {
      notReady,
      publicListener: listeners.public,
      certificate,
      keysKnown,
      sessions,
      catalogWatch,
      matcher,
      caps,
      ledger,
      journal,
      analytics,
    });
  }
  urls = options.urlsFor(listeners?.public.port ?? 0);

  const random = new RandomPool();
  const shared = {
    clock,
    sessions,
    subIds: new SubIds(secrets, shard, random),
    ledger,
    devices: new DeviceClassifier(bounds.userAgentsRememberedMax),
    catalogs,
    caps,
    seal: new OfferValueSeal(secrets, random),
  };
  const showing = {
    ...shared,
    matcher,
    explanations: new TaskQueue(bounds.explanationsWaitingMax),
    clickUrlHead: flatText(JSON.stringify(`${urls.click}${clickPath}?sub=`).slice(1, -1)),
    onSessionMissing: metrics.sessionMissing,
    onViewLost: metrics.viewLost,
    tokens: new WidgetTokens(secrets),
    random,
    widgetScriptUrl: `${urls.widget}/widget.js?v=${widgetScript.hash}`,
  };
  const operations = new ApiOperations({
    ...showing,
    sessionTtlMs: options.sessions.ttlMs,
    idempotencyKeys,
    referrerTags,
    journal,
    analytics,
    pageCursors: new PageCursors(secrets),
    widgetUrl: urls.widget,
  });
  const clickIds = new ClickIds(secrets, random);
  const queue = new TaskQueue(bounds.confirmationBatchesWaitingMax);
  const confirmPorts = { ...shared, clickIds, history: analytics, queue };
  const clickPorts = {
    ...shared,
    clickIds,
    budget,
    patience,
    sandboxLandingUrl: urls.click + sandboxLandingPath,
    onUnrecorded: metrics.clickUnrecorded,
  };
  const verticals = verticalsOf(options);
  face = publicFace({
    api: new ApiFace({
      verticals,
      gatekeeper,
      operations,
      cors: new Cors(options.corsOrigins),
      pages: referencePages(referenceFiles(verticals, urls)),
    }),
    click: new ClickFace(clickPorts),
    widget: new WidgetFace({
      ...showing,
      originsOf: (account) => origins.of(account),
      ownOrigin: new URL(urls.widget).origin,
      cdnOrigin: new URL(urls.cdn).origin,
      script: widgetScript,
      onWidgetEvents: metrics.widgetEvents,
    }),
    logo: logoFace(logos.shelf),
  });
  stage = 'serving';

  const close = (): Promise<void> => {
    if (stage !== 'stopping') drain.begin();
    stage = 'stopping';
    return closers.close();
  };
  const closeAtOnce = (): Promise<void> => {
    drain.giveUp();
    return close();
  };
  return {
    gatekeeper,
    operations,
    keys,
    originLists,
    urls,
    ports: listeners && { public: listeners.public.port, operations: listeners.operations.port },
    engine: listeners && { name: listeners.public.engine, reason: listeners.public.engineReason },
    followClick: (request) => followClick(clickPorts, request),
    confirmRevenue: (rows, text, signal) => confirmRevenue(confirmPorts, rows, text, signal),
    operatorToken: listeners?.operatorToken ?? null,
    reloadCatalogs: () => reloadCatalogs(options, catalogs, logos, catalogWatch),
    reloadCertificate: () => certificate?.reload() ?? null,
    notReady,
    stopping: () => stage === 'stopping',
    unanswered: () => (listeners ? listeners.public.inFlight + listeners.operations.inFlight : 0),
    close,
    closeAtOnce,
    [Symbol.asyncDispose]: close,
  };
}
