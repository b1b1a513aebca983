import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import { productOf } from '../verticals/products.ts';
import { type Matcher, type MatchRequest, packOrders, type Ranking } from './matcher.ts';
import { PoolMatcher, type PoolMatcherOptions } from './pool-matcher.ts';

/**
 * Matcher that ranks small catalogs in the calling thread and large catalogs in worker threads. Ranking a small catalog takes the calling
 * thread less time than sending messages to a worker (docs/contributing/benchmarks.md has the measured limit).
 */
class RoutingMatcher implements Matcher {
  readonly #catalogs: CatalogStore;
  readonly #pool: PoolMatcher | null;
  readonly #inThreadOffersMax: number;
  #closed = false;

  constructor(catalogs: CatalogStore, pool: PoolMatcher | null, inThreadOffersMax: number) {
    this.#catalogs = catalogs;
    this.#pool = pool;
    this.#inThreadOffersMax = inThreadOffersMax;
  }

  get pendingCount(): number {
    return this.#pool?.pendingCount ?? 0;
  }

  get readyThreads(): number {
    return this.#pool?.readyThreads ?? 0;
  }

  match(request: MatchRequest): Ranking | null | Promise<Ranking | null> {
    const { catalogVersion, borrower, today, unavailable = null } = request;
    if (this.#closed) return null;
    const compiled = this.#catalogs.findByVersion(catalogVersion);
    if (this.#pool !== null && !(compiled !== null && compiled.offers.length <= this.#inThreadOffersMax)) {
      return this.#pool.match(request);
    }
    if (compiled === null) throw new Error(`no catalog of version ${catalogVersion}`);
    const { tables } = compiled;
    const { total, availableOnly, orders } = productOf(tables).rankOffers(tables, borrower, today, unavailable);
    return { catalogVersion, total, availableOnly, orders: packOrders(orders) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pool?.close();
  }
}

interface StartMatcherOptions extends PoolMatcherOptions {
  /** Maximum number of offers of a catalog that the calling thread ranks although there are worker threads. */
  readonly inThreadOffersMax?: number;
}

/** Starts the matcher of a service. Without worker threads, the calling thread ranks all catalogs. */
export async function startMatcher(options: StartMatcherOptions): Promise<Matcher> {
  const { threads, inThreadOffersMax = bounds.matchInThreadOffersMax, catalogs } = options;
  return new RoutingMatcher(catalogs, threads === 0 ? null : await PoolMatcher.start(options), inThreadOffersMax);
}
