import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scheduleArrivals } from '../../../bench/open-loop/open-loop-client.ts';

const poisson = { perSecond: 1_000, warmUpSeconds: 0, seconds: 50, arrivals: 'poisson', seed: 1 } as const;

test('generates even arrivals at equal intervals, as many as the rate requires', () => {
  const times = scheduleArrivals({ ...poisson, perSecond: 200, seconds: 2, arrivals: 'even' });
  assert.equal(times.length, 400);
  for (const [place, ms] of times.entries()) assert.ok(Math.abs(ms - (2.5 + 5 * place)) < 1e-9, `${place}: ${ms}`);
});

test('generates ascending Poisson arrivals with the variation of independent visitors', () => {
  const times = scheduleArrivals(poisson);
  assert.equal(times.length, 50_000);
  const gaps = times.map((ms, place) => ms - (times[place - 1] ?? 0));
  assert.ok(gaps.every((gap) => gap >= 0));
  // In an exponential distribution, a share of 1 - 1/e of the gaps is below the mean, and the standard deviation equals the mean.
  assert.ok(Math.abs(gaps.filter((gap) => gap < 1).length / gaps.length - 0.632) < 0.02);
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - 1) ** 2, 0) / gaps.length);
  assert.ok(Math.abs(deviation - 1) < 0.05, String(deviation));
});

test('generates separate arrivals for the warm-up and the load', () => {
  for (const arrivals of ['even', 'poisson'] as const) {
    const times = scheduleArrivals({ ...poisson, perSecond: 30, warmUpSeconds: 1, seconds: 2, arrivals });
    assert.equal(times.filter((ms) => ms < 1_000).length, 30);
    assert.equal(times.filter((ms) => ms >= 1_000 && ms < 3_000).length, 60);
  }
});

test('generates the same times for the same seed, and other times for another seed', () => {
  const times = (seed: number) => scheduleArrivals({ ...poisson, seconds: 1, seed });
  assert.deepEqual(times(7), times(7));
  assert.notDeepEqual(times(7), times(8));
});
