import type { CatalogLibrary } from './catalog-library.ts';
import type { Matcher, MatchRequest, Ranking } from './matcher.ts';

export interface SplitMatcherOptions {
  readonly catalogs: CatalogLibrary;
  readonly inThread: Matcher;
  readonly pool: Matcher;
  /** Catalogs of at most so many offers are ranked in the calling thread. */
  readonly inThreadOffersMax: number;
}

/**
 * Ranks a small catalog where it is asked, and hands a large one to the workers: below some size the way to a worker and back costs
 * the calling thread more than ranking does, however many requests share it (docs/contributing/benchmarks.md has the crossover).
 */
export class SplitMatcher implements Matcher {
  readonly #options: SplitMatcherOptions;

  constructor(options: SplitMatcherOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#options.pool.waiting;
  }

  get threadsReady(): number {
    return this.#options.pool.threadsReady;
  }

  match(request: MatchRequest): Ranking | null | Promise<Ranking | null> {
    const { catalogs, inThread, pool, inThreadOffersMax } = this.#options;
    const offers = catalogs.byVersion(request.catalogVersion)?.offers.length ?? Number.POSITIVE_INFINITY;
    return (offers <= inThreadOffersMax ? inThread : pool).match(request);
  }

  async close(): Promise<void> {
    await this.#options.inThread.close();
    await this.#options.pool.close();
  }
}
