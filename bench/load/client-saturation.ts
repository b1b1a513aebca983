import type { OpenLoopResult } from '../open-loop/open-loop-plan.ts';
import type { RouteResult, ServerMeasurement } from '../result/bench-result.ts';
import { median } from '../statistics.ts';

/** If the client thread uses more than this share of a core, the client is the bottleneck. */
const clientCpuShareMax = 0.95;
/** If the server's socket thread uses less than this share of a core, the server is not fully loaded. */
const serverCpuShareMin = 0.9;

/**
 * Returns whether the load client was the bottleneck for the fastest server: the client thread was fully loaded, or the socket thread of
 * the server was not fully loaded. On a machine with too few cores for the client and the server, the result is true.
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

/** Maximum share of time in which the client's event loop is busy. An overloaded client sends requests and reads replies late. */
const clientBusyMax = 0.9;
/** Up to this limit, the p99 lag of the client can have causes other than saturation, such as other processes on the machine. */
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
