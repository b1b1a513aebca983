import type { Clock } from '../domain/clock.ts';
import { type ProgressStream, createProgressBar } from './progress-bar.ts';

export interface SteppedProgress<Step extends string> {
  /** The steps before this one are over, and this share of it, from 0 to 1, is done. */
  update(step: Step, share?: number): void;
  /** Takes the bar away, as that of `ProgressBar`. */
  clear(): void;
}

/** One bar over work of several steps, given in their order with about how long each takes, in any unit. */
export function createSteppedProgress<Step extends string>(
  stream: ProgressStream,
  steps: Readonly<Record<Step, number>>,
  clock?: Clock,
): SteppedProgress<Step> {
  const begins: Partial<Record<string, number>> = {};
  let total = 0;
  for (const [step, length] of Object.entries<number>(steps)) {
    begins[step] = total;
    total += length;
  }
  const bar = createProgressBar(stream, { total, unit: null, ...(clock && { clock }) });
  let reached = 0;
  return {
    update(step, share = 0) {
      const now = begins[step]! + share * steps[step];
      bar.advance(now - reached);
      reached = now;
    },
    clear: () => bar.clear(),
  };
}
