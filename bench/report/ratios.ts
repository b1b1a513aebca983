import type { BaselineServerKind, BenchServerKind, RouteResult, ServerMeasurement } from '../result/bench-result.ts';
import { type MeasurementSummary, median, summarizeMeasurements } from '../statistics.ts';

type MeasuredServers = Pick<RouteResult, 'servers'>;

/** Returns the rounds of one server; empty if the server was not measured. */
export function measurementsOfServer(route: MeasuredServers, kind: BenchServerKind): readonly ServerMeasurement[] {
  return route.servers.find((server) => server.kind === kind)?.rounds ?? [];
}

export function measuredBaselineServers(route: MeasuredServers): BaselineServerKind[] {
  return route.servers.flatMap(({ kind, rounds }) => (kind === 'service' || rounds.length === 0 ? [] : [kind]));
}

/** For each round, divides the throughput of a server by the throughput of a baseline. Returns null if one of the servers has no rounds. */
export function throughputRatios(
  route: MeasuredServers,
  over: BaselineServerKind,
  of: BenchServerKind = 'service',
): MeasurementSummary | null {
  return summarizeRatios(route, of, over, (server, baseline) => server.perSecond / baseline.perSecond);
}

/**
 * Returns the socket thread's CPU time per request in the baseline server, divided by the CPU time in the service. The socket thread is the
 * bottleneck of each server, so the ratio of CPU times estimates the throughput ratio without the influence of the load client. Returns
 * null if the system does not report CPU times.
 */
export function cpuTimeRatios(route: MeasuredServers, over: BaselineServerKind): MeasurementSummary | null {
  return summarizeRatios(route, 'service', over, (service, baseline) =>
    service.mainThreadCpuMicros && baseline.mainThreadCpuMicros
      ? baseline.mainThreadCpuMicros / service.mainThreadCpuMicros
      : null,
  );
}

/** Returns the median of a value over the rounds of a server; null if a round has no value. */
export function medianOverRounds(
  rounds: readonly ServerMeasurement[],
  figure: (measurement: ServerMeasurement) => number | null | undefined,
): number | null {
  const known = rounds.flatMap((round) => figure(round) ?? []);
  return known.length === 0 || known.length < rounds.length ? null : median(known);
}

function summarizeRatios(
  route: MeasuredServers,
  of: BenchServerKind,
  over: BaselineServerKind,
  ratio: (server: ServerMeasurement, baseline: ServerMeasurement) => number | null,
): MeasurementSummary | null {
  const baselines = measurementsOfServer(route, over);
  const ratios = measurementsOfServer(route, of).flatMap((server, round) => {
    const baseline = baselines[round];
    return baseline === undefined ? [] : (ratio(server, baseline) ?? []);
  });
  return ratios.length === 0 ? null : summarizeMeasurements(ratios);
}
