import type { ExperimentFigures } from '../../src/experiments/experiment-figures.ts';

/** Returns comparable figures: the order of some lists is not defined, and rows without sessions or revenue may be absent. */
export function normalize({ days, ages, unitsWithRevenue, ...rest }: ExperimentFigures) {
  return {
    ...rest,
    days: days.filter(({ sums }) => sums.sessions > 0),
    ages: sortBy(
      ages.filter(({ revenueMicros }) => revenueMicros !== 0),
      ({ arm, day, ageWeeks }) => [arm, day, ageWeeks],
    ),
    unitsWithRevenue: sortBy(unitsWithRevenue, ({ arm, revenueMicros, sessions }) => [arm, revenueMicros, sessions]),
  };
}

function sortBy<Item>(items: readonly Item[], keyOf: (item: Item) => number[]): Item[] {
  const compare = (a: number[], b: number[]): number => {
    const at = a.findIndex((value, index) => value !== b[index]);
    return at === -1 ? 0 : a[at]! - b[at]!;
  };
  return [...items].sort((a, b) => compare(keyOf(a), keyOf(b)));
}
