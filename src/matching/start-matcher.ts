import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { type Matcher, type MatchRequest, packOrders, type Ranking } from './matcher.ts';
import { PoolMatcher } from './pool-matcher.ts';
import { rankOffers } from './ranker.ts';

/** Matcher that ranks in the calling thread. */
class InThreadMatcher implements Matcher {
  readonly pendingCount = 0;
  readonly readyThreads = 0;
  readonly #catalogs: CatalogStore;
  #closed = false;

  constructor(catalogs: CatalogStore) {
    this.#catalogs = catalogs;
  }

  match({ catalogVersion, borrower, today, unavailable = null }: MatchRequest): Ranking | null {
    if (this.#closed) return null;
    const compiled = this.#catalogs.findByVersion(catalogVersion);
    if (compiled === null) throw new Error(`no catalog of version ${catalogVersion}`);
    const { total, availableOnly, orders } = rankOffers(compiled.tables, borrower, today, unavailable);
    return { catalogVersion, total, availableOnly, orders: packOrders(orders) };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

interface RoutingMatcherOptions {
  readonly catalogs: CatalogStore;
  readonly inThread: Matcher;
  readonly pool: Matcher;
  /** Largest number of offers of a catalog that is ranked in the calling thread. */
  readonly inThreadOffersMax: number;
}

/**
 * Matcher that ranks small catalogs in the calling thread and large catalogs in worker threads. For a small catalog, messages to a
 * worker cost the calling thread more than the ranking (docs/contributing/benchmarks.md has the measured limit).
 */
class RoutingMatcher implements Matcher {
  readonly #options: RoutingMatcherOptions;

  constructor(options: RoutingMatcherOptions) {
    this.#options = options;
  }

  get pendingCount(): number {
    return this.#options.pool.pendingCount;
  }

  get readyThreads(): number {
    return this.#options.pool.readyThreads;
  }

  match(request: MatchRequest): Ranking | null | Promise<Ranking | null> {
    const { catalogs, inThread, pool, inThreadOffersMax } = this.#options;
    const offers = catalogs.findByVersion(request.catalogVersion)?.offers.length ?? Number.POSITIVE_INFINITY;
    return (offers <= inThreadOffersMax ? inThread : pool).match(request);
  }

  async close(): Promise<void> {
    await this.#options.inThread.close();
    await this.#options.pool.close();
  }
}

interface StartMatcherOptions {
  /** Number of worker threads. If it is 0, the calling thread ranks. */
  readonly threads: number;
  /** Largest number of offers of a catalog that is ranked in the calling thread even if there are worker threads. */
  readonly inThreadOffersMax?: number;
  readonly catalogs: CatalogStore;
  /** Verticals of the catalogs. */
  readonly verticals: readonly Vertical[];
  /** Called to log that a worker thread exited unexpectedly or could not be prepared. */
  readonly onThreadError?: (error: unknown) => void;
  /** Called when the replacement of an exited worker thread is ready. */
  readonly onThreadReplaced?: () => void;
  /** Called with the number of requests in each batch. */
  readonly onBatchSent?: (requests: number) => void;
}

/** Starts the matcher of a service. Every catalog is sent to its worker threads before the catalog is activated. */
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
  } catch (error) {
    await pool.close();
    throw error;
  }
  catalogs.onBeforeActivate((compiled) => pool.prepare(compiled));
  return inThreadOffersMax === 0 ? pool : new RoutingMatcher({ catalogs, inThread, pool, inThreadOffersMax });
}
