import type { Measurement } from './result/measurement.ts';
import { median } from './statistics.ts';

/** Share of its threads' time from which a client counts as the bottleneck of its own measurement. */
const saturatedShare = 0.95;

/** Whether the client, not the server, was what gave first in the middle one of these rounds. */
export function isSaturated(
  rounds: readonly Pick<Measurement, 'clientCpuSeconds' | 'clientThreads' | 'seconds'>[],
): boolean {
  const shares = rounds.map(
    ({ clientCpuSeconds, clientThreads, seconds }) => clientCpuSeconds / clientThreads / seconds,
  );
  return shares.length > 0 && median(shares) > saturatedShare;
}
