import { type Random, wholeNumber } from '../../bench/population/random.ts';

/** So many of these, drawn with repetition, or all where there are no more. */
export function sample<Item>(random: Random, items: readonly Item[], count: number): Item[] {
  if (items.length <= count) return [...items];
  return Array.from({ length: count }, () => items[wholeNumber(random, 0, items.length - 1)]!);
}
