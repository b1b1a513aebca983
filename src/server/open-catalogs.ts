import { join } from 'node:path';
import {
  type CatalogChange,
  type CatalogSource,
  type CatalogStore,
  openCatalogStore,
} from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { LogoService, type LogoSource } from '../catalogs/logo-service.ts';
import { logoFolder } from '../catalogs/read-logos.ts';
import type { DailyCaps, ReadLedgerSince } from '../clicks/daily-caps.ts';
import type { Mode } from '../domain/mode.ts';
import { nodeLogFiles } from '../event-log/log-files.ts';
import { dataFiles } from '../files/data-files.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { readLedgerSince } from '../ledger/open-ledger.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Matcher } from '../matching/matcher.ts';
import { startMatcher } from '../matching/start-matcher.ts';
import type { CatalogStatus } from '../metrics/gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import { type ServiceOptions, servedVerticals } from './service.ts';
import type { CleanupStack } from './shutdown.ts';

/** What an operator wants to know of the catalogs: which are in use since when, and whether a change of one was refused. */
export class CatalogStatusTracker {
  readonly #sources: readonly CatalogSource[];
  readonly #catalogs: CatalogStore;
  readonly #activatedMs = new Map<string, number>();
  readonly #failedSources = new Set<CatalogSource>();

  constructor({ catalogs: sources, clock }: ServiceOptions, catalogs: CatalogStore) {
    this.#sources = sources;
    this.#catalogs = catalogs;
    for (const version of catalogs.currentVersions) this.#activatedMs.set(version, clock.wallMs());
    catalogs.onActivate(({ version }) => {
      this.#activatedMs.set(version, clock.wallMs());
      const inUse = new Set(catalogs.currentVersions);
      for (const known of this.#activatedMs.keys()) if (!inUse.has(known)) this.#activatedMs.delete(known);
    });
  }

  /** Notes what came of reading a source again. Returns whether the source was faulty before and is valid now. */
  recordReload(source: CatalogSource, { ok }: CatalogChange): boolean {
    if (ok) return this.#failedSources.delete(source);
    this.#failedSources.add(source);
    return false;
  }

  statuses(): CatalogStatus[] {
    return this.#sources.map((source) => {
      const { version, offers } = this.#catalogs.current(source.vertical.number, source.mode);
      return {
        vertical: source.vertical.segment,
        mode: source.mode,
        version,
        offers: offers.length,
        activatedMs: this.#activatedMs.get(version)!,
        reloadFailed: this.#failedSources.has(source),
      };
    });
  }
}

/** What there is to offer. */
export function openCatalogs({ dataDir, clock, logger, catalogs }: ServiceOptions, cdnUrl: () => string): CatalogStore {
  return openCatalogStore({
    archiveFolder: join(dataDir, 'catalogs'),
    clock,
    cdnUrl,
    catalogs,
    onArchiveError: (problem) =>
      logger.error({ problem }, 'replaced catalog cannot be read; clicks on its offers will return 404'),
  });
}

/** The images of the lenders: read here for what is in use or was, and from now on before each change. */
export async function openLogos(
  options: ServiceOptions,
  closers: CleanupStack,
  catalogs: CatalogStore,
): Promise<LogoService> {
  const logos = new LogoService();
  closers.defer(() => logos.close());
  const placeOf = ({ vertical, mode }: CompiledCatalog) => logoSource(options, vertical.number, mode);
  for (const catalog of catalogs.currentCatalogs) {
    await logos.prepare(placeOf(catalog), catalog);
    logos.activate(placeOf(catalog), catalog);
  }
  for (const { vertical, mode } of options.catalogs) {
    for (const { compiled } of catalogs.replacedCatalogs(vertical.number, mode))
      await logos.retainReplaced(placeOf(compiled), compiled);
  }
  catalogs.onBeforeActivate((catalog) => logos.prepare(placeOf(catalog), catalog));
  catalogs.onActivate((catalog) => logos.activate(placeOf(catalog), catalog));
  logMissingLogos(options, logos);
  return logos;
}

/** Reads every catalog that came from a file again, and its logos; a faulty one keeps what is in use. */
export async function reloadCatalogs(
  options: ServiceOptions,
  catalogs: CatalogStore,
  logos: LogoService,
  watch: CatalogStatusTracker,
): Promise<readonly CatalogChange[]> {
  const lackedLogos = logos.problems.length > 0;
  const changes = await Promise.all(
    options.catalogs
      .filter((source) => 'file' in source)
      .map(async (source) => {
        const { vertical, mode } = source;
        const change = await catalogs.reload(vertical.number, mode);
        if (watch.recordReload(source, change)) {
          options.logger.info({ vertical: vertical.segment, mode }, 'catalog file is valid again');
        }
        // Where offers stay, their logos may have changed all the same.
        if (!change.ok || !change.changed) await logos.refresh(logoSource(options, vertical.number, mode));
        return change;
      }),
  );
  logMissingLogos(options, logos, lackedLogos);
  return changes;
}

/** Has the daily caps follow the catalogs: what a new cap must know of the last day is read from the ledger first. */
export function connectDailyCaps(
  { dataDir, clock }: ServiceOptions,
  caps: DailyCaps,
  catalogs: CatalogStore,
  ledger: Ledger,
): void {
  const { ledgerFolder } = dataFiles(dataDir);
  const readHistory: ReadLedgerSince = (sinceMs, visit) =>
    readLedgerSince(nodeLogFiles, ledgerFolder, ledger, sinceMs, visit);
  catalogs.onBeforeActivate((catalog) => caps.loadHistory(catalog, clock.wallMs(), readHistory));
  catalogs.onActivate((catalog) => caps.activate(catalog, clock.wallMs()));
}

function logoSource({ catalogs }: ServiceOptions, vertical: number, mode: Mode): LogoSource {
  const source = catalogs.find((one) => one.vertical.number === vertical && one.mode === mode);
  const folder = source !== undefined && 'file' in source ? logoFolder(source.file) : null;
  return { key: `${vertical} ${mode}`, folder };
}

function logMissingLogos({ logger }: ServiceOptions, { problems }: LogoService, lackedLogos = false): void {
  if (problems.length === 0) {
    if (lackedLogos) logger.info('logo of every lender found again');
    return;
  }
  const [{ file, problem }] = problems as [(typeof problems)[0]];
  logger.warn(
    { lenders: problems.length, first: `${file} ${problem}` },
    'logos of some lenders missing, monograms shown; marketplace catalog validate names them',
  );
}

/** Starts the matcher. */
export async function openMatcher(
  options: ServiceOptions,
  closers: CleanupStack,
  catalogs: CatalogStore,
  metrics: Metrics,
): Promise<Matcher> {
  const { logger } = options;
  const matcher = await startMatcher({
    threads: options.matcher.kind === 'in_thread' ? 0 : options.matcher.threads,
    catalogs,
    verticals: servedVerticals(options),
    onThreadError: (fault) => {
      metrics.countMatchWorkerFailure();
      logger.error({ fault: describeError(fault) }, 'matcher thread died; a new one is being started');
    },
    onThreadReplaced: () => logger.info('matcher thread replaced'),
    onBatchSent: metrics.observeMatchBatch,
  });
  closers.defer(() => matcher.close());
  return matcher;
}
