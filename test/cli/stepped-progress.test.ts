import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSteppedProgress } from '../../src/cli/progress-bar.ts';
import { ManualClock } from '../support/manual-clock.ts';

function setUp() {
  const clock = new ManualClock();
  const written: string[] = [];
  const stream = { isTTY: true, columns: 80, write: (text: string) => written.push(text) };
  const progress = createSteppedProgress(stream, { read: 10, judge: 30, describe: 60 }, clock);
  const after = (ms: number, step: 'read' | 'judge' | 'describe', share?: number) => {
    clock.advance(ms);
    progress.update(step, share);
    return written.at(-1)?.trimEnd();
  };
  return { written, progress, after };
}

test('each step moves one bar by as much as it is of the whole work', () => {
  const { after } = setUp();
  assert.equal(after(2_000, 'judge'), '\r 10% [##----------------------], 18 s left');
  assert.equal(after(2_000, 'judge', 0.5), '\r 25% [######------------------], 12 s left');
  assert.equal(after(4_000, 'describe'), '\r 40% [#########---------------], 12 s left');
  assert.equal(after(8_000, 'describe', 1), '\r100% [########################], 0 s left');
});

test('a step may be left out, and the bar goes at the end', () => {
  const { after, progress, written } = setUp();
  assert.equal(after(3_000, 'describe', 0.5), '\r 70% [################--------], 2 s left');
  progress.clear();
  assert.equal(written.at(-1), '\r');
});
