import { setTimeout as pause } from 'node:timers/promises';
import { bounds } from '../bounds.ts';
import type { LedgerBookings } from '../budgets/ledger-bookings.ts';
import { SharedLimits } from '../budgets/shared-limits.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import { isSqliteFileBusy } from '../files/shared-database.ts';
import { describeError } from '../logging/describe-error.ts';
import { QuotaStoreUnavailableError } from '../quotas/quota-store.ts';
import { SqliteQuotaStore, sharedLimitsPath } from '../quotas/sqlite-quota-store.ts';
import type { CleanupStack } from './lifecycle.ts';
import { type ServiceOptions, sharedDir } from './service.ts';

/**
 * Connects the daily caps and budgets of a shard with those of the other shards. Returns null for a service without other shards. Call this
 * function after the bookings have registered their hooks for new catalogs. Throws `QuotaStoreUnavailableError`.
 */
export async function openSharedLimits(
  options: ServiceOptions,
  cleanup: CleanupStack,
  bookings: LedgerBookings,
  catalogs: CatalogStore,
): Promise<SharedLimits | null> {
  const { shard, clock, logger } = options;
  if (shard === null) return null;
  const store = new SqliteQuotaStore(sharedLimitsPath(sharedDir(options)), shard.count);
  const limitsOptions = {
    shard: shard.number,
    store,
    bookings,
    clock,
    onUnavailable: (error: unknown) =>
      logger.error({ err: describeError(error) }, 'shared limits cannot be read or written; retrying'),
    onRecovered: () => logger.info('shared limits can be used again'),
  };
  const start = () => SharedLimits.start(limitsOptions, catalogs.currentCatalogs);
  const limits = await retryWhileBusy(start).catch((error: unknown) => {
    store.close();
    throw error;
  });
  cleanup.addCleanupCallback(() => limits.close());
  catalogs.onCatalogActivated((catalog) => limits.activateCatalog(catalog));
  return limits;
}

/**
 * Repeats a start that fails because other shards, which start at the same time, lock the file for longer than a request may wait. Rejects
 * with the last error after `bounds.quotaStoreOpenTimeoutMs`.
 */
async function retryWhileBusy(start: () => Promise<SharedLimits>): Promise<SharedLimits> {
  for (let waitedMs = 0; ; waitedMs += bounds.quotaStoreLockTimeoutMs) {
    try {
      return await start();
    } catch (error) {
      const isBusy = error instanceof QuotaStoreUnavailableError && isSqliteFileBusy(error.cause);
      if (!isBusy || waitedMs >= bounds.quotaStoreOpenTimeoutMs) throw error;
    }
    await pause(bounds.quotaStoreLockTimeoutMs);
  }
}
