import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { type Matcher, type MatchRequest, packOrders, type Ranking } from './matcher.ts';
import { PoolMatcher } from './pool-matcher.ts';
import { rankOffers } from './ranker.ts';

/** Matches at once, in the calling thread: for tests, small embedded uses, and wherever a worker is not worth the way. */
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
  /** Catalogs of at most so many offers are ranked in the calling thread. */
  readonly inThreadOffersMax: number;
}

/**
 * Ranks a small catalog where it is asked, and hands a large one to the workers: below some size the way to a worker and back costs
 * the calling thread more than ranking does, however many requests share it (docs/contributing/benchmarks.md has the crossover).
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
