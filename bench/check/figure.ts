/** A ratio that tells of the code and not of the machine: what the gate compares from commit to commit. */
export interface CheckedRatio {
  /** What it is compared by. */
  readonly name: string;
  /** The part of the benchmarks it comes from. */
  readonly part: string;
  readonly better: 'higher' | 'lower';
  /** Above 0. */
  readonly value: number;
}

/** The same figure, run after run. */
export interface RepeatedRatio extends Omit<CheckedRatio, 'value'> {
  readonly values: readonly number[];
}

/** Puts the runs beside one another; a figure that some run did not have has fewer values. */
export function groupRuns(runs: readonly (readonly CheckedRatio[])[]): RepeatedRatio[] {
  return [...Map.groupBy(runs.flat(), ({ name }) => name).values()].map((same) => {
    const { value: _, ...figure } = same[0]!;
    return { ...figure, values: same.map(({ value }) => value) };
  });
}
