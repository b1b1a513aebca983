import type { LedgerBookings, LedgerReader } from '../budgets/ledger-bookings.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import { dataPaths } from '../files/data-paths.ts';
import { type Ledger, readLedgerSince } from '../ledger/ledger.ts';
import type { ServiceOptions } from './service.ts';

/** Prepares the bookings for the records of the ledger. Call this function after a snapshot has restored the bookings, if there is one. */
export function prepareBookings(options: ServiceOptions, catalogs: CatalogStore, bookings: LedgerBookings): void {
  if (!bookings.isRestored) restoreCatalogs(options, catalogs, bookings);
  else for (const catalog of catalogs.currentCatalogs) bookings.prepareCatalog(catalog);
}

/**
 * Activates the limits of all catalogs in bookings that a snapshot has restored. If an offer got its first limit while the service was
 * stopped, reads its earlier clicks from the ledger.
 */
export async function activateLimits(
  options: ServiceOptions,
  catalogs: CatalogStore,
  bookings: LedgerBookings,
  ledger: Ledger,
): Promise<void> {
  if (!bookings.isRestored) return;
  const nowMs = options.clock.wallMs();
  for (const { vertical, mode } of options.catalogs) {
    const replaced = catalogs.listReplacedCatalogs(vertical.number, mode).map(({ summary }) => summary);
    for (const { offers } of [...replaced, catalogs.currentCatalog(vertical.number, mode)]) {
      await bookings.loadPastClicks({ vertical, mode, offers }, nowMs, createHistoryReader(options, ledger));
    }
  }
  restoreCatalogs(options, catalogs, bookings);
}

function restoreCatalogs({ catalogs: sources }: ServiceOptions, catalogs: CatalogStore, to: LedgerBookings): void {
  for (const { vertical, mode } of sources) {
    const { number } = vertical;
    to.restoreCatalogs(catalogs.currentCatalog(number, mode), catalogs.listReplacedCatalogs(number, mode));
  }
}

function createHistoryReader({ dataDir }: ServiceOptions, ledger: Ledger): LedgerReader {
  const { ledgerFolder } = dataPaths(dataDir);
  return (sinceMs, visit) => readLedgerSince(ledgerFolder, ledger, sinceMs, visit);
}

/** Activates the limits of the offers of each new catalog, after reading the clicks of the last day from the ledger. */
export function activateLimitsOfNewCatalogs(
  options: ServiceOptions,
  bookings: LedgerBookings,
  catalogs: CatalogStore,
  ledger: Ledger,
): void {
  const { clock, logger } = options;
  const readHistory = createHistoryReader(options, ledger);
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
