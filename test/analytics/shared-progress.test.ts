import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { AnalyticsLag } from '../../src/analytics/shared-progress.ts';
import { bounds } from '../../src/bounds.ts';

test('measures an analytics lag of any length with a limited number of samples', () => {
  const lag = new AnalyticsLag();
  const stepMs = 1_000;
  const steps = 10 * bounds.analyticsLagSamplesMax;
  for (let step = 1; step <= steps; step++) lag.addLagSample(step, 0, step * stepMs);
  assert.equal(lag.measureLagMs(steps, 0, steps * stepMs), (steps - 1) * stepMs);
  // The error is at most the sample interval, which has grown.
  const half = steps / 2;
  const measuredMs = lag.measureLagMs(steps, half, steps * stepMs);
  assert.ok(Math.abs(measuredMs - half * stepMs) <= 32 * stepMs, `${measuredMs} ms`);
});

test('the measured analytics lag differs from the real lag by at most one sample interval', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ stepMs: fc.nat(300), projects: fc.boolean() }), { maxLength: 100 }), (steps) => {
      const lag = new AnalyticsLag();
      const durableAt: number[] = [];
      let nowMs = 0;
      let projected = 0;
      for (const { stepMs, projects } of steps) {
        nowMs += stepMs;
        durableAt.push(nowMs);
        lag.addLagSample(durableAt.length, projected, nowMs);
        if (projects) projected = Math.min(durableAt.length, projected + 3);
        const exactMs = nowMs - (durableAt[projected] ?? nowMs);
        const measuredMs = lag.measureLagMs(durableAt.length, projected, nowMs);
        assert.ok(
          exactMs - measuredMs >= 0 && exactMs - measuredMs <= bounds.analyticsLagSampleIntervalMs + 300,
          `${measuredMs} ms, expected ${exactMs}`,
        );
      }
    }),
  );
});
