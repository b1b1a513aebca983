import type { BenchResult } from '../result/bench-result.ts';
import { pluralize } from './numbers.ts';

/** What was measured where and how, in one paragraph. */
export function describeConditions({ startedAt, commit, machine, scale, quick }: BenchResult): string {
  const { cpu, cores, memoryGiB, system, node, disk, loadAverage } = machine;
  const measured = commit === null ? '' : `, commit ${commit}`;
  return (
    `${startedAt.slice(0, 10)}${measured}, ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${system}, Node.js ${node}, data on ${disk}, ` +
    `load average ${loadAverage.toFixed(1)} before the run. ${scale.connections} connections, ${pluralize(scale.rounds, 'round')} of about ` +
    `${scale.seconds} s${quick ? ' (quick run: indicative only)' : ''}.`
  );
}
