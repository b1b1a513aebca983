import { join } from 'node:path';
import { dataFiles } from '../analytics/analytics-files.ts';
import type { DailyCaps, ReadLedgerSince } from '../clicks/daily-caps.ts';
import type { CleanupStack } from '../closers.ts';
import type { Mode } from '../domain/mode.ts';
import type { EventLog } from '../events/event-log.ts';
import { recordTimeMs } from '../events/ledger-record.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { readOpenLog } from '../events/read-open-log.ts';
import { LogoService, type LogoSource } from '../logos/logo-keeper.ts';
import { logoFolder } from '../logos/read-logos.ts';
import { type CatalogChange, type CatalogStore, openCatalogStore } from '../offers/catalog-library.ts';
import type { CompiledCatalog } from '../offers/compile-catalog.ts';
import type { CatalogStatusTracker } from './catalog-watch.ts';
import type { ServiceOptions } from './service.ts';
import { visitValidRecord } from './visit-sound-record.ts';

/** What there is to offer. */
export function openCatalogs(
  { dataDir, clock, logger, catalogs }: ServiceOptions,
  cdnUrl: () => string,
): CatalogStore {
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
    for (const { compiled } of catalogs.replacedCatalogs(vertical.number, mode)) await logos.retainReplaced(placeOf(compiled), compiled);
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
  ledger: EventLog,
): void {
  const { ledgerFolder } = dataFiles(dataDir);
  const readHistory: ReadLedgerSince = (wallMs, visit) =>
    readOpenLog(nodeLogFiles, ledgerFolder, ledger, { wallMs, timeMsOf: recordTimeMs }, (record) =>
      visitValidRecord(record, visit),
    );
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
