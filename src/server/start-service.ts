import { serviceActor } from '../audit/audit-log.ts';
import { operatorTokenPath } from '../auth/operator-token.ts';
import type { SqliteKeyDirectory } from '../auth/sqlite-key-directory.ts';
import { bounds } from '../bounds.ts';
import { ClickDecider } from '../budgets/click-decider.ts';
import { CatalogComparisons } from '../catalogs/catalog-comparisons.ts';
import { ClickRecordLimiter } from '../clicks/click-record-limiter.ts';
import { resolveUrls } from '../config/resolve-urls.ts';
import { SerialQueue, SharedTimeout } from '../domain/async.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import { adminRoutes } from '../http/routes/admin-routes.ts';
import { admitByKey, apiPathCheck, apiRoutes } from '../http/routes/api-routes.ts';
import { clickRoutes, readClickToRelay, renderLandingPage, sandboxLandingPath } from '../http/routes/click-routes.ts';
import { partnerConsoleRoutes } from '../http/routes/console/partner-console.ts';
import { CorsPolicy } from '../http/routes/cors.ts';
import { publicRoutes } from '../http/routes/public-routes.ts';
import { RequestOwners } from '../http/routes/request-owner.ts';
import { publicRouteNames } from '../http/routes/routing.ts';
import { docsRoutes, logoRoute } from '../http/routes/static-routes.ts';
import { widgetRoutes } from '../http/routes/widget-routes.ts';
import { ClickIds, ClickTokenCipher } from '../ids/click-tokens.ts';
import { NameCursors, PageCursors, UnitCursors } from '../ids/cursors.ts';
import { readAccount, readVerticalAndModeKey, SubIds } from '../ids/sub-id.ts';
import { WidgetTokens } from '../ids/widget-token.ts';
import { registerBusinessMetrics } from '../metrics/business-metrics.ts';
import { type GaugeSources, registerGauges } from '../metrics/gauges.ts';
import { Metrics } from '../metrics/metrics.ts';
import { EventLoopMonitor } from '../metrics/process-metrics.ts';
import { loadDocsAssets, prepareDocsFiles } from '../openapi/docs-files.ts';
import { type ApiOperationDeps, apiOperations, consoleOperations } from '../operations/api-operations.ts';
import { createOfferUrls } from '../operations/click-url.ts';
import { confirmRevenue } from '../operations/confirm-revenue.ts';
import { ExperimentChanges } from '../operations/experiments/experiment-changes.ts';
import { followClick } from '../operations/follow-click.ts';
import { recordRelayedClick } from '../operations/relay-click.ts';
import { PendingFieldChanges } from '../operations/submit-inputs.ts';
import { RandomBytesPool } from '../secrets/random-pool.ts';
import { DeviceClassifier } from '../user-agents/device-classifier.ts';
import { CleanupStack, ServiceLifecycle } from './lifecycle.ts';
import { createAuthenticator, openConsoleAccess, openOperatorToken } from './open-auth.ts';
import {
  listCatalogStatuses,
  openCatalogStore,
  openLogoService,
  openMatcher,
  recordCatalogChanges,
  reloadCatalogs,
} from './open-catalogs.ts';
import { createClockAdvance } from './open-clock-advance.ts';
import { openDataFolder } from './open-data-folder.ts';
import { activateLimitsOfNewCatalogs } from './open-ledger-bookings.ts';
import { openCertificateStore, openListeners } from './open-listeners.ts';
import { openSharedLimits } from './open-shared-limits.ts';
import { openStorage } from './open-storage.ts';
import { readConsoleFiles, readWidgetScript } from './read-web-files.ts';
import type { Service, ServiceOptions } from './service.ts';
import { servedVerticals, sharedDir } from './service.ts';
import { packageVersion } from './version.ts';

/**
 * Creates and connects all components of a service (composition root). Components are opened in the order of their dependencies, and closed
 * in reverse order. If the start fails, the components that are already open are closed.
 */
export async function startService(options: ServiceOptions): Promise<Service> {
  const cleanup = new CleanupStack();
  try {
    return await composeService(options, cleanup);
  } catch (error) {
    await cleanup.close().catch(() => {}); // The error of the start is thrown, not an error of the cleanup.
    throw error;
  }
}

