import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { type Matcher, type MatchRequest, packOrders, type Ranking } from './matcher.ts';
import { PoolMatcher } from './pool-matcher.ts';
import { rankOffers } from './ranker.ts';

/** Ranks in the calling thread. */
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
  /** Size of the largest catalog that is ranked in the calling thread, in offers. */
  readonly inThreadOffersMax: number;
}

/**
 * Ranks small catalogs in the calling thread and large ones in worker threads. For a small catalog, messages to a worker cost the
 * calling thread more than ranking does (docs/contributing/benchmarks.md has the crossover).
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
  /** Worker threads; 0 ranks in the calling thread. */
  readonly threads: number;
  /** Size of the largest catalog that is ranked in the calling thread even if there are worker threads, in offers. */
  readonly inThreadOffersMax?: number;
  readonly catalogs: CatalogStore;
  /** The verticals of those catalogs. */
  readonly verticals: readonly Vertical[];
  /** A worker thread exited unexpectedly or could not be prepared: for the log. */
  readonly onThreadError?: (error: unknown) => void;
  /** A worker thread that exited has been replaced by one that is ready. */
  readonly onThreadReplaced?: () => void;
  /** Called with the number of requests in each batch. */
  readonly onBatchSent?: (requests: number) => void;
}

/** Starts the matcher of a service. Its threads are prepared with every catalog before the catalog comes into use. */
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
