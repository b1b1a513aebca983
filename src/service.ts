import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { EmbedOriginRegister } from './access/embed-origin-register.ts';
import { Gatekeeper } from './access/gatekeeper.ts';
import { keyFilePath } from './access/key-file.ts';
import type { KeyLimits } from './access/key-limits.ts';
import { KeyRegister } from './access/key-register.ts';
import { SqliteKeyDirectory } from './access/sqlite-key-directory.ts';
import { analyticsFiles } from './analytics/analytics-files.ts';
import { PageCursors } from './analytics/page-cursors.ts';
import { parseLedgerRecord } from './analytics/parse-ledger-record.ts';
import { Retention } from './analytics/retention.ts';
import { startThreadAnalytics } from './analytics/thread-analytics.ts';
import { bounds } from './bounds.ts';
import { ClickBudget } from './clicks/click-budget.ts';
import { ClickIds } from './clicks/click-id.ts';
import { DailyCaps, type ReadHistory } from './clicks/daily-caps.ts';
import { OfferValueSeal } from './clicks/offer-value-seal.ts';
import { Patience } from './clicks/patience.ts';
import { Closers } from './closers.ts';
import type { Durability, Endpoint, ListenerChoice, MatcherChoice, PublicUrls } from './config/config.ts';
import { isoDate } from './domain/calendar.ts';
import type { Clock } from './domain/clock.ts';
import { flatText } from './domain/flat-text.ts';
import type { Mode } from './domain/mode.ts';
import { type Outcome, unavailable } from './domain/outcome.ts';
import { TaskQueue } from './domain/task-queue.ts';
import { dropSegments } from './events/drop-segments.ts';
import type { EventLog } from './events/event-log.ts';
import { openEventLog } from './events/file-event-log.ts';
import { lockFolder } from './events/folder-lock.ts';
import { type LedgerRecord, recordTimeMs } from './events/ledger-record.ts';
import { nodeLogFiles } from './events/node-log-files.ts';
import { readOpenLog } from './events/read-open-log.ts';
import { ApiFace } from './faces/api-face.ts';
import { ApiOperations } from './faces/api-operations.ts';
import { ClickFace, clickPath, sandboxLandingPath } from './faces/click-face.ts';
import { confirmationsFace } from './faces/confirmations-face.ts';
import { Cors } from './faces/cors.ts';
import { errorReply } from './faces/error-reply.ts';
import { logoFace } from './faces/logo-face.ts';
import { operationsFace } from './faces/operations-face.ts';
import { publicFace } from './faces/public-face.ts';
import { WidgetFace } from './faces/widget-face.ts';
import { startListener } from './http/choose-listener.ts';
import type { Handler, Listener } from './http/listener.ts';
import { FileJournal } from './journal/file-journal.ts';
import { LogoKeeper, type LogoPlace } from './logos/logo-keeper.ts';
import { logoFolder } from './logos/read-logos.ts';
import { Metrics } from './metrics/metrics.ts';
import {
  type CatalogChange,
  type CatalogLibrary,
  type CatalogSource,
  openCatalogLibrary,
} from './offers/catalog-library.ts';
import type { CompiledCatalog } from './offers/compile-catalog.ts';
import type { Matcher } from './offers/matcher.ts';
import { startMatcher } from './offers/start-matcher.ts';
import { type ConfirmationsView, confirmRevenue } from './operations/confirm-revenue.ts';
import { type CreatedSession, restoreIdempotencyKey } from './operations/create-session.ts';
import { type ClickOutcome, type ClickRequest, followClick } from './operations/follow-click.ts';
import { openOperatorToken, operatorTokenPath } from './secrets/operator-token.ts';
import { RandomPool } from './secrets/random-pool.ts';
import { openSecretFile } from './secrets/secret-file.ts';
import type { SecretRing } from './secrets/secret-ring.ts';
import { IdempotencyKeys } from './sessions/idempotency-keys.ts';
import { MemorySessionStore } from './sessions/memory-session-store.ts';
import { RestoreFromLedger } from './sessions/restore-from-ledger.ts';
import { SubIds } from './sessions/sub-id.ts';
import { DeviceClassifier } from './user-agents/device-class.ts';
import type { Vertical } from './verticals/vertical.ts';
import { loadWidgetScript } from './widgets/widget-script.ts';
import { WidgetTokens } from './widgets/widget-token.ts';

