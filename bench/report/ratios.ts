import type { BaselineKind, Measurement, ServerKind } from '../result/measurement.ts';
import type { RouteResult } from '../result/route-result.ts';
import { median, type Summary, summarize } from '../statistics.ts';

/** The rounds of one server; none where it was not measured. */
export function roundsFor(route: Pick<RouteResult, 'servers'>, kind: ServerKind): readonly Measurement[] {
  return route.servers.find((server) => server.kind === kind)?.rounds ?? [];
}

export function measuredBaselines(route: Pick<RouteResult, 'servers'>): BaselineKind[] {
  return route.servers.flatMap(({ kind, rounds }) => (kind === 'service' || rounds.length === 0 ? [] : [kind]));
}

/** The service, or another server, over a baseline, round by round: how many requests a second. Null without rounds of both. */
export function throughputRatios(
  route: Pick<RouteResult, 'servers'>,
  over: BaselineKind,
  of: ServerKind = 'service',
): Summary | null {
  return summarizeRatios(route, of, over, (server, baseline) => server.perSecond / baseline.perSecond);
}

/**
 * Baseline over service, round by round: CPU time of the thread that serves the sockets, for one request. This thread is
 * what gives first, so the ratio tells what the throughput ratio would be with a client that costs nothing. Null where
 * the system does not tell CPU times.
 */
export function cpuRatios(route: Pick<RouteResult, 'servers'>, over: BaselineKind): Summary | null {
  return summarizeRatios(route, 'service', over, (service, baseline) =>
    service.mainThreadCpuMicros && baseline.mainThreadCpuMicros
      ? baseline.mainThreadCpuMicros / service.mainThreadCpuMicros
      : null,
  );
}

/** Of a server's rounds, the middle one; null when any of them does not tell. */
export function medianFigure(
  rounds: readonly Measurement[],
  figure: (measurement: Measurement) => number | null | undefined,
): number | null {
  const told = rounds.flatMap((round) => figure(round) ?? []);
  return told.length === 0 || told.length < rounds.length ? null : median(told);
}

function summarizeRatios(
  route: Pick<RouteResult, 'servers'>,
  of: ServerKind,
  over: BaselineKind,
  ratio: (server: Measurement, baseline: Measurement) => number | null,
): Summary | null {
  const baselines = roundsFor(route, over);
  const ratios = roundsFor(route, of).flatMap((server, round) => {
    const baseline = baselines[round];
    return baseline === undefined ? [] : (ratio(server, baseline) ?? []);
  });
  return ratios.length === 0 ? null : summarize(ratios);
}
