import type { ExperimentResults } from '../../common/api-types.ts';
import type { PlotLine } from '../../common/plot-drawing.ts';

/** Days of the looks, and for each arm other than the control the difference of each day with its interval. */
export interface DifferenceSeries {
  readonly days: readonly string[];
  readonly lines: readonly (PlotLine & { readonly band: NonNullable<PlotLine['band']> })[];
}

/** Returns the lines of the plot of differences, from the first day with a difference. An arm has no value on a day without a look. */
export function listDifferences(
  { series = [], comparisons, arms }: Pick<ExperimentResults, 'series' | 'comparisons' | 'arms'>,
  nameOf: (tag: string) => string,
): DifferenceSeries {
  const first = series.find(({ difference }) => difference !== null)?.as_of;
  const days = [...new Set(series.map(({ as_of }) => as_of))].filter((day) => first !== undefined && day >= first);
  const lines = comparisons.map(({ arm }) => {
    const looks = new Map(series.flatMap((look) => (look.arm === arm ? [[look.as_of, look] as const] : [])));
    const values = (member: 'difference' | 'low' | 'high') => days.map((day) => looks.get(day)?.[member] ?? null);
    const color = arms.findIndex(({ referrer_tag }) => referrer_tag === arm);
    return {
      label: nameOf(arm),
      color,
      values: values('difference'),
      band: { low: values('low'), high: values('high') },
    };
  });
  return { days, lines };
}