/** Everything a service is made of, as plain values; `Config` and the options of the embedded API both come to this. */
export interface ServiceOptions {
  readonly dataDir: string;
  readonly secretFile: string;
  /** One live and one test catalog for each vertical served. */
  readonly catalogs: readonly CatalogSource[];
  readonly durability: Durability;
  /** Days back from today that sessions and the ledger are kept; null: for ever. */
  readonly retentionDays: number | null;
  readonly matcher: MatcherChoice;
  readonly sessions: { readonly max: number; readonly ttlMs: number };
  readonly limits: KeyLimits;
  readonly corsOrigins: readonly string[];
  /** Null: no listeners, and `urlsFor` is asked with port 0. */
  readonly listen: { readonly public: Endpoint; readonly operations: Endpoint; readonly engine: ListenerChoice } | null;
  /** Our addresses as answers name them, given the public port that was bound. */
  readonly urlsFor: (boundPort: number) => PublicUrls;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A running service: its operations behind the gate, and the means to look after it. */
export interface Service extends AsyncDisposable {
  readonly gatekeeper: Gatekeeper;
  readonly operations: ApiOperations;
  readonly keys: Pick<KeyRegister, 'create' | 'list' | 'revoke'>;
  /** Where the widgets of each account may be embedded. */
  readonly originLists: Pick<EmbedOriginRegister, 'allow' | 'list' | 'remove'>;
  readonly urls: PublicUrls;
  /** Ports bound; null without listeners. */
  readonly ports: { readonly public: number; readonly operations: number } | null;
  followClick(request: ClickRequest): Promise<ClickOutcome>;
  /** Takes one row of what lenders say of clicks, or an array of them (D11). */
  confirmRevenue(rows: unknown): Promise<Outcome<ConfirmationsView>>;
  /** Where the token for the operations listener is, and whether this start has written it; null without listeners. */
  readonly operatorToken: { readonly path: string; readonly created: boolean } | null;
  /** Reads every catalog that came from a file again; a faulty one keeps what is in use. */
  reloadCatalogs(): Promise<readonly CatalogChange[]>;
  /** What keeps it from taking requests, in words; empty when it is ready. */
  notReady(): readonly string[];
  /** Stops taking requests, answers those in flight, makes the log durable, closes everything. Idempotent. */
  close(): Promise<void>;
}

/** This server owns one shard of the log; more of them come with more boxes. */
const shard = 0;

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
  const { dataDir, clock } = options;
  // Ids of live sessions and the callers' metadata are in there: nobody else's business.
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockFolder(dataDir);
  closers.add(() => lock.release());

  const { ledgerFolder } = analyticsFiles(dataDir);
  const secrets = openSecretFile(options.secretFile, existsSync(ledgerFolder) && readdirSync(ledgerFolder).length > 0);
  const { gatekeeper, keys, origins, originLists } = openAccess(options, closers);
  // Answers name the port that was bound, which is known last; nothing asks for it before the first answer.
  let urls: PublicUrls;
  const catalogs = openCatalogs(options, () => urls.cdn);
  const caps = new DailyCaps(clock.wallMs());
  for (const { vertical, mode } of options.catalogs) {
    caps.resume(catalogs.current(vertical.number, mode), catalogs.replaced(vertical.number, mode));
  }
  const widgetScript = loadWidgetScript();
  const { sessions, idempotencyKeys, ledger, journal, analytics } = await openHistory(
    options,
    closers,
    secrets,
    gatekeeper,
    caps,
  );
  keepCaps(options, caps, catalogs, ledger);
  const logos = await openLogos(options, closers, catalogs);
  // A change of catalog reads the ledger, so it is given up before that closes.
  closers.add(() => catalogs.close());
  const matcher = await openMatcher(options, closers, catalogs);
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
  let publicListener: Listener | null = null;
  const metrics = new Metrics({
    liveSessions: () => sessions.size,
    requestsInFlight: () => publicListener?.inFlight ?? 0,
    matchesWaiting: () => matcher.waiting,
    offersAtDailyCap: () => caps.closedCount(clock.wallMs()),
    ledgerAppended: () => ledger.appendedPosition,
    ledgerDurable: () => ledger.durablePosition,
    analyticsFolded: () => analytics.foldedPosition,
    analyticsLeftOut: async () => {
      const { records: _, ...leftOut } = await analytics.totals();
      return leftOut;
    },
  });

