import { BucketTally } from './bucket-tally.ts';
import { requestDurations } from './scales.ts';

const lowestStatus = 100;
const statuses = 500;

/**
 * Counts answers by route and status, and how long they took by route. This runs with every request: it adds to arrays that
 * were made beforehand, and whatever makes text of them waits for a scrape.
 */
export class RequestTally {
  readonly routes: readonly string[];
  readonly durations: BucketTally;
  readonly #answers: Float64Array;

  /** @param routes the names that requests are told apart by: few, and never anything a caller sent */
  constructor(routes: readonly string[]) {
    this.routes = routes;
    this.durations = new BucketTally(requestDurations, routes.length);
    this.#answers = new Float64Array(routes.length * statuses);
  }

  /** @param route its place among the routes */
  readonly count = (route: number, status: number, elapsedUs: number): void => {
    this.#answers[route * statuses + status - lowestStatus]! += 1;
    this.durations.observe(elapsedUs, route);
  };

  /** How many answers there were of each route and status, where there were any. */
  *answered(): Generator<{ readonly route: string; readonly status: number; readonly count: number }> {
    for (const [at, route] of this.routes.entries()) {
      for (let status = lowestStatus; status < lowestStatus + statuses; status++) {
        const count = this.#answers[at * statuses + status - lowestStatus]!;
        if (count > 0) yield { route, status, count };
      }
    }
  }
}
