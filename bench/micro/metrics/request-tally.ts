import { routeNames } from '../../../src/faces/routes.ts';
import { RequestTally } from '../../../src/metrics/request-tally.ts';
import type { Micro } from '../micro.ts';

const calls = 1_000;

/** Microseconds of answers as a service under load gives them: most below a millisecond, some far above. */
const durations = Array.from({ length: calls }, (_, at) => (at % 50 === 0 ? 20_000 : 80 + ((at * 7_919) % 900)));
const routes = Array.from({ length: calls }, (_, at) => 1 + (at % 5));

function counted(tally: RequestTally): number {
  let count = 0;
  for (const [route] of routeNames.entries()) count += tally.durations.read(route).count;
  return count;
}

export const requestTallyMicros: readonly Micro[] = [
  {
    name: 'metrics/request-tally: count an answer',
    call: 'one answer counted by route and status, and its duration',
    prepare: () => {
      const tally = new RequestTally(routeNames);
      return {
        calls,
        run: () => {
          for (let at = 0; at < calls; at++) tally.count(routes[at]!, 200, durations[at]!);
          return counted(tally);
        },
      };
    },
  },
  {
    name: 'metrics/request-tally: count an answer, with both looks at the clock',
    call: 'all that an exchange does for the figures: the moment it arrived, and what it counts when it is answered',
    prepare: () => {
      const tally = new RequestTally(routeNames);
      return {
        calls,
        run: () => {
          for (let at = 0; at < calls; at++) {
            const exchange = { route: routes[at]!, arrivedMs: performance.now() };
            tally.count(exchange.route, 200, ((performance.now() - exchange.arrivedMs) * 1000) | 0);
          }
          return counted(tally);
        },
      };
    },
  },
];
