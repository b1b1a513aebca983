import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type Baseline,
  busyMachineWarning,
  compareWithBaseline,
  createBaseline,
  differentMachineWarning,
  formatVerdict,
} from '../../../bench/check/baseline.ts';
import { smallResult } from '../support/small-result.ts';

const { machine } = smallResult;
const higher = { part: 'p', better: 'higher' } as const;
const baseline: Baseline = createBaseline(
  [
    { ...higher, name: 'session', values: [0.3, 0.31, 0.32] },
    { name: 'match', part: 'micro', better: 'lower', values: [2] },
    { ...higher, name: 'gone', values: [1] },
  ],
  { storedAt: '2026-01-02T03:04:05.000Z', commit: 'abc123', machine, runs: 3 },
);

function told(session: number, match: number): string[] {
  const measured = [
    { ...higher, name: 'session', values: [session] },
    { name: 'match', part: 'micro', better: 'lower' as const, values: [match] },
    { ...higher, name: 'new', values: [1] },
  ];
  return formatVerdict(baseline, compareWithBaseline(baseline.figures, measured));
}

test('prints the name, both values and the threshold of a loss on one line', () => {
  const lines = told(0.155, 2);
  assert.match(lines[0]!, /^LOSS: session: 0\.31 -> 0\.155, 50\.0 % slower; threshold \d+\.\d %$/);
  assert.equal(lines.at(-1), '1 of 2 figures lost speed beyond noise since the baseline of 2026-01-02, commit abc123.');
});

test('prints that there is no loss, and for a gain the command that stores a new baseline', () => {
  const lines = told(0.31, 1);
  assert.equal(lines[0], 'better: match: 2 -> 1, was 50.0 % slower; threshold 8.0 %');
  assert.ok(lines.includes('No loss: 1 of 2 figures are within noise of the baseline of 2026-01-02, commit abc123.'));
  assert.match(lines.at(-1)!, /node bench\/check\/main\.ts --store$/);
});

test('lists figures that only the baseline or only the runs contain', () => {
  assert.ok(told(0.31, 2).includes('not measured now: gone'));
  assert.ok(told(0.31, 2).includes('not in the baseline: new'));
});

test('warns about another machine, but not about another patch version of Node.js', () => {
  assert.equal(
    differentMachineWarning(machine, { ...machine, system: 'Linux 7', node: 'v22.1.0', loadAverage: 9 }),
    null,
  );
  assert.match(
    differentMachineWarning(machine, { ...machine, cpu: 'Another' })!,
    /^ANOTHER MACHINE: .*A CPU.*Another.*all the same/,
  );
  assert.match(differentMachineWarning(machine, { ...machine, node: 'v24.0.0' })!, /^ANOTHER MACHINE/);
});

test('warns about a busy machine', () => {
  assert.equal(busyMachineWarning({ ...machine, loadAverage: 1 }), null);
  assert.match(busyMachineWarning({ ...machine, loadAverage: 1.1 })!, /^THIS MACHINE IS BUSY/);
});
