import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { createRecoveryProgress } from '../../src/cli/progress-bar.ts';
import { ManualClock } from '../support/manual-clock.ts';

function setUp(isTTY: boolean) {
  const clock = new ManualClock();
  const written: string[] = [];
  const logged: unknown[] = [];
  const stream = { isTTY, columns: 80, write: (text: string) => written.push(text) };
  const info = (...line: unknown[]) => logged.push(line);
  return { clock, written, logged, progress: createRecoveryProgress(stream, { info }, clock) };
}

test('on a terminal each log that is read back has a bar, which is gone at the end', () => {
  const { clock, written, logged, progress } = setUp(true);
  for (const what of ['ledger', 'journal'] as const) {
    progress.onProgress(what, 1_024, 4_096);
    clock.advance(2_000);
    progress.onProgress(what, 2_048, 4_096);
    assert.match(written.at(-1)!, /50% \[#{12}-{12}\] 2\.0 KiB of 4\.0 KiB/);
  }
  progress.clear();
  assert.equal(written.at(-1), '\r');
  assert.deepEqual(logged, []);
});

test('elsewhere the log has a line every few seconds, and none for a quick start', () => {
  const { clock, written, logged, progress } = setUp(false);
  for (let second = 1; second <= 12; second++) {
    clock.advance(1_000);
    progress.onProgress('ledger', second, 100);
  }
  progress.clear();
  const every = bounds.restoreProgressLogIntervalMs / 1_000;
  assert.deepEqual(
    logged,
    [every, 2 * every].map((bytes) => [{ bytes, ofBytes: 100 }, 'restoring from the ledger']),
  );
  assert.deepEqual(written, []);
});
