import { calibrationName, type MicroResult } from '../micro/micro-benchmark.ts';
import { cpuRatios, throughputRatios } from '../report/ratios.ts';
import type { BenchResult, RouteResult } from '../result/bench-result.ts';

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

/** What of a result can be compared with another machine's, or with the same machine's on another day. */
export function ratiosOfResult({ routes, micro }: Pick<BenchResult, 'routes' | 'micro'>): CheckedRatio[] {
  return [...routes.flatMap(routeRatios), ...microRatios(micro)].filter(
    ({ value }) => Number.isFinite(value) && value > 0,
  );
}

/** The client is a part of the name: what one measures is no measure for another. */
function routeRatios(route: RouteResult): CheckedRatio[] {
  const { name, client } = route;
  const throughput = throughputRatios(route, 'bare');
  const cpu = cpuRatios(route, 'bare');
  const figure = (what: string, value: number): CheckedRatio => ({
    name: `${name}: ${what} (${client})`,
    part: name,
    better: 'higher',
    value,
  });
  return [
    ...(throughput === null ? [] : [figure('throughput over bare', throughput.median)]),
    ...(cpu === null ? [] : [figure('CPU of bare over that of the service', cpu.median)]),
  ];
}

/** How many calibrations one call costs. What ends with a sync is the disk's time, and a single call's is chance. */
function microRatios(results: readonly MicroResult[]): CheckedRatio[] {
  const unit = results.find(({ name }) => name === calibrationName)?.medianNs;
  if (unit === undefined || !(unit > 0)) return [];
  return results
    .filter(({ name, worstNs }) => name !== calibrationName && worstNs === undefined && !name.endsWith(', synced'))
    .map(({ name, medianNs }) => ({
      name: `${name}: cost in calibrations`,
      part: 'micro',
      better: 'lower',
      value: medianNs / unit,
    }));
}
