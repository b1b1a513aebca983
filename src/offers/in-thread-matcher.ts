import type { CatalogLibrary } from './catalog-library.ts';
import { rankOffers } from './match.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';
import { packOrders } from './packed-orders.ts';

/** Matches at once, in the calling thread: for tests, small embedded uses, and wherever a worker is not worth the way. */
export class InThreadMatcher implements Matcher {
  readonly waiting = 0;
  readonly threadsReady = 0;
  readonly #catalogs: CatalogLibrary;
  #closed = false;

  constructor(catalogs: CatalogLibrary) {
    this.#catalogs = catalogs;
  }

  match({ catalogVersion, borrower, today, closed = null }: MatchRequest): Ranking | null {
    if (this.#closed) return null;
    const compiled = this.#catalogs.byVersion(catalogVersion);
    if (compiled === null) throw new Error(`no catalog of version ${catalogVersion}`);
    const { total, openOnly, orders } = rankOffers(compiled.tables, borrower, today, closed);
    return { catalogVersion, total, openOnly, orders: packOrders(orders) };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}
