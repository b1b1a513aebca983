import type { BaselineKind, Measurement, RouteResult, ServerKind } from '../result/bench-result.ts';
import { median, type Summary, summarize } from '../statistics.ts';

/** Returns the measured rounds of one server; empty if the server was not measured. */
export function roundsFor(route: Pick<RouteResult, 'servers'>, kind: ServerKind): readonly Measurement[] {
  return route.servers.find((server) => server.kind === kind)?.rounds ?? [];
}

export function measuredBaselines(route: Pick<RouteResult, 'servers'>): BaselineKind[] {
  return route.servers.flatMap(({ kind, rounds }) => (kind === 'service' || rounds.length === 0 ? [] : [kind]));
}

/** Divides the throughput of a server by the throughput of a baseline, per round. Returns null without rounds of both. */
export function throughputRatios(
  route: Pick<RouteResult, 'servers'>,
  over: BaselineKind,
  of: ServerKind = 'service',
): Summary | null {
  return summarizeRatios(route, of, over, (server, baseline) => server.perSecond / baseline.perSecond);
}

/**
 * CPU time per request of the socket thread, baseline divided by service, per round. This thread saturates first, so the ratio
 * estimates the throughput ratio without the cost of a client. Null if the system does not report CPU times.
 */
export function cpuRatios(route: Pick<RouteResult, 'servers'>, over: BaselineKind): Summary | null {
  return summarizeRatios(route, 'service', over, (service, baseline) =>
    service.mainThreadCpuMicros && baseline.mainThreadCpuMicros
      ? baseline.mainThreadCpuMicros / service.mainThreadCpuMicros
      : null,
  );
}

/** Returns the median of a value over the rounds of a server; null if a round has no value. */
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

interface TargetOutcome {
  readonly route: string;
  readonly over: BaselineKind;
  readonly target: number;
  readonly reached: boolean;
}

/** Compares the median ratio of each route with its target. */
export function evaluateTargets(routes: readonly RouteResult[]): TargetOutcome[] {
  return selectDecidingRoutes(routes).flatMap((route) =>
    route.targets.flatMap(({ over, ratio }) => {
      const measured = throughputRatios(route, over);
      if (measured === null) return [];
      return [{ route: route.name, over, target: ratio, reached: measured.median >= ratio }];
    }),
  );
}

/**
 * Selects one result per route: the last result whose client was not saturated, because later clients use less CPU time. If all
 * clients were saturated, selects the last result.
 */
export function selectDecidingRoutes(routes: readonly RouteResult[]): RouteResult[] {
  return [...Map.groupBy(routes, ({ name }) => name).values()].map(
    (same) => same.findLast(({ clientSaturated }) => !clientSaturated) ?? same.at(-1)!,
  );
}
