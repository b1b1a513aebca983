import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { keyFilePath, listRegisteredShards } from '../auth/key-file.ts';
import { bounds } from '../bounds.ts';
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
  catalogs.onCatalogActivated((catalog) => limits.activateCatalog(catalog));
  const versions = catalogs.currentCatalogs.map(
    ({ vertical, mode, version }) => [encodeVerticalAndMode(vertical.number, mode), version] as const,
  );
  for (const number of listUnstartedShards(shard)) {
    for (const [scope, version] of versions) store.markUnused(number, scope, version);
  }
  store.limitWaits();
  if (options.listen !== null) {
    const hasAll = () => versions.every(([scope]) => store.hasAllDeclarations(scope));
    await waitForDeclarations(hasAll, options);
  }
  return limits;
}

/** Lists the shards that have never started, so that they have no ledger. */
function listUnstartedShards({ count, rootDir }: ShardOptions): number[] {
  const registered = listRegisteredShards(keyFilePath(rootDir));
  return Array.from({ length: count }, (_, number) => number).filter(
    (number) => !registered.includes(number) && !existsSync(dataPaths(shardDataDir(rootDir, number)).ledgerFolder),
  );
}

/**
 * Waits until all shards have declared their use, which only takes time after the file of the shared limits was deleted. Until then, clicks
 * on offers with limits would book nothing. Rejects if the start is aborted.
 */
async function waitForDeclarations(
  hasAll: () => boolean,
  { logger, startAbortSignal: signal }: Pick<ServiceOptions, 'logger' | 'startAbortSignal'>,
): Promise<void> {
  for (let waitedMs = 0; !hasAll(); waitedMs += bounds.declarationsPollIntervalMs) {
    if (waitedMs === 0) logger.info('waiting for other shards to declare their use of daily caps and budgets');
    if (waitedMs >= bounds.declarationsWaitMsMax) {
      logger.warn('offers with a daily cap or a budget book no revenue until all shards have started');
      return;
    }
    await pause(bounds.declarationsPollIntervalMs);
    signal?.throwIfAborted();
  }
}
