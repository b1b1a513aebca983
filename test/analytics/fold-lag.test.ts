import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnalyticsLag } from '../../src/analytics/shared-progress.ts';
import { bounds } from '../../src/bounds.ts';

test('there is no lag where everything is folded', () => {
  const lag = new AnalyticsLag();
  assert.equal(lag.measureMs(0, 0, 1_000), 0);
  lag.recordPosition(5, 0, 1_000);
  assert.equal(lag.measureMs(5, 5, 9_000), 0);
});

test('the lag is the age of the oldest record that is not folded', () => {
  const lag = new AnalyticsLag();
  lag.recordPosition(10, 0, 1_000);
  lag.recordPosition(20, 0, 2_000);
  lag.recordPosition(30, 0, 3_000);
  assert.equal(lag.measureMs(30, 9, 4_000), 3_000);
  assert.equal(lag.measureMs(30, 10, 4_000), 2_000);
  assert.equal(lag.measureMs(30, 29, 4_000), 1_000);
  assert.equal(lag.measureMs(30, 30, 4_000), 0);
});

test('an aggregator that is away for days is told of, with a bounded memory', () => {
  const lag = new AnalyticsLag();
  const stepMs = 1_000;
  const steps = 10 * bounds.analyticsLagSamplesMax;
  for (let step = 1; step <= steps; step++) lag.recordPosition(step, 0, step * stepMs);
  assert.equal(lag.measureMs(steps, 0, steps * stepMs), (steps - 1) * stepMs);
  // What it catches up with is known as exactly as the marks lie apart.
  const half = steps / 2;
  const read = lag.measureMs(steps, half, steps * stepMs);
  assert.ok(Math.abs(read - half * stepMs) <= 32 * stepMs, `${read} ms`);
});

test('the lag is never off by more than the marks lie apart', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ stepMs: fc.nat(300), folds: fc.boolean() }), { maxLength: 100 }), (steps) => {
      const lag = new AnalyticsLag();
      const durableAt: number[] = [];
      let nowMs = 0;
      let folded = 0;
      for (const { stepMs, folds } of steps) {
        nowMs += stepMs;
        if (folds) folded = Math.min(durableAt.length, folded + 3);
        durableAt.push(nowMs);
        lag.recordPosition(durableAt.length, folded, nowMs);
        const real = nowMs - durableAt[folded]!;
        const read = lag.measureMs(durableAt.length, folded, nowMs);
        assert.ok(
          real - read >= 0 && real - read <= bounds.analyticsLagSampleIntervalMs + 300,
          `${read} ms where it is ${real}`,
        );
      }
    }),
  );
});
