import { publicRouteNames } from '../../../src/faces/routes.ts';
import { RequestCounter } from '../../../src/metrics/request-tally.ts';
import type { MicroBenchmark } from '../micro.ts';

const requestTallyCalls = 1_000;

/** Microseconds of answers as a service under load gives them: most below a millisecond, some far above. */
const durations = Array.from({ length: requestTallyCalls }, (_, at) => (at % 50 === 0 ? 20_000 : 80 + ((at * 7_919) % 900)));
const routes = Array.from({ length: requestTallyCalls }, (_, at) => 1 + (at % 5));

function totalRequests(tally: RequestCounter): number {
  let count = 0;
  for (const [route] of publicRouteNames.entries()) count += tally.durations.snapshot(route).count;
  return count;
}

export const requestTallyBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'metrics/request-tally: count an answer',
    call: 'one answer counted by route and status, and its duration',
    prepare: () => {
      const tally = new RequestCounter(publicRouteNames);
      return {
        calls: requestTallyCalls,
        run: () => {
          for (let at = 0; at < requestTallyCalls; at++) tally.record(routes[at]!, 200, durations[at]!);
          return totalRequests(tally);
        },
      };
    },
  },
  {
    name: 'metrics/request-tally: count an answer, with both looks at the clock',
    call: 'all that an exchange does for the figures: the moment it arrived, and what it counts when it is answered',
    prepare: () => {
      const tally = new RequestCounter(publicRouteNames);
      return {
        calls: requestTallyCalls,
        run: () => {
          for (let at = 0; at < requestTallyCalls; at++) {
            const exchange = { route: routes[at]!, arrivedMs: performance.now() };
            tally.record(exchange.route, 200, ((performance.now() - exchange.arrivedMs) * 1000) | 0);
          }
          return totalRequests(tally);
        },
      };
    },
  },
];
