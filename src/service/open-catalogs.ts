import { join } from 'node:path';
import { analyticsFiles } from '../analytics/analytics-files.ts';
import type { DailyCaps, ReadHistory } from '../clicks/daily-caps.ts';
import type { Closers } from '../closers.ts';
import type { Mode } from '../domain/mode.ts';
import type { EventLog } from '../events/event-log.ts';
import { recordTimeMs } from '../events/ledger-record.ts';
import { nodeLogFiles } from '../events/node-log-files.ts';
import { readOpenLog } from '../events/read-open-log.ts';
import { LogoKeeper, type LogoPlace } from '../logos/logo-keeper.ts';
import { logoFolder } from '../logos/read-logos.ts';
import { type CatalogChange, type CatalogLibrary, openCatalogLibrary } from '../offers/catalog-library.ts';
import type { CompiledCatalog } from '../offers/compile-catalog.ts';
import type { CatalogWatch } from './catalog-watch.ts';
import type { ServiceOptions } from './service.ts';
import { visitSoundRecord } from './visit-sound-record.ts';

/** What there is to offer. */
export function openCatalogs(
  { dataDir, clock, logger, catalogs }: ServiceOptions,
  cdnUrl: () => string,
): CatalogLibrary {
  return openCatalogLibrary({
    archiveFolder: join(dataDir, 'catalogs'),
    clock,
    cdnUrl,
    catalogs,
    onDamaged: (problem) =>
      logger.error({ problem }, 'replaced catalog cannot be read; clicks on its offers will return 404'),
  });
}

/** The images of the lenders: read here for what is in use or was, and from now on before each change. */
export async function openLogos(
  options: ServiceOptions,
  closers: Closers,
  catalogs: CatalogLibrary,
): Promise<LogoKeeper> {
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

/** Reads every catalog that came from a file again, and its logos; a faulty one keeps what is in use. */
export async function reloadCatalogs(
  options: ServiceOptions,
  catalogs: CatalogLibrary,
  logos: LogoKeeper,
  watch: CatalogWatch,
): Promise<readonly CatalogChange[]> {
  const lackedLogos = logos.problems.length > 0;
  const changes = await Promise.all(
    options.catalogs
      .filter((source) => 'file' in source)
      .map(async (source) => {
        const { vertical, mode } = source;
        const change = await catalogs.reload(vertical.number, mode);
        if (watch.changed(source, change)) {
          options.logger.info({ vertical: vertical.segment, mode }, 'catalog file is valid again');
        }
        // Where offers stay, their logos may have changed all the same.
        if (!change.ok || !change.changed) await logos.refresh(logoPlace(options, vertical.number, mode));
        return change;
      }),
  );
  warnOfLogos(options, logos, lackedLogos);
  return changes;
}

/** Has the daily caps follow the catalogs: what a new cap must know of the last day is read from the ledger first. */
export function keepCaps(
  { dataDir, clock }: ServiceOptions,
  caps: DailyCaps,
  catalogs: CatalogLibrary,
  ledger: EventLog,
): void {
  const { ledgerFolder } = analyticsFiles(dataDir);
  const readHistory: ReadHistory = (wallMs, visit) =>
    readOpenLog(nodeLogFiles, ledgerFolder, ledger, { wallMs, timeOf: recordTimeMs }, (record) =>
      visitSoundRecord(record, visit),
    );
  catalogs.beforeUse((catalog) => caps.prepare(catalog, clock.wallMs(), readHistory));
  catalogs.onUse((catalog) => caps.adopt(catalog, clock.wallMs()));
}

function logoPlace({ catalogs }: ServiceOptions, vertical: number, mode: Mode): LogoPlace {
  const source = catalogs.find((one) => one.vertical.number === vertical && one.mode === mode);
  const folder = source !== undefined && 'file' in source ? logoFolder(source.file) : null;
  return { key: `${vertical} ${mode}`, folder };
}

function warnOfLogos({ logger }: ServiceOptions, { problems }: LogoKeeper, lackedLogos = false): void {
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
