import { bounds } from '../bounds.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { CatalogStore } from './catalog-library.ts';
import { InThreadMatcher } from './in-thread-matcher.ts';
import type { Matcher } from './matcher.ts';
import { PoolMatcher } from './pool-matcher.ts';
import { RoutingMatcher } from './split-matcher.ts';

export interface StartMatcherOptions {
  /** Matching worker threads; 0 matches in the calling thread. */
  readonly threads: number;
  /** Catalogs of at most so many offers are matched in the calling thread whatever there is of workers. */
  readonly inThreadOffersMax?: number;
  readonly catalogs: CatalogStore;
  /** The verticals of those catalogs. */
  readonly verticals: readonly Vertical[];
  /** A worker ended that nobody ended, or could not be made ready: for the log. */
  readonly onThreadError?: (fault: unknown) => void;
  /** A worker that ended has been replaced by one that is ready. */
  readonly onThreadReplaced?: () => void;
  /** How many requests travelled to a worker together. */
  readonly onBatchSent?: (requests: number) => void;
}

/**
 * Starts the matcher of a service, with every catalog in use ready in all of its threads, also in those that replace others; later
 * ones are made ready before use.
 */
export async function startMatcher(options: StartMatcherOptions): Promise<Matcher> {
  const { threads, inThreadOffersMax = bounds.matchInThreadOffersMax, catalogs, verticals } = options;
  const { onThreadError, onThreadReplaced, onBatchSent } = options;
  const inThread = new InThreadMatcher(catalogs);
  if (threads === 0) return inThread;
  const pool = new PoolMatcher({
    threads,
    archiveFolder: catalogs.archive.folder,
    verticals,
    currentTables: () => catalogs.currentCatalogs,
    ...(onThreadError !== undefined && { onThreadError }),
    ...(onThreadReplaced !== undefined && { onThreadReplaced }),
    ...(onBatchSent !== undefined && { onBatchSent }),
  });
  try {
    await pool.start();
  } catch (fault) {
    await pool.close();
    throw fault;
  }
  catalogs.onBeforeActivate((compiled) => pool.prepare(compiled));
  return inThreadOffersMax === 0 ? pool : new RoutingMatcher({ catalogs, inThread, pool, inThreadOffersMax });
}