  // The public listener is the last to open and so the first to close: requests in flight need all the rest. Its face is
  // put in right after, before the event loop can bring it a request.
  let face!: Handler;
  let ports: Service['ports'] = null;
  let operatorToken: Service['operatorToken'] = null;
  if (options.listen !== null) {
    const path = operatorTokenPath(dataDir);
    const { token, created } = openOperatorToken(path);
    operatorToken = { path, created };
    const confirmations = confirmationsFace({
      isOperator: (authorization) => token.isIn(authorization),
      // This listener is open a little before everything is put together.
      confirm: async (rows) =>
        stage === 'starting' ? unavailable(bounds.retryAfterSeconds) : confirmRevenue(confirmPorts, rows),
    });
    const listen = opener(options, options.listen.engine, closers, metrics);
    const operationsListener = await listen(
      options.listen.operations,
      operationsFace({ notReady, metrics, confirmations }),
      bounds.confirmationBodyBytesMax,
    );
    publicListener = await listen(options.listen.public, (exchange) => face(exchange), bounds.bodyBytesMax);
    ports = { public: publicListener.port, operations: operationsListener.port };
  }
  urls = options.urlsFor(ports?.public ?? 0);

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
    journal,
    analytics,
    pageCursors: new PageCursors(secrets),
    widgetUrl: urls.widget,
  });
  const clickIds = new ClickIds(secrets);
  const queue = new TaskQueue(bounds.confirmationBatchesWaitingMax);
  const confirmPorts = { ...shared, clickIds, history: analytics, queue };
  const clickPorts = {
    ...shared,
    clickIds,
    budget: new ClickBudget(bounds.clicksRecordedPerLinkMax, bounds.clickCountersMax),
    patience,
    sandboxLandingUrl: urls.click + sandboxLandingPath,
    onUnrecorded: metrics.clickUnrecorded,
  };
  face = publicFace({
    api: new ApiFace({ verticals: served(options), gatekeeper, operations, cors: new Cors(options.corsOrigins) }),
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
    stage = 'stopping';
    return closers.close();
  };
  return {
    gatekeeper,
    operations,
    keys,
    originLists,
    urls,
    ports,
    followClick: (request) => followClick(clickPorts, request),
    confirmRevenue: (rows) => confirmRevenue(confirmPorts, rows),
    operatorToken,
    reloadCatalogs: async () => {
      const changes = await Promise.all(
        options.catalogs
          .filter((source) => 'file' in source)
          .map(async ({ vertical, mode }) => {
            const change = await catalogs.reload(vertical.number, mode);
            // Where offers stay, their logos may have changed all the same.
            if (!change.ok || !change.changed) await logos.refresh(logoPlace(options, vertical.number, mode));
            return change;
          }),
      );
      warnOfLogos(options, logos);
      return changes;
    },
    notReady,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function served({ catalogs }: ServiceOptions): Vertical[] {
  return [...new Set(catalogs.map(({ vertical }) => vertical))];
}

/** Who may ask, how much, and from where: keys and origins on disk, looked up in memory. */
function openAccess({ dataDir, clock, logger, limits }: ServiceOptions, closers: Closers) {
  const path = keyFilePath(dataDir);
  const register = KeyRegister.open(path);
  closers.add(() => register.close());
  const originRegister = EmbedOriginRegister.open(path);
  closers.add(() => originRegister.close());
  const directory = new SqliteKeyDirectory({
    path,
    clock,
    onFault: (fault) => logger.error({ err: fault }, 'the key file cannot be read; what is known of it stays in force'),
  });
  closers.add(() => directory.close());
  // What this process changes itself holds at once; what others change, as soon as the directory looks.
  const refreshed = <Result>(result: Result): Result => {
    directory.refresh();
    return result;
  };
  const keys: Service['keys'] = {
    create: (wanted, nowMs) => refreshed(register.create(wanted, nowMs)),
    list: () => register.list(),
    revoke: (id, nowMs) => refreshed(register.revoke(id, nowMs)),
  };
  const originLists: Service['originLists'] = {
    allow: (accountName, origins) => refreshed(originRegister.allow(accountName, origins)),
    list: (accountName) => originRegister.list(accountName),
    remove: (accountName, origins) => refreshed(originRegister.remove(accountName, origins)),
  };
  const gatekeeper = new Gatekeeper({ directory, clock, defaultLimits: limits });
  return { gatekeeper, keys, origins: directory.origins, originLists };
}

/** What happened, what is still live of it, and what it adds up to. */
async function openHistory(
  options: ServiceOptions,
  closers: Closers,
  secrets: SecretRing,
  gatekeeper: Gatekeeper,
  caps: DailyCaps,
) {
  const { dataDir, clock, logger } = options;
  const { ttlMs: sessionTtlMs, max: sessionsMax } = options.sessions;
  const files = analyticsFiles(dataDir);
  const sessions = new MemorySessionStore({
    clock,
    sessionsMax,
    sessionTtlMs,
    parts: bounds.sessionStoreParts,
    sweepMs: bounds.sessionSweepMs,
  });
  closers.add(() => sessions.close());

  const idempotencyKeys = new IdempotencyKeys<Outcome<CreatedSession>>({
    clock,
    secrets,
    rememberedMs: sessionTtlMs,
    keysMax: bounds.idempotencyKeysMax,
  });
  const restore = new RestoreFromLedger({
    clock,
    sessions,
    sessionTtlMs,
    verticals: served(options),
    onKeyedSession: (session) => restoreIdempotencyKey({ idempotencyKeys, sessionTtlMs }, session),
  });
  const ledger = await openEventLog({
    folder: files.ledgerFolder,
    shard,
    durability: options.durability,
    onRecord: (_position, record) => {
      restore.visit(record);
      if (!caps.idle) visitSound(record, (sound) => caps.see(sound));
    },
    visitSince: {
      wallMs: caps.idle ? restore.neededSinceMs : Math.min(restore.neededSinceMs, caps.neededSinceMs),
      timeOf: recordTimeMs,
    },
    onTrouble: (trouble) => logger.error(trouble, `ledger: ${trouble.kind}`),
  });
  closers.add(() => ledger.close());
  for (const [keyNumber, count] of restore.sessionsToday) {
    gatekeeper.restoreSessions(keyNumber, restore.today, count);
  }

  const journal = await FileJournal.open({
    folder: join(dataDir, 'journal'),
    shard,
    durability: options.durability,
    clock,
    secrets,
    verticals: served(options),
    keptMs: sessionTtlMs,
    onMerge: (sub, changes) => restore.visitMerge(sub, changes),
    onTrouble: (trouble) => logger.error(trouble, `journal: ${trouble.kind}`),
  });
  closers.add(() => journal.close());

  const analytics = await startThreadAnalytics({
    files,
    log: ledger,
    onCrash: (fault) => logger.error({ err: fault }, 'the aggregator stopped and is started again'),
    onRebuild: (reason) => logger.warn({ reason }, 'the analytics store is rebuilt from the ledger'),
  });
  closers.add(() => analytics.close());
  ledger.onDurable((position) => analytics.durable(position));

  if (options.retentionDays !== null) {
    const retention = new Retention({
      days: options.retentionDays,
      clock,
      analytics,
      dropLedger: (beforePosition) => dropSegments(nodeLogFiles, files.ledgerFolder, beforePosition),
      onGivenUp: ({ keptFromDay, segments }) =>
        logger.info({ keptFrom: isoDate(keptFromDay), segments }, 'what is older than the retention was given up'),
      onFault: (fault) => logger.warn({ err: fault }, 'what is older than the retention could not be given up yet'),
    });
    closers.add(() => retention.close());
  }
  return { sessions, idempotencyKeys, ledger, journal, analytics };
}

/** What there is to offer. */
function openCatalogs({ dataDir, clock, logger, catalogs }: ServiceOptions, cdnUrl: () => string): CatalogLibrary {
  return openCatalogLibrary({
    archiveFolder: join(dataDir, 'catalogs'),
    clock,
    cdnUrl,
    catalogs,
    onDamaged: (problem) =>
      logger.error({ problem }, 'a replaced catalog cannot be read; clicks on its offers find nothing'),
  });
}

/** The images of the lenders: read here for what is in use or was, and from now on before each change. */
async function openLogos(options: ServiceOptions, closers: Closers, catalogs: CatalogLibrary): Promise<LogoKeeper> {
  const logos = new LogoKeeper();
  closers.add(() => logos.close());
  const placeOf = ({ vertical, mode }: CompiledCatalog) => logoPlace(options, vertical.number, mode);
  for (const catalog of catalogs.inUse) {
    await logos.prepare(placeOf(catalog), catalog);
    logos.adopt(placeOf(catalog), catalog);
  }
  for (const { vertical, mode } of options.catalogs) {
    for (const { compiled } of catalogs.replaced(vertical.number, mode)) await logos.keep(placeOf(compiled), compiled);
  }
  catalogs.beforeUse((catalog) => logos.prepare(placeOf(catalog), catalog));
  catalogs.onUse((catalog) => logos.adopt(placeOf(catalog), catalog));
  warnOfLogos(options, logos);
  return logos;
}

function logoPlace({ catalogs }: ServiceOptions, vertical: number, mode: Mode): LogoPlace {
  const source = catalogs.find((one) => one.vertical.number === vertical && one.mode === mode);
  const folder = source !== undefined && 'file' in source ? logoFolder(source.file) : null;
  return { key: `${vertical} ${mode}`, folder };
}

function warnOfLogos({ logger }: ServiceOptions, { problems }: LogoKeeper): void {
  if (problems.length === 0) return;
  const [{ file, problem }] = problems as [(typeof problems)[0]];
  logger.warn(
    { lenders: problems.length, first: `${file} ${problem}` },
    'some lenders are shown by a monogram, for want of a logo: marketplace catalog validate names them',
  );
}

/** Has the daily caps follow the catalogs: what a new cap must know of the last day is read from the ledger first. */
function keepCaps(
  { dataDir, clock }: ServiceOptions,
  caps: DailyCaps,
  catalogs: CatalogLibrary,
  ledger: EventLog,
): void {
  const { ledgerFolder } = analyticsFiles(dataDir);
  const readHistory: ReadHistory = (wallMs, visit) =>
    readOpenLog(nodeLogFiles, ledgerFolder, ledger, { wallMs, timeOf: recordTimeMs }, (record) =>
      visitSound(record, visit),
    );
  catalogs.beforeUse((catalog) => caps.prepare(catalog, clock.wallMs(), readHistory));
  catalogs.onUse((catalog) => caps.adopt(catalog, clock.wallMs()));
}

/** A file may hold anything. */
function visitSound(value: unknown, visit: (record: LedgerRecord) => void): void {
  const record = parseLedgerRecord(value);
  if (record !== null) visit(record);
}

/** Who works out what is offered to whom. */
async function openMatcher(options: ServiceOptions, closers: Closers, catalogs: CatalogLibrary): Promise<Matcher> {
  const { logger } = options;
  const matcher = await startMatcher({
    threads: options.matcher.kind === 'in_thread' ? 0 : options.matcher.threads,
    catalogs,
    verticals: served(options),
    onFault: (fault) => logger.error({ err: fault }, 'a matching worker failed; its requests are matched anew'),
  });
  closers.add(() => matcher.close());
  return matcher;
}

/** Opens listeners that fail, answer and close alike. */
function opener({ logger }: ServiceOptions, engine: ListenerChoice, closers: Closers, metrics: Metrics) {
  return async (endpoint: Endpoint, handler: Handler, bodyBytesMax: number): Promise<Listener> => {
    const listener = await startListener(
      engine,
      {
        ...endpoint,
        handler,
        errorReply,
        onFault: (fault, requestId) => {
          metrics.fault();
          logger.error({ err: fault, requestId }, 'a request failed');
        },
        onDeadline: metrics.deadline,
        bodyBytesMax,
        deadlineMs: bounds.requestDeadlineMs,
      },
      (reason) => logger.warn({ reason }, 'uWebSockets.js cannot be used, listening with node:http instead'),
    );
    closers.add(() => listener.close(bounds.drainGraceMs));
    return listener;
  };
}
