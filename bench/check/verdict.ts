import type { Machine } from '../machine.ts';
import type { Baseline } from './baseline.ts';
import { type RatioChange, type Comparison, gainShare } from './compare.ts';

export const storeCommand = 'bin/with-node node bench/check/main.ts --store';

/** What a comparison comes to, line by line: what was lost first. */
export function formatVerdict(baseline: Baseline, { losses, gains, unchanged, missing, added }: Comparison): string[] {
  const of = `the baseline of ${baseline.storedAt.slice(0, 10)}${baseline.commit === null ? '' : `, commit ${baseline.commit}`}`;
  const compared = losses.length + gains.length + unchanged;
  return [
    ...losses.map(
      (change) => `LOSS: ${formatChange(change)}, ${formatPercent(change.lossShare)} slower; threshold ${formatPercent(change.threshold)}`,
    ),
    ...gains.map(
      (change) =>
        `better: ${formatChange(change)}, was ${formatPercent(gainShare(change.lossShare))} slower; threshold ${formatPercent(change.threshold)}`,
    ),
    ...missing.map((name) => `not measured now: ${name}`),
    ...added.map((name) => `not in the baseline: ${name}`),
    losses.length > 0
      ? `${losses.length} of ${compared} figures lost speed beyond noise since ${of}.`
      : `No loss: ${compared - gains.length} of ${compared} figures are within noise of ${of}.`,
    ...(gains.length + added.length > 0 && losses.length === 0
      ? [`To hold on to what was won, on a quiet machine: ${storeCommand}`]
      : []),
  ];
}

/** What makes a comparison weaker than it looks, or null. */
export function differentMachineWarning(baseline: Machine, now: Machine): string | null {
  const same = (['cpu', 'cores', 'memoryGiB', 'disk'] as const).every((member) => baseline[member] === now[member]);
  const node = (version: string) => version.split('.')[0];
  if (same && node(baseline.node) === node(now.node)) return null;
  return (
    `ANOTHER MACHINE: the baseline is of ${formatMachine(baseline)}; this is ${formatMachine(now)}. ` +
    'The ratios are compared all the same, but what differs may be the machine.'
  );
}

/** Others at work on the machine, or null. */
export function busyMachineWarning({ loadAverage, cores }: Machine): string | null {
  if (loadAverage <= cores / 2) return null;
  return `THIS MACHINE IS BUSY (load average ${loadAverage.toFixed(1)}): what differs may be its other work.`;
}

function formatMachine({ cpu, cores, memoryGiB, node, disk }: Machine): string {
  return `${cpu}, ${cores} cores, ${memoryGiB} GiB, ${disk}, Node.js ${node}`;
}

function formatChange({ name, before, now }: RatioChange): string {
  return `${name}: ${Number(before.toPrecision(3))} -> ${Number(now.toPrecision(3))}`;
}

function formatPercent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}