async function composeService(configured: ServiceOptions, cleanup: CleanupStack): Promise<Service> {
  const { logger, startAbortSignal } = configured;
  const widgetScript = readWidgetScript();
  // Compresses the assets in the thread pool while the storage opens. `prepareDocsFiles` reports an error.
  if (configured.listen !== null) loadDocsAssets().catch(() => {});

  // Files
  const { secrets, evidence, testClock, clock, audit } = openDataFolder(configured, cleanup);
  const options: ServiceOptions = { ...configured, clock };
  const metrics = new Metrics(publicRouteNames);
  const { authenticator, keyDirectory, keys, embedOrigins, readKeyNumbers } = await createAuthenticator(
    options,
    cleanup,
    metrics,
    evidence,
  );
  const catalogs = openCatalogStore(options);
  const clickLimiter = new ClickRecordLimiter();
  // Clients compare the expiry of the certificate with their own clocks, so a test clock does not apply.
  const certificate = openCertificateStore(configured, cleanup);
  const storage = await openStorage(options, {
    cleanup,
    evidence,
    testClock,
    audit,
    secrets,
    authenticator,
    keyDirectory,
    readKeyNumbers,
    catalogs,
    clickLimiter,
    metrics,
  });
  const { sessions, idempotencyKeys, unitHasher, hashAssignments, referrerTags } = storage;
  const { ledger, journal, analytics, bookings } = storage;
  const clockAdvance = testClock && createClockAdvance(options, cleanup, testClock, { ...storage, audit: audit.trail });
  startAbortSignal?.throwIfAborted();

  // Offers
  activateLimitsOfNewCatalogs(options, bookings, catalogs, ledger);
  const sharedLimits = await openSharedLimits(options, cleanup, bookings, catalogs);
  const logos = await openLogoService(options, cleanup, catalogs);
  // All shards activate the same catalogs.
  if ((options.shard?.number ?? 0) === 0) recordCatalogChanges(catalogs, audit);
  // The activation of a catalog reads the ledger, so the catalog store must close before the ledger closes.
  cleanup.addCleanupCallback(() => catalogs.close());
  const comparisons = new CatalogComparisons(catalogs.archive.folder);
  cleanup.addCleanupCallback(() => comparisons.close());
  const matcher = await openMatcher(options, cleanup, metrics);
  startAbortSignal?.throwIfAborted();
  const clickTimeout = new SharedTimeout(bounds.clickDurabilityTimeoutMs, bounds.deadlineCheckIntervalMs);
  cleanup.addCleanupCallback(() => clickTimeout.close());

  // Listeners
  const lifecycle = new ServiceLifecycle({ clock, drain: options.drain, cleanup, ledger, journal, analytics });
  const notReadyReasons = () => lifecycle.notReadyReasons();
  const operatorToken =
    options.listen &&
    openOperatorToken(options, () => audit.trail.recorderOf(serviceActor)('operator_token.create', 'operator token'));
  const listeners =
    options.listen &&
    (await openListeners(options, options.listen, {
      cleanup,
      metrics,
      certificate,
      lifecycle,
      callerNames: (caller) => keyDirectory.findAccountAndKeyName(caller),
      findShard: (account, verticalAndMode) => keyDirectory.findShard(account, verticalAndMode),
    }));
  const { urls } = resolveUrls(options, listeners?.public.port ?? 0);

  // Operations
  const random = new RandomBytesPool();
  const commonDeps = {
    clock,
    sessions,
    subIds: new SubIds(secrets, random),
    ledger,
    devices: new DeviceClassifier(bounds.userAgentCacheEntriesMax),
    catalogs,
    availability: bookings,
    clickDecider: new ClickDecider(bookings, sharedLimits),
    clickTokens: new ClickTokenCipher(secrets, random),
  };
  const offerDeps = {
    ...commonDeps,
    offerUrls: createOfferUrls(urls),
    matcher,
    explanations: new SerialQueue(bounds.explanationQueueMax),
    sessionTtlMs: options.sessionTtlMs,
    onSessionMissing: metrics.countMissingSession,
    onViewLost: metrics.countLostView,
    tokens: new WidgetTokens(secrets),
    random,
    widgetScriptUrl: `${urls.widget}/widget.js?v=${widgetScript.hash}`,
  };
  const operationDeps: ApiOperationDeps = {
    ...offerDeps,
    idempotencyKeys,
    unitHasher,
    hashAssignments,
    referrerTags,
    journal,
    registry: options.registry,
    pendingChanges: new PendingFieldChanges(),
    analytics,
    pageCursors: new PageCursors(secrets),
    tagCursors: new NameCursors(secrets, 'tag-cursor'),
    experimentCursors: new NameCursors(secrets, 'experiment-cursor'),
    unitCursors: new UnitCursors(secrets, random),
    experimentChanges: new ExperimentChanges(() => metrics.countAuthRefusal('changes')),
    audit: audit.trail,
    findAccountName: (account) => keyDirectory.findAccountAndKeyName({ account }).account ?? null,
    confirmationGraceDays: options.confirmationGraceDays,
    findKeyId: (keyNumber) => keyDirectory.findKeyId(keyNumber),
    widgetUrl: urls.widget,
  };
  const clickIds = new ClickIds(secrets, random);
  const clickDeps = {
    ...commonDeps,
    clickIds,
    clickLimiter,
    clickTimeout,
    sandboxLandingUrl: urls.click + sandboxLandingPath,
    redirectHostUrl: urls.click,
    onUnrecorded: metrics.countUnrecordedClick,
    onUnbooked: metrics.countUnbookedClick,
    onUncounted: metrics.countUncountedClick,
  };
  const confirmationDeps = {
    ...commonDeps,
    clickIds,
    analytics,
    queue: new SerialQueue(bounds.confirmationQueueBatchesMax),
    audit: audit.trail,
    verticalsWithConfirmedClicks: listVerticalNumbers(options, 'clicksConfirmRevenue'),
    verticalsWithFlatPayouts: listVerticalNumbers(options, 'flatPayout'),
    isOwnRow: createRowOwnerCheck(options, keyDirectory),
    onClickReversed: metrics.countReversedClick,
    onBatchDone: metrics.countConfirmations,
  };
  const confirm: Service['confirmRevenue'] = (actor, rows, text, signal) =>
    confirmRevenue(confirmationDeps, actor, rows, text, signal);

  if (options.listen !== null && listeners !== null && operatorToken !== null) {
    const verticals = servedVerticals(options);
    const eventLoop = new EventLoopMonitor();
    cleanup.addCleanupCallback(() => eventLoop.close());
    const gaugeSources: GaugeSources = {
      build: { version: packageVersion, engine: listeners.public.engine },
      dataDir: options.dataDir,
      eventLoopDelays: eventLoop.delays,
      certificateStatus: certificate,
      catalogs: () => listCatalogStatuses(catalogs, (catalog) => bookings.countOutdatedOffers(catalog, clock.wallMs())),
      logHealthy: { ledger: () => ledger.healthy, journal: () => journal.healthy },
      gauges: {
        marketplace_ready: () => Number(notReadyReasons().length === 0),
        marketplace_live_sessions: () => sessions.size,
        marketplace_live_sessions_max: () => options.maxSessions,
        marketplace_requests_in_flight: () => listeners.public.inFlightCount,
        marketplace_api_keys: () => keyDirectory.size,
        marketplace_match_threads: () => options.matcherThreads,
        marketplace_match_threads_ready: () => matcher.readyThreadCount,
        marketplace_matches_pending: () => matcher.pendingRequestCount,
        marketplace_offers_at_daily_cap: () => bookings.countUnavailableOffers('daily_cap', clock.wallMs()),
        marketplace_offers_at_budget: () => bookings.countUnavailableOffers('budget', clock.wallMs()),
        marketplace_offers_paced: () => bookings.countUnavailableOffers('paced', clock.wallMs()),
        marketplace_ledger_appended_position: () => ledger.lastAppendedPosition,
        marketplace_ledger_durable_position: () => ledger.durablePosition,
        marketplace_analytics_applied_position: () => analytics.appliedPosition,
        marketplace_analytics_lag_seconds: () => analytics.lagMs / 1000,
        marketplace_aggregator_up: () => Number(analytics.healthy),
        marketplace_audit_log_healthy: () => Number(audit.trail.healthy),
      },
      analyticsSkippedRecords: async () => {
        const { records: _, ...skipped } = await analytics.getRecordCounts();
        return skipped;
      },
    };
    registerGauges(metrics.registry, gaugeSources);
    registerBusinessMetrics(metrics.registry, {
      revenue: () =>
        servedVerticals(options).map(({ number, segment }) => ({
          vertical: segment,
          byKind: bookings.getRevenueTotals(number),
        })),
      budgets: () =>
        catalogs.servedCatalogs.flatMap(({ source: { vertical, mode }, current }) =>
          Object.entries(bookings.sumBudgets(current, clock.wallMs())).map(([period, use]) => ({
            vertical: vertical.segment,
            mode,
            period,
            ...use,
          })),
        ),
      experiments: () => analytics.countExperiments(daysSinceEpoch(clock.wallMs())),
    });
    const consoles = openConsoleAccess(options, cleanup, keyDirectory, operatorToken);
    const loginDeps = { logger, failedLogins: consoles.failedLogins };
    const apiPaths = { basePath: '/v1', verticals, operations: apiOperations };
    const routes = publicRoutes({
      api: apiRoutes({
        ...apiPaths,
        admitRequest: admitByKey(authenticator),
        actorKind: 'partner_key',
        operationDeps,
        cors: new CorsPolicy(options.corsOrigins),
        otherHandlers: docsRoutes(
          await prepareDocsFiles(
            verticals.map((vertical) => options.registry.withProduct(vertical)),
            urls,
          ),
        ),
      }),
      click: clickRoutes({ ...clickDeps, onPrefetch: () => metrics.countUncountedClick('prefetch') }),
      widget: widgetRoutes({
        ...offerDeps,
        originsOf: (account) => keyDirectory.findOrigins(account),
        ownOrigin: new URL(urls.widget).origin,
        cdnOrigin: new URL(urls.cdn).origin,
        script: widgetScript,
        onWidgetEvents: metrics.countWidgetEvents,
      }),
      logo: logoRoute(logos.cache),
      console: partnerConsoleRoutes({
        ...loginDeps,
        clock,
        verticals,
        operations: consoleOperations,
        operationDeps,
        isTls: certificate !== null,
        isTestClock: clockAdvance !== null,
        access: consoles.partner,
        files: readConsoleFiles('partner'),
      }),
    });
    listeners.setHandlers({
      public:
        listeners.forwarding?.forwardRequests({
          owners: new RequestOwners({
            ...commonDeps,
            clickIds,
            findKeyByHash: (hash) => keyDirectory.findKeyByHash(hash),
            verticals,
            isApiPath: apiPathCheck(apiPaths),
          }),
          handler: routes,
          readClick: readClickToRelay(clickDeps, listeners.onHandlerError),
          recordRelayedClick: (...click) => recordRelayedClick(clickDeps, ...click),
        }) ?? routes,
      forwarded: routes,
      operations: adminRoutes({
        ...loginDeps,
        clock,
        access: consoles.operator,
        consoleFiles: readConsoleFiles('operator'),
        verticals,
        isOperator: (authorization) => operatorToken.matchesAuthorizationHeader(authorization),
        hostNames: [options.listen.operationsHost, ...options.listen.operationsAllowedHosts],
        metrics: metrics.registry,
        notReadyReasons,
        confirmRevenue: (rows, text, { actor, signal }) => confirm(actor, rows, text, signal),
        keys,
        authenticator,
        catalogs,
        bookings,
        analytics,
        comparisons,
        embedOrigins,
        audit: audit.trail,
        auditLog: audit.log,
        testClock: clockAdvance,
        gaugeSources,
        defaultLimits: options.limits,
      }),
    });
  }

  lifecycle.markServing();

  return {
    authenticator,
    operationDeps,
    clock,
    testClock: clockAdvance,
    audit: audit.trail,
    keys,
    embedOrigins,
    urls,
    verticals: servedVerticals(options),
    catalogFiles: options.catalogs.flatMap((source) => ('file' in source ? [source.file] : [])),
    ports: listeners && { public: listeners.public.port, operations: listeners.operations.port },
    engine: listeners && { name: listeners.public.engine, reason: listeners.public.engineReason },
    followClick: (request) => followClick(clickDeps, request),
    confirmRevenue: confirm,
    findLogo: (file, hash) => logos.cache.findFile(file, hash),
    renderLandingPage: (path, query) => renderLandingPage(clickDeps, path, query),
    operatorToken: operatorToken && { path: operatorTokenPath(sharedDir(options)), created: operatorToken.isNew },
    reloadCatalogs: () => reloadCatalogs(options, catalogs, logos),
    reloadCertificate: () => certificate?.reloadCertificate() ?? null,
    saveSnapshot: () => storage.saveSnapshot(),
    notReadyReasons,
    isStopping: () => lifecycle.isStopping,
    requestsInFlight: () => (listeners ? listeners.public.inFlightCount + listeners.operations.inFlightCount : 0),
    close: () => lifecycle.stop(),
    closeImmediately: () => lifecycle.stopImmediately(),
    [Symbol.asyncDispose]: () => lifecycle.stop(),
  };
}

/**
 * Returns the numbers of the verticals in which a rule is `true`. Includes verticals that this service does not serve at the moment,
 * because confirmations arrive up to 90 days after a click.
 */
function listVerticalNumbers(
  options: ServiceOptions,
  rule: 'clicksConfirmRevenue' | 'flatPayout',
): ReadonlySet<number> {
  const verticals = [...options.registry.verticals, ...servedVerticals(options)];
  return new Set(verticals.filter((vertical) => vertical[rule] === true).map(({ number }) => number));
}

/** Returns a function that finds out whether this shard decides the confirmations of a session; null without other shards. */
function createRowOwnerCheck({ shard }: ServiceOptions, keyDirectory: Pick<SqliteKeyDirectory, 'findShard'>) {
  if (shard === null) return null;
  return (sub: Uint8Array | null) =>
    shard.number === (sub === null ? 0 : keyDirectory.findShard(readAccount(sub), readVerticalAndModeKey(sub)));
}
