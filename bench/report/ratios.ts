import type { BaselineKind, Measurement, RouteResult, ServerKind } from '../result/bench-result.ts';
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

interface TargetOutcome {
  readonly route: string;
  readonly over: BaselineKind;
  readonly target: number;
  readonly reached: boolean;
}

/** How each target stands whose baseline was measured: by the middle round. */
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
 * Each route once, where it was measured with several clients: with one that did not give first itself, if there is any, and
 * of those with the last, which is the cheaper client.
 */
export function selectDecidingRoutes(routes: readonly RouteResult[]): RouteResult[] {
  return [...Map.groupBy(routes, ({ name }) => name).values()].map(
    (same) => same.findLast(({ clientSaturated }) => !clientSaturated) ?? same.at(-1)!,
  );
}
