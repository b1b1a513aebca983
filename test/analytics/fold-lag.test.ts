import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FoldLag } from '../../src/analytics/fold-lag.ts';
import { bounds } from '../../src/bounds.ts';

test('there is no lag where everything is folded', () => {
  const lag = new FoldLag();
  assert.equal(lag.read(0, 0, 1_000), 0);
  lag.note(5, 0, 1_000);
  assert.equal(lag.read(5, 5, 9_000), 0);
});

test('the lag is the age of the oldest record that is not folded', () => {
  const lag = new FoldLag();
  lag.note(10, 0, 1_000);
  lag.note(20, 0, 2_000);
  lag.note(30, 0, 3_000);
  assert.equal(lag.read(30, 9, 4_000), 3_000);
  assert.equal(lag.read(30, 10, 4_000), 2_000);
  assert.equal(lag.read(30, 29, 4_000), 1_000);
  assert.equal(lag.read(30, 30, 4_000), 0);
});

test('an aggregator that is away for days is told of, with a bounded memory', () => {
  const lag = new FoldLag();
  const stepMs = 1_000;
  const steps = 10 * bounds.foldLagMarksMax;
  for (let step = 1; step <= steps; step++) lag.note(step, 0, step * stepMs);
  assert.equal(lag.read(steps, 0, steps * stepMs), (steps - 1) * stepMs);
  // What it catches up with is known as exactly as the marks lie apart.
  const half = steps / 2;
  const read = lag.read(steps, half, steps * stepMs);
  assert.ok(Math.abs(read - half * stepMs) <= 32 * stepMs, `${read} ms`);
});

test('the lag is never off by more than the marks lie apart', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ stepMs: fc.nat(300), folds: fc.boolean() }), { maxLength: 100 }), (steps) => {
      const lag = new FoldLag();
      const durableAt: number[] = [];
      let nowMs = 0;
      let folded = 0;
      for (const { stepMs, folds } of steps) {
        nowMs += stepMs;
        if (folds) folded = Math.min(durableAt.length, folded + 3);
        durableAt.push(nowMs);
        lag.note(durableAt.length, folded, nowMs);
        const real = nowMs - durableAt[folded]!;
        const read = lag.read(durableAt.length, folded, nowMs);
        assert.ok(real - read >= 0 && real - read <= bounds.foldLagMarkedMs + 300, `${read} ms where it is ${real}`);
      }
    }),
  );
});
