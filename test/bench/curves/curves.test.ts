import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { catalogSizeCurve } from '../../../bench/curves/catalog-size.ts';
import type { CurveScale } from '../../../bench/curves/curve-scale.ts';
import { liveSessionsCurve } from '../../../bench/curves/live-sessions.ts';
import { offeredLoadCurve } from '../../../bench/curves/offered-load.ts';
import { autocannonClient } from '../../../bench/load/autocannon-client.ts';
import type { BenchContext } from '../../../bench/part.ts';
import { Progress } from '../../../bench/progress.ts';
import type { CurveResult } from '../../../bench/result/curve-result.ts';
import { quickScale } from '../../../bench/scale.ts';
import { generateCatalog } from '../../support/random-catalog.ts';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-curves-'));
});
after(() => rm(folder, { recursive: true }));

const scale: CurveScale = {
  saturationSeconds: 0.1,
  seconds: 0.2,
  onceSeconds: 0.1,
  oncePerSecondMax: 30_000,
  warmUpSeconds: 0.1,
  loadShares: [0.1, 0.3, 0.75],
  furtherLoads: 0,
  besideBareShareMax: 0.7,
  liveSessions: [50, 2_000],
  catalogOffers: [40],
  matcherThreads: [],
  keys: [],
};

function context(): BenchContext {
  return {
    scale: { ...quickScale, keys: 100 },
    quick: true,
    client: autocannonClient,
    folder,
    progress: new Progress({ isTTY: false, write: () => true } as unknown as NodeJS.WriteStream),
    catalog: (offers) => JSON.stringify(generateCatalog(1, offers)),
  };
}

function assertPoints({ points }: CurveResult, xs: readonly number[]): void {
  assert.deepEqual(
    points.map(({ x }) => x),
    xs,
  );
  for (const point of points) {
    assert.equal(point.refused + point.failed, 0);
    assert.ok(point.achievedPerSecond <= point.offeredPerSecond * 1.05);
    assert.ok(point.latencyMs.p50 > 0 && point.latencyMs.p50 <= point.latencyMs.p999);
  }
}

/** The bare server answered the same requests, as many of them a second, and with a latency of its own. */
function assertBesideBare({ points }: CurveResult): void {
  for (const { offeredPerSecond, latencyMs, bare } of points) {
    assert.equal(bare!.offeredPerSecond, offeredPerSecond);
    assert.equal(bare!.refused + bare!.failed, 0);
    assert.ok(bare!.achievedPerSecond > 0);
    assert.notDeepEqual(bare!.latencyMs, latencyMs);
  }
}

test('the curve of offered load has a point for each share of saturation, and leaves nothing behind', async () => {
  const { curve } = await offeredLoadCurve.measure(context(), scale);
  const rates = curve.points.map(({ offeredPerSecond }) => offeredPerSecond);
  assert.equal(rates.length, 3);
  assertPoints(curve, rates);
  assert.deepEqual(
    rates,
    rates.toSorted((a, b) => a - b),
  );
  assertBesideBare({ ...curve, points: curve.points.slice(0, 2) });
  assert.equal(curve.points[2]!.bare, undefined);
  assert.deepEqual(await readdir(folder), []);
});

test('the curve of live sessions keeps one rate, and tells what a session takes of memory', async () => {
  const { curve, memory } = await liveSessionsCurve.measure(context(), scale);
  assertPoints(curve, [50, 2_000]);
  assert.equal(new Set(curve.points.map(({ offeredPerSecond }) => offeredPerSecond)).size, 1);
  assertBesideBare(curve);
  assert.equal(memory!.fields, 6);
  assert.deepEqual(
    memory!.points.map(({ sessions }) => sessions),
    [50, 2_000],
  );
  assert.deepEqual(await readdir(folder), []);
});

test('the curve of catalogs has sessions enough to ask each once', async () => {
  const { curve } = await catalogSizeCurve.measure(context(), scale);
  assertPoints(curve, [40]);
});
