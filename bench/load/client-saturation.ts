import type { OpenLoopResult } from '../open-loop/open-loop-plan.ts';
import type { RouteResult, ServerMeasurement } from '../result/bench-result.ts';
import { median } from '../statistics.ts';

/** Maximum CPU usage of the client thread in a load that the client did not limit. */
const clientCpuShareMax = 0.95;
/** Minimum CPU usage of the socket thread of a server under full load. */
const serverCpuShareMin = 0.9;

/**
 * Whether the client limited the fastest server: the client used all CPU time of its thread, or the socket thread of
 * the server was partly idle. If the client limited the server, the throughput ratios of the service to the baselines
 * are too high. A machine with fewer cores than busy threads is also reported.
 */
export function isClientSaturated(servers: RouteResult['servers']): boolean {
  const measured = servers.filter(({ rounds }) => rounds.length > 0);
  const speed = (rounds: readonly ServerMeasurement[]) => median(rounds.map(({ perSecond }) => perSecond));
  const [fastest] = measured.toSorted((a, b) => speed(b.rounds) - speed(a.rounds));
  return fastest !== undefined && isClientBottleneck(fastest.rounds);
}

/** Whether the client limited loads on one server with a single socket thread. */
function isClientBottleneck(loads: readonly ServerMeasurement[]): boolean {
  const client = median(loads.map(({ clientCpuSeconds, seconds }) => clientCpuSeconds / seconds));
  // Systems without `/proc` do not report the CPU time of the server.
  const server = loads.flatMap(({ mainThreadCpuMicros, perSecond }) =>
    mainThreadCpuMicros === null ? [] : (mainThreadCpuMicros * perSecond) / 1e6,
  );
  return client > clientCpuShareMax || (server.length > 0 && median(server) < serverCpuShareMin);
}

/** Maximum busy share of the event loop of the client. A client with a higher busy share sends requests and reads replies late. */
const clientBusyMax = 0.9;
/** Maximum lag that can be caused by other processes on the machine. */
const toleratedLagMs = 5;

/**
 * Whether the client limited an open-loop load. A busy client also reads replies late. Requests that are sent late
 * increase every measured latency.
 */
export function isOpenLoopClientSaturated({
  busy,
  lagMs,
  latencyMs,
}: Pick<OpenLoopResult, 'busy' | 'lagMs' | 'latencyMs'>): boolean {
  return busy > clientBusyMax || (lagMs.p99 > toleratedLagMs && lagMs.p99 > latencyMs.p99 / 2);
}
