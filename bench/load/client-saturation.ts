import type { OpenLoopResult } from '../open-loop/open-loop-plan.ts';
import type { Measurement, RouteResult } from '../result/bench-result.ts';
import { median } from '../statistics.ts';

/** Share of its threads' time from which a client counts as used up. */
const clientCpuShareMax = 0.95;
/** Share of its time that the socket thread of a server which answers at once is busy, when it gets all it can take. */
const serverCpuShareMin = 0.9;

/**
 * Whether the client, not the fastest server, was what gave first: it had used up its own threads, or the server's socket
 * thread had time left. Either way that server could have answered more, and ratios to it are too high. On a machine with
 * fewer cores than threads at work neither may get the time it wants; that counts as the client's doing too.
 */
export function isClientSaturated(servers: RouteResult['servers']): boolean {
  const measured = servers.filter(({ rounds }) => rounds.length > 0);
  const speed = (rounds: readonly Measurement[]) => median(rounds.map(({ perSecond }) => perSecond));
  const [fastest] = measured.toSorted((a, b) => speed(b.rounds) - speed(a.rounds));
  return fastest !== undefined && isClientBottleneck(fastest.rounds);
}

/** What is told of a load that says who gave first. */
export type BottleneckInputs = Pick<
  Measurement,
  'clientCpuSeconds' | 'clientThreads' | 'seconds' | 'mainThreadCpuMicros' | 'perSecond'
>;

/** The same of some loads on one server that does its work in its socket thread. */
export function isClientBottleneck(loads: readonly BottleneckInputs[]): boolean {
  const client = median(loads.map(clientCpuShare));
  const server = loads.flatMap((load) => serverCpuShare(load) ?? []);
  return client > clientCpuShareMax || (server.length > 0 && median(server) < serverCpuShareMin);
}

function clientCpuShare({ clientCpuSeconds, clientThreads, seconds }: BottleneckInputs): number {
  return clientCpuSeconds / clientThreads / seconds;
}

/** Null where the system does not tell CPU times. */
function serverCpuShare({ mainThreadCpuMicros, perSecond }: BottleneckInputs): number | null {
  return mainThreadCpuMicros === null ? null : (mainThreadCpuMicros * perSecond) / 1e6;
}

/** A client whose event loop has this little to spare answers late itself, and cannot send more. */
const clientBusyMax = 0.9;
/** Lag that is no wonder on a machine with other things to do. */
const toleratedLagMs = 5;

/**
 * Whether a load was held up by its client as much as by the server. A busy client finds answers late that came in time;
 * one that lags has sent late, which is part of every latency.
 */
export function isOpenLoopClientSaturated({
  busy,
  lagMs,
  latencyMs,
}: Pick<OpenLoopResult, 'busy' | 'lagMs' | 'latencyMs'>): boolean {
  return busy > clientBusyMax || (lagMs.p99 > toleratedLagMs && lagMs.p99 > latencyMs.p99 / 2);
}
