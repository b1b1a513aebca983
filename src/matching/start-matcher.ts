import { bounds } from '../bounds.ts';
import { type Matcher, packOffers } from './matcher.ts';
import { PoolMatcher, type PoolMatcherOptions } from './pool-matcher.ts';

interface StartMatcherOptions extends PoolMatcherOptions {
  /** Up to this number of offers, the calling thread ranks a catalog itself, even if there are worker threads. */
  readonly inThreadOffersMax?: number;
}

/**
 * Starts a matcher that ranks small catalogs in the calling thread and large catalogs in worker threads. Ranking a small catalog takes the
 * calling thread less time than sending messages to a worker (docs/contributing/decisions/matching.md). Without worker
 * threads, the calling thread ranks all catalogs.
 */
export async function startMatcher(options: StartMatcherOptions): Promise<Matcher> {
  const { threads, inThreadOffersMax = bounds.matchInThreadOffersMax } = options;
  const pool = threads === 0 ? null : await PoolMatcher.start(options);
  let closed = false;
  return {
    get pendingRequestCount() {
      return pool?.pendingRequestCount ?? 0;
    },
    get readyThreadCount() {
      return pool?.readyThreadCount ?? 0;
    },
    match(request) {
      if (closed) return null;
      const { catalog, borrower, today, unavailable = null } = request;
      const { version, tables, product } = catalog;
      if (pool !== null && tables.offerCount > inThreadOffersMax) return pool.match(request);
      const { total, availableOnly, orders } = product.rankOffers(tables, borrower, today, unavailable);
      return { catalogVersion: version, total, availableOnly, orders: packOffers(orders) };
    },
    async close() {
      closed = true;
      await pool?.close();
    },
  };
}
