import { calibrationName } from '../micro/calibration.ts';
import type { MicroResult } from '../micro/micro.ts';
import { cpuRatios, throughputRatios } from '../report/ratios.ts';
import type { BenchResult } from '../result/bench-result.ts';
import type { RouteResult } from '../result/route-result.ts';
import type { CheckedRatio } from './figure.ts';

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
