import { type Random, wholeNumber } from '../../bench/population/random.ts';

const sharedTags = 3;

/** The tag of an experiment that all callers have sessions in. */
export function sharedTag(random: Random): string {
  return `shared-${wholeNumber(random, 1, sharedTags)}`;
}
