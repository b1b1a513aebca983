import type { OpenLoopResult } from './open-loop-plan.ts';

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
