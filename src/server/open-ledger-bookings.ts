import { readSnapshot } from '../budgets/booked-revenue-snapshot.ts';
import { LedgerBookings, type LedgerReader } from '../budgets/ledger-bookings.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { dataPaths } from '../files/data-paths.ts';
import { type Ledger, readLedgerSince } from '../ledger/ledger.ts';
import type { ServiceOptions } from './service.ts';

/**
 * Creates the bookings of the offers of all active and replaced catalogs, with the booked revenue of the snapshot file. Applying the
 * records of the ledger completes the booked revenue.
 */
export function createLedgerBookings(options: ServiceOptions, catalogs: CatalogStore): LedgerBookings {
  const { snapshot, problem } = readSnapshot(dataPaths(options.dataDir).bookedRevenueFile);
  if (problem !== null) {
    options.logger.warn({ problem }, 'saved booked revenue of offers cannot be used; reading the ledger of the month');
  }
  const bookings = new LedgerBookings(options.clock.wallMs(), { snapshot });
  restoreCatalogs(options, catalogs, bookings);
  return bookings;
}

/** Computes the booked revenue of the offers from the ledger, because the snapshot file belongs to another ledger. */
export async function rebuildLedgerBookings(
  options: ServiceOptions,
  catalogs: CatalogStore,
  bookings: LedgerBookings,
  ledger: Ledger,
): Promise<void> {
  options.logger.warn('saved booked revenue of offers does not match the ledger; reading the ledger of the month');
  bookings.discardState();
  restoreCatalogs(options, catalogs, bookings);
  const { ledgerFolder } = dataPaths(options.dataDir);
  await readLedgerSince(ledgerFolder, ledger, bookings.replayStartTimeMs, (record, position) =>
    bookings.applyLedgerRecord(record, position),
  );
}

function restoreCatalogs({ catalogs: sources }: ServiceOptions, catalogs: CatalogStore, to: LedgerBookings): void {
  for (const { vertical, mode } of sources) {
    const { number } = vertical;
    to.restoreCatalogs(catalogs.currentCatalog(number, mode), catalogs.listReplacedCatalogs(number, mode));
  }
}

/** Activates the limits of the offers of each new catalog, after reading the clicks of the last day from the ledger. */
export function activateLimitsOfNewCatalogs(
  { dataDir, clock, logger }: ServiceOptions,
  bookings: LedgerBookings,
  catalogs: CatalogStore,
  ledger: Ledger,
): void {
  const { ledgerFolder } = dataPaths(dataDir);
  const readHistory: LedgerReader = (sinceMs, visit) => readLedgerSince(ledgerFolder, ledger, sinceMs, visit);
  const logOutdatedOffers = (catalog: CompiledCatalog): void => {
    const offers = bookings.countOutdatedOffers(catalog, clock.wallMs());
    if (offers === 0) return;
    const { vertical, mode, maxAgeDays } = catalog;
    logger.warn({ vertical: vertical.segment, mode, offers, maxAgeDays }, 'outdated offers are not shown');
  };
  catalogs.onBeforeActivate((catalog) => bookings.loadPastClicks(catalog, clock.wallMs(), readHistory));
  catalogs.onCatalogActivated((catalog) => {
    bookings.activateCatalog(catalog, clock.wallMs());
    logOutdatedOffers(catalog);
  });
  for (const catalog of catalogs.currentCatalogs) logOutdatedOffers(catalog);
}
