import { seededRandom } from '../population/random.ts';
import type { OpenLoopPlan } from './open-loop-plan.ts';

/** When each request of a load is due, in milliseconds from its start, ascending; all below the load's length. */
export function arrivalTimes(
  perSecond: number,
  seconds: number,
  { arrivals, seed }: Pick<OpenLoopPlan, 'arrivals' | 'seed'>,
): number[] {
  const random = seededRandom(seed);
  const meanGapMs = 1_000 / perSecond;
  const times: number[] = [];
  // Half a gap ahead of the first one, so that as many are due as the rate says.
  let dueMs = arrivals === 'even' ? meanGapMs / 2 : 0;
  for (;;) {
    if (arrivals === 'poisson') dueMs -= meanGapMs * Math.log(1 - random());
    if (dueMs >= seconds * 1_000) return times;
    times.push(dueMs);
    if (arrivals === 'even') dueMs = (times.length + 0.5) * meanGapMs;
  }
}
