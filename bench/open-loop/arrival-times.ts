import { seededRandom } from '../population/random.ts';
import type { OpenLoopPlan } from './open-loop-plan.ts';

/**
 * When each request is due, in milliseconds from the start of the load, ascending. Warm-up and load each have exactly as
 * many as the rate says, so that a short load is no higher than one was told; where in it they fall is left to `arrivals`.
 */
export function scheduleArrivals({
  perSecond,
  warmUpSeconds,
  seconds,
  arrivals,
  seed,
}: Pick<OpenLoopPlan, 'warmUpSeconds' | 'seconds' | 'arrivals' | 'seed'> & { readonly perSecond: number }): number[] {
  const random = seededRandom(seed);
  const within = (fromMs: number, lengthMs: number): number[] => {
    const count = Math.round((perSecond * lengthMs) / 1_000);
    // Of independent visitors, given how many they are, each comes at any moment as likely as at any other.
    const place = arrivals === 'even' ? (at: number) => (at + 0.5) / count : random;
    return Array.from({ length: count }, (_, at) => fromMs + place(at) * lengthMs).sort((a, b) => a - b);
  };
  const warmUpMs = warmUpSeconds * 1_000;
  return [...within(0, warmUpMs), ...within(warmUpMs, seconds * 1_000)];
}
