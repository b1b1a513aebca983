import { existsSync } from 'node:fs';
import { keyFilePath, listRegisteredShards } from '../auth/key-file.ts';
import type { LedgerBookings } from '../budgets/ledger-bookings.ts';
import { SharedLimits } from '../budgets/shared-limits.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import { dataPaths, shardDataDir } from '../files/data-paths.ts';
import { encodeVerticalAndMode } from '../ids/sub-id.ts';
import { describeError } from '../logging/describe-error.ts';
import { SqliteQuotaStore, sharedLimitsPath } from '../quotas/sqlite-quota-store.ts';
import type { CleanupStack } from './lifecycle.ts';
import { type ServiceOptions, type ShardOptions, sharedDir } from './service.ts';

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
  const limits = await SharedLimits.start(limitsOptions, catalogs.currentCatalogs).catch((error: unknown) => {
    store.close();
    throw error;
  });
  cleanup.addCleanupCallback(() => limits.close());
  for (const number of listUnstartedShards(shard)) {
    for (const { vertical, mode, version } of catalogs.currentCatalogs)
      store.markUnused(number, encodeVerticalAndMode(vertical.number, mode), version);
  }
  store.limitWaits();
  catalogs.onCatalogActivated((catalog) => limits.activateCatalog(catalog));
  return limits;
}

/** Lists the shards that have never started, so that they have no ledger. */
function listUnstartedShards({ count, rootDir }: ShardOptions): number[] {
  const registered = listRegisteredShards(keyFilePath(rootDir));
  return Array.from({ length: count }, (_, number) => number).filter(
    (number) => !registered.includes(number) && !existsSync(dataPaths(shardDataDir(rootDir, number)).ledgerFolder),
  );
}
