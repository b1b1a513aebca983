import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { type BenchContext, quickBenchScale } from '../../../bench/bench-part.ts';
import type { LoadCurveSettings } from '../../../bench/curves/curve.ts';
import { liveSessionsCurve } from '../../../bench/curves/live-sessions-curve.ts';
import { requestRateCurve } from '../../../bench/curves/offered-load-curve.ts';
import type { OpenLoopPlan, OpenLoopRunner } from '../../../bench/open-loop/open-loop-plan.ts';
import type { LoadCurveResult } from '../../../bench/result/bench-result.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { countedClient, countedLatencyMs, countedOpenLoop, silentProgress } from '../support/counted-load.ts';

const folder = temporaryFolder();

const scale: LoadCurveSettings = {
  saturationSeconds: 0.1,
  seconds: 1,
  warmUpSeconds: 0.1,
  saturationShares: [0.1, 0.3, 0.75],
  extraLoads: 4,
  bareServerShareMax: 0.7,
  liveSessions: [50, 500],
};

function context(sendOpenLoop: OpenLoopRunner): BenchContext {
  return {
    scale: { ...quickBenchScale, keys: 100 },
    quick: true,
    client: countedClient,
    sendOpenLoop,
    folder,
    progress: silentProgress,
  };
}

/** Asserts that all responses were as expected, also from the bare server, and that each point has the results of its load. */
function assertAnswered({ points }: LoadCurveResult): void {
  for (const point of points.flatMap((each) => [each, ...(each.bare === undefined ? [] : [each.bare])])) {
    assert.equal(point.refused + point.failed, 0);
    assert.deepEqual(point.latencyMs, countedLatencyMs);
  }
}

test('measures the service up to and beyond saturation, and the baseline server only far below saturation', async () => {
  const plans: OpenLoopPlan[] = [];
  const send = countedOpenLoop(() => 1_000);
  const sendOpenLoop: OpenLoopRunner = (plan) => {
    plans.push(plan);
    return send(plan);
  };
  const [curve] = (await requestRateCurve.measure(context(sendOpenLoop), scale)).curves;
  // First the configured shares of saturation, then higher rates until the service responds at less than the offered rate.
  assert.deepEqual(
    curve!.points.map(({ x, offeredPerSecond, achievedPerSecond, bare }) => [
      x,
      offeredPerSecond,
      achievedPerSecond,
      bare?.offeredPerSecond,
    ]),
    [
      [100, 100, 100, 100],
      [300, 300, 300, 300],
      [750, 750, 750, undefined],
      [938, 938, 938, undefined],
      [1_172, 1_172, 1_000, undefined],
    ],
  );
  assertAnswered(curve!);
  const service = plans[0]!.port;
  assert.deepEqual(
    plans.map(({ port, perSecond }) => [port === service ? 'service' : 'bare', perSecond]),
    [
      ['service', null],
      ['service', null],
      ['service', 100],
      ['bare', 100],
      ['bare', 300],
      ['service', 300],
      ['service', 750],
      ['service', 938],
      ['service', 1_172],
    ],
  );
  assert.deepEqual(await readdir(folder), []);
});

test('measures the memory at several numbers of live sessions with the same request rate', async () => {
  const { curves, memory } = await liveSessionsCurve.measure(
    context(countedOpenLoop((closedLoop) => 1_000 - 300 * closedLoop)),
    scale,
  );
  assert.deepEqual(
    curves[0]!.points.map(({ x, offeredPerSecond, bare }) => [x, offeredPerSecond, bare?.offeredPerSecond]),
    [
      [50, 600, 600],
      [500, 600, 600],
    ],
  );
  assertAnswered(curves[0]!);
  assert.equal(memory!.fields, 6);
  assert.ok(memory!.sessionsMax > 10_000);
  assert.deepEqual(
    memory!.points.map(({ sessions }) => sessions),
    [50, 500],
  );
  assert.deepEqual(await readdir(folder), []);
});
