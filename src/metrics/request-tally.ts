import { BucketHistogram } from './bucket-tally.ts';
import { requestDurationBuckets } from './scales.ts';

const lowestStatus = 100;
const statusCount = 500;

/**
 * Counts answers by route and status, and how long they took by route. This runs with every request: it adds to arrays that
 * were made beforehand, and whatever makes text of them waits for a scrape.
 */
export class RequestCounter {
  readonly routes: readonly string[];
  readonly durations: BucketHistogram;
  readonly #replies: Float64Array;

  /** @param routes the names that requests are told apart by: few, and never anything a caller sent */
  constructor(routes: readonly string[]) {
    this.routes = routes;
    this.durations = new BucketHistogram(requestDurationBuckets, routes.length);
    this.#replies = new Float64Array(routes.length * statusCount);
  }

  /** @param route its place among the routes */
  readonly record = (route: number, status: number, elapsedUs: number): void => {
    this.#replies[route * statusCount + status - lowestStatus]! += 1;
    this.durations.observe(elapsedUs, route);
  };

  /** How many answers there were of each route and status, where there were any. */
  *counts(): Generator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [at, route] of this.routes.entries()) {
      for (let status = lowestStatus; status < lowestStatus + statusCount; status++) {
        const count = this.#replies[at * statusCount + status - lowestStatus]!;
        if (count > 0) yield { route, status, count };
      }
    }
  }
}
