import type { OpenLoopResult } from '../open-loop/open-loop-plan.ts';
import type { RouteResult, ServerMeasurement } from '../result/bench-result.ts';
import { median } from '../statistics.ts';

/** Maximum CPU usage of the client thread at which the client is not the bottleneck, as a share of one core. */
const clientCpuShareMax = 0.95;
/** Minimum CPU usage of the server's socket thread at which the server is fully loaded, as a share of one core. */
const serverCpuShareMin = 0.9;

/**
 * Whether the client was the bottleneck in the loads on the fastest server: the client thread used all its CPU time, or the socket thread
 * of the server was partly idle. If the client was the bottleneck, the throughput ratio of the service to that server is too high. Also
 * returns true if the machine has too few cores for the client and the server.
 */
export function isClientSaturated(servers: RouteResult['servers']): boolean {
  const measured = servers.filter(({ rounds }) => rounds.length > 0);
  const speed = (rounds: readonly ServerMeasurement[]) => median(rounds.map(({ perSecond }) => perSecond));
  const [fastest] = measured.toSorted((a, b) => speed(b.rounds) - speed(a.rounds));
  if (fastest === undefined) return false;
  const client = median(fastest.rounds.map(({ clientCpuSeconds, seconds }) => clientCpuSeconds / seconds));
  // Systems without `/proc` do not report the CPU time of the server.
  const server = fastest.rounds.flatMap(({ mainThreadCpuMicros, perSecond }) =>
    mainThreadCpuMicros === null ? [] : (mainThreadCpuMicros * perSecond) / 1e6,
  );
  return client > clientCpuShareMax || (server.length > 0 && median(server) < serverCpuShareMin);
}

/**
 * Maximum share of the time in which the event loop of the client may be busy. Above this maximum, the client sends requests and reads
 * replies late.
 */
const clientBusyMax = 0.9;
/** Maximum client lag that can be caused by other processes on the machine. */
const toleratedLagMs = 5;

/**
 * Whether the client, not the server, was the bottleneck of an open-loop load. If the client was the bottleneck, it sent requests and read
 * replies late, so the measured latencies are too high.
 */
export function isOpenLoopClientSaturated({
  busy,
  lagMs,
  latencyMs,
}: Pick<OpenLoopResult, 'busy' | 'lagMs' | 'latencyMs'>): boolean {
  return busy > clientBusyMax || (lagMs.p99 > toleratedLagMs && lagMs.p99 > latencyMs.p99 / 2);
}
