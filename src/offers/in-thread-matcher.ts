import type { CatalogStore } from './catalog-library.ts';
import { rankOffers } from './match.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';
import { packOrders } from './packed-orders.ts';

/** Matches at once, in the calling thread: for tests, small embedded uses, and wherever a worker is not worth the way. */
export class InThreadMatcher implements Matcher {
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
