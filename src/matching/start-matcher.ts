import { bounds } from '../bounds.ts';
import { type Matcher, packOffers } from './matcher.ts';
import { type PoolMatcherOptions, WorkerPoolMatcher } from './pool-matcher.ts';

interface StartMatcherOptions extends PoolMatcherOptions {
  /** Up to this number of offers, the calling thread ranks a catalog itself, even if there are worker threads. */
  readonly inThreadOffersMax?: number;
}

/**
 * Starts a matcher that ranks small catalogs in the calling thread and large catalogs in worker threads. Ranking a small catalog takes the
 * calling thread less time than sending messages to a worker (docs/contributing/benchmarks.md has the measured limit). Without worker
 * threads, the calling thread ranks all catalogs.
 */
export async function startMatcher(options: StartMatcherOptions): Promise<Matcher> {
  const { threads, inThreadOffersMax = bounds.matchInThreadOffersMax, catalogs } = options;
  const pool = threads === 0 ? null : await WorkerPoolMatcher.start(options);
  let closed = false;
  return {
    get pendingRequestCount() {
      return pool?.pendingRequestCount ?? 0;
    },
    get readyThreadCount() {
      return pool?.readyThreadCount ?? 0;
    },
    match(request) {
      const { catalogVersion, borrower, today, unavailable = null } = request;
      if (closed) return null;
      const compiled = catalogs.findCatalogByVersion(catalogVersion);
      if (pool !== null && !(compiled !== null && compiled.tables.offerCount <= inThreadOffersMax)) {
        return pool.match(request);
      }
      if (compiled === null) throw new Error(`no catalog of version ${catalogVersion}`);
      const { tables, product } = compiled;
      const { total, availableOnly, orders } = product.rankOffers(tables, borrower, today, unavailable);
      return { catalogVersion, total, availableOnly, orders: packOffers(orders) };
    },
    async close() {
      closed = true;
      await pool?.close();
    },
  };
}
