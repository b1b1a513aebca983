import { join } from 'node:path';
import { type AuditDetails, serviceActor } from '../audit/audit-log.ts';
import { type CatalogFileReload, CatalogStore } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { LogoService, type LogoSource } from '../catalogs/logo-service.ts';
import type { CatalogSource } from '../catalogs/parse-catalog.ts';
import { logoFolder } from '../catalogs/read-logos.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import { describeError } from '../logging/describe-error.ts';
import type { Matcher } from '../matching/matcher.ts';
import { startMatcher } from '../matching/start-matcher.ts';
import type { CatalogStatus } from '../metrics/gauges.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { CleanupStack } from './lifecycle.ts';
import type { OpenedAudit } from './open-audit-trail.ts';
import type { ServiceOptions } from './service.ts';

/** Returns the state of every catalog, for the metrics. */
export function listCatalogStatuses(
  catalogs: CatalogStore,
  countOutdatedOffers: (catalog: CompiledCatalog) => number,
): CatalogStatus[] {
  return catalogs.servedCatalogs.map(({ source, current, activatedMs, reloadErrors }) => ({
    vertical: source.vertical.segment,
    mode: source.mode,
    version: current.version,
    offers: current.offers.length,
    outdatedOffers: countOutdatedOffers(current),
    activatedMs,
    reloadFailed: reloadErrors.length > 0,
  }));
}

export function openCatalogStore({ dataDir, clock, logger, catalogs, registry }: ServiceOptions): CatalogStore {
  return new CatalogStore({
    archiveFolder: join(dataDir, 'catalogs'),
    registry,
    clock,
    catalogs,
    onArchiveError: (error) =>
      logger.error({ error }, 'archived catalog unreadable; clicks on its offers will return 404'),
    onReloadRecovered: ({ vertical, mode }) =>
      logger.info({ vertical: vertical.segment, mode }, 'catalog file is valid again'),
    onWarnings: (source, warnings) => logger.warn({ ...describeSource(source), warnings }, 'catalog has warnings'),
  });
}

/**
 * Records which catalogs are in use: now those whose version is not the last recorded one, and later each new version before its activation.
 * A new version is not activated while the audit log cannot be written.
 */
export function recordCatalogChanges(catalogs: CatalogStore, { log, trail }: OpenedAudit): void {
  const describe = (source: CatalogSource, oldVersion: string | null, newVersion: string) => {
    const versions = { old_version: oldVersion, new_version: newVersion };
    const details: AuditDetails = { ...describeSource(source), ...versions };
    return ['catalog.activate', `${source.vertical.segment} ${source.mode}`, details] as const;
  };
  const changes = catalogs.servedCatalogs.flatMap(({ source, current }) => {
    const last = log.findLastEntry('catalog.activate', `${source.vertical.segment} ${source.mode}`);
    const { new_version: lastVersion = null } = last === null ? {} : JSON.parse(last.details);
    return lastVersion === current.version ? [] : [describe(source, lastVersion, current.version)];
  });
  trail.recordOrWait(serviceActor, ...changes);
  catalogs.onBeforeActivate(async (catalog) => {
    const served = catalogs.servedCatalogs.find(
      ({ current }) => current.vertical.number === catalog.vertical.number && current.mode === catalog.mode,
    )!;
    trail.recorderOf(serviceActor)(...describe(served.source, served.current.version, catalog.version));
  });
}

/** Returns the log fields of a catalog. `file` is absent if the catalog was not read from a file. */
function describeSource(source: CatalogSource) {
  const { vertical, mode } = source;
  return { vertical: vertical.segment, mode, ...('file' in source && { file: source.file }) };
}

/** Loads the logos of all active and replaced catalogs now, and the logos of each new catalog before its activation. */
export async function openLogoService(
  options: ServiceOptions,
  cleanup: CleanupStack,
  catalogs: CatalogStore,
): Promise<LogoService> {
  const logos = new LogoService();
  cleanup.addCleanupCallback(() => logos.close());
  const sourceOf = ({ vertical, mode }: CompiledCatalog) => logoSource(options, vertical.number, mode);
  for (const catalog of catalogs.currentCatalogs) {
    await logos.loadLogos(sourceOf(catalog), catalog);
    logos.publishLogos(sourceOf(catalog), catalog);
  }
  for (const { vertical, mode } of options.catalogs) {
    for (const { summary } of catalogs.listReplacedCatalogs(vertical.number, mode)) {
      const lenders = new Map(summary.offers.map(({ lenderName, logo }) => [lenderName, { name: lenderName, logo }]));
      await logos.loadOldLogos(logoSource(options, vertical.number, mode), [...lenders.values()]);
    }
  }
  catalogs.onBeforeActivate((catalog) => logos.loadLogos(sourceOf(catalog), catalog));
  catalogs.onCatalogActivated((catalog) => logos.publishLogos(sourceOf(catalog), catalog));
  logMissingLogos(options, logos);
  return logos;
}

/** Reloads every catalog file and its logos. If a catalog fails to load, its previous version stays active. */
export async function reloadCatalogs(
  options: ServiceOptions,
  catalogs: CatalogStore,
  logos: LogoService,
): Promise<readonly CatalogFileReload[]> {
  const hadMissingLogos = logos.logoProblems.length > 0;
  const changes = await Promise.all(
    options.catalogs
      .filter((source) => 'file' in source)
      .map(async (source) => {
        const { vertical, mode } = source;
        const change = await catalogs.reloadCatalog(vertical.number, mode);
        // Logos are refreshed even if the catalog file is unchanged, because logo files can change separately.
        if (!change.ok || !change.changed) await logos.reloadLogos(logoSource(options, vertical.number, mode));
        return { ...change, vertical: vertical.segment, mode, file: source.file };
      }),
  );
  logMissingLogos(options, logos, hadMissingLogos);
  return changes;
}

function logoSource({ catalogs }: ServiceOptions, vertical: number, mode: ApiKeyMode): LogoSource {
  const source = catalogs.find((each) => each.vertical.number === vertical && each.mode === mode);
  const folder = source !== undefined && 'file' in source ? logoFolder(source.file) : null;
  return { key: `${vertical} ${mode}`, folder };
}

function logMissingLogos(
  { logger }: ServiceOptions,
  { logoProblems: problems }: LogoService,
  hadMissingLogos = false,
): void {
  if (problems.length === 0) {
    if (hadMissingLogos) logger.info('all lender logos found');
    return;
  }
  const [{ file, problem }] = problems as [(typeof problems)[0]];
  logger.warn(
    { lenders: problems.length, first: `${file} ${problem}` },
    'lender logos missing; showing monograms; run marketplace catalog validate',
  );
}

export async function openMatcher(
  { matcherThreads, logger }: ServiceOptions,
  cleanup: CleanupStack,
  metrics: Metrics,
): Promise<Matcher> {
  const matcher = await startMatcher({
    threads: matcherThreads,
    onThreadExit: () => {
      metrics.countMatchWorkerFailure();
      logger.error('matcher thread exited; restarting');
    },
    onThreadReplaced: () => logger.info('matcher thread replaced'),
    onError: (error) => logger.error({ err: describeError(error) }, 'matcher thread failed'),
    onBatchSent: metrics.observeMatchBatch,
  });
  cleanup.addCleanupCallback(() => matcher.close());
  return matcher;
}
