import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readMeasurements } from '../../src/capacity/benchmark-result.ts';
import { CapacityError } from '../../src/capacity/capacity-error.ts';
import type { Measurements } from '../../src/capacity/measurements.ts';
import { type CapacityPlan, type PlanRequest, planCapacity, type Resource } from '../../src/capacity/plan.ts';
import { defaultTrafficMixFile, type TrafficMixFile, toTrafficMix } from '../../src/capacity/traffic-mix.ts';
import { sampleResult } from './sample-result.ts';

const mix = (changes: Partial<TrafficMixFile> = {}) => toTrafficMix({ ...defaultTrafficMixFile, ...changes });
const sample: Measurements = readMeasurements(JSON.stringify(sampleResult()), mix());
const question = (changes: Partial<PlanRequest> = {}): PlanRequest => ({
  keys: 10_000,
  sloP99Ms: 35,
  headroom: 0.2,
  ...changes,
});
/** Sessions and nothing else: 8.33 a second from each key, like everything else below in round figures. */
const sessionsOnly = mix({ per_100_sessions: {} });

const resource = (plan: CapacityPlan, name: Resource['name']) => plan.resources.find((one) => one.name === name)!;
const near = (actual: number, expected: number) =>
  assert(Math.abs(actual - expected) < 1e-9 * Math.abs(expected), `${actual}, not ${expected}`);

test('each resource is worked out from its own figures', () => {
  const plan = planCapacity(sample, sessionsOnly, question());
  near(resource(plan, 'socket-thread').capacity, 25_000);
  near(resource(plan, 'all-cores').capacity, 4e6 / 60);
  // p99 crosses 35 ms halfway between 10,000 and 20,000 requests that cost as much as those of the mix.
  near(resource(plan, 'latency').capacity, 15_000);
  near(resource(plan, 'session-ceiling').capacity, 4_000_000);
  near(resource(plan, 'memory').capacity, ((16_384 - 120) * 2 ** 20) / 1_536);
  assert.deepEqual([plan.bottleneck, plan.keysPerBox, plan.boxes], ['latency', 1_440, 7]);
});

test('the keys are spread over the boxes, and the fullest is what is predicted', () => {
  const plan = planCapacity(sample, sessionsOnly, question());
  assert.equal(plan.load.keys, 1_429);
  const rate = (1_429 * 500) / 60;
  near(plan.load.requestsPerSecond, rate);
  near(plan.predicted.p99Ms, 10 + ((rate - 10_000) / 10_000) * 50);
  // Between the points a request costs 70 and 60 us of all threads, where the routes were measured at 60.
  const dearer = (70 - (rate - 10_000) / 1_000) / 60;
  near(plan.predicted.socketThreadCores, (rate * 40 * dearer) / 1e6);
  near(plan.predicted.allThreadsCores, (rate * 60 * dearer) / 1e6);
  near(plan.predicted.memoryMiB, 120 + (plan.load.liveSessions * 1_536) / 2 ** 20);
});

test('a mix that costs twice as much gets half the rate of the curve', () => {
  const dear: Measurements = { ...sample, costs: { session: { socketThreadMicros: 80, allThreadsMicros: 120 } } };
  near(resource(planCapacity(dear, sessionsOnly, question()), 'latency').capacity, 7_500);
});

test('memory gives first where sessions take much of it', () => {
  const heavy = { ...sample, memory: { ...sample.memory, residentBytesPerSession: 100_000 } };
  assert.equal(planCapacity(heavy, sessionsOnly, question()).bottleneck, 'memory');
});

test('the disk fills by what each session leaves, where that was measured', () => {
  assert.equal(planCapacity(sample, sessionsOnly, question()).predicted.diskBytesPerDay, null);
  const known = { ...sample, diskBytesPerSession: 200 };
  near(planCapacity(known, sessionsOnly, question()).predicted.diskBytesPerDay!, 200 * 1_429 * 10_000);
});

test('an SLO that no measured rate meets is refused with the best there is', () => {
  assert.throws(
    () => planCapacity(sample, mix(), question({ sloP99Ms: 3 })),
    (error: unknown) =>
      error instanceof CapacityError &&
      /no rate .* within 3 ms: the lowest, 5000 requests\/s, has 4\.0 ms/.test(error.message),
  );
});

test('a box that does not carry one key is refused with what gives first', () => {
  const tiny = { ...sample, memory: { ...sample.memory, sessionsMax: 100 } };
  assert.throws(() => planCapacity(tiny, mix(), question()), /a single key of this mix: session-ceiling gives first/);
});

test('what goes beyond the measurements is said, and only that', () => {
  const told = (figures: Measurements, changes: Partial<PlanRequest> = {}) =>
    planCapacity(figures, sessionsOnly, question(changes)).caveats.join('\n');
  const plain = told(sample);
  assert.match(plain, /^A box has [\d,]+ live sessions; memory was measured with up to 1,000,000/);
  assert.match(plain, /opened within 4 hours, a box would carry 320 keys/);
  assert.match(plain, /Latency is that of "POST \/session, durable"/);
  assert.doesNotMatch(plain, /quick|ends at|the routes were measured|at its end|at work/);
  assert.match(told({ ...sample, box: { ...sample.box, quick: true } }), /indicative only/);
  assert.match(told({ ...sample, box: { ...sample.box, loadAverage: 3 } }), /at work .* \(load average 3\.0\)/);
  const short = { ...sample, curve: { ...sample.curve, points: sample.curve.points.slice(0, 3) } };
  assert.match(told(short, { sloP99Ms: 100 }), /ends at 20,000 requests\/s with p99 within 100 ms/);
  const tired = sample.curve.points.map((point) => ({ ...point, clientSaturated: true }));
  assert.match(told({ ...sample, curve: { ...sample.curve, points: tired } }), /The client .* was at its end/);
  assert.match(told({ ...sample, box: { ...sample.box, keys: 100 } }), /1,429 keys; the routes were measured with 100/);
});

test('a request of a route that the figures lack is a bug, not a free one', () => {
  assert.throws(() => planCapacity({ ...sample, costs: {} }, mix(), question()), /lack session/);
});

// Properties, over boxes, mixes and questions of every kind.

const positive = (max: number) => fc.double({ min: 0.01, max, noNaN: true });
const cost = fc.record({ socketThreadMicros: positive(500), allThreadsMicros: positive(1_000) });
const figuresOf = fc
  .record({
    costs: fc.record({
      session: cost,
      inputs: cost,
      'marketplace-unknown': cost,
      'marketplace-known': cost,
      click: cost,
      analytics: cost,
    }),
    cores: fc.integer({ min: 1, max: 128 }),
    points: fc.uniqueArray(
      fc.record({
        offeredPerSecond: fc.integer({ min: 1, max: 100_000 }),
        kept: fc.constantFrom(1, 1, 1, 0.5),
        p99Ms: positive(500),
        cpuMicros: positive(1_000),
        clientSaturated: fc.boolean(),
      }),
      { minLength: 1, maxLength: 8, selector: ({ offeredPerSecond }) => offeredPerSecond },
    ),
    residentBytesPerSession: positive(20_000),
    sessionsMax: fc.integer({ min: 1, max: 50_000_000 }),
  })
  .map(
    ({ costs, cores, points, ...memory }): Measurements => ({
      ...sample,
      box: { ...sample.box, cores },
      costs,
      curve: {
        title: 'made up',
        points: points
          .map(({ kept, ...point }) => ({ ...point, achievedPerSecond: kept * point.offeredPerSecond }))
          .sort((a, b) => a.offeredPerSecond - b.offeredPerSecond),
      },
      memory: { ...sample.memory, ...memory },
    }),
  );
const share = fc.double({ min: 0, max: 1_000, noNaN: true });
const mixes = fc
  .record({
    per_100_sessions: fc.record({
      inputs: share,
      'marketplace-unknown': share,
      'marketplace-known': share,
      click: share,
      analytics: share,
    }),
    busy_share: fc.double({ min: 0.001, max: 1, noNaN: true }),
    live_peak: fc.double({ min: 1, max: 24, noNaN: true }),
  })
  .map((file) => mix(file));
const questions = fc.record({
  keys: fc.integer({ min: 1, max: 1_000_000 }),
  sloP99Ms: positive(600),
  headroom: fc.double({ min: 0, max: 0.9, noNaN: true }),
});

/** The plan, or null where the question has no answer. */
function planOrNull(figures: Measurements, of: ReturnType<typeof mix>, asked: PlanRequest): CapacityPlan | null {
  try {
    return planCapacity(figures, of, asked);
  } catch (error) {
    if (error instanceof CapacityError) return null;
    throw error;
  }
}

const carried = (plan: CapacityPlan | null) => plan?.keysPerBox ?? 0;

test('more keys never need fewer boxes, and all of them have a place', () => {
  fc.assert(
    fc.property(figuresOf, mixes, questions, fc.nat(1_000_000), (figures, of, asked, more) => {
      const few = planOrNull(figures, of, asked);
      const many = planOrNull(figures, of, { ...asked, keys: asked.keys + more });
      assert.equal(few === null, many === null);
      if (few === null || many === null) return;
      assert(many.boxes >= few.boxes);
      assert(few.boxes * few.load.keys >= asked.keys && few.load.keys <= few.keysPerBox);
    }),
  );
});

test('a tighter SLO never gets more keys onto a box', () => {
  fc.assert(
    fc.property(
      figuresOf,
      mixes,
      questions,
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (figures, of, asked, by) => {
        const tighter = { ...asked, sloP99Ms: asked.sloP99Ms * by };
        assert(carried(planOrNull(figures, of, tighter)) <= carried(planOrNull(figures, of, asked)));
      },
    ),
  );
});

test('more held back never gets more keys onto a box', () => {
  fc.assert(
    fc.property(
      figuresOf,
      mixes,
      questions,
      fc.double({ min: 0, max: 0.09, noNaN: true }),
      (figures, of, asked, more) => {
        const safer = { ...asked, headroom: asked.headroom + more };
        assert(carried(planOrNull(figures, of, safer)) <= carried(planOrNull(figures, of, asked)));
      },
    ),
  );
});

test('twice the cost never gets more keys onto a box', () => {
  const doubled = (figures: Measurements): Measurements => ({
    ...figures,
    costs: Object.fromEntries(
      Object.entries(figures.costs).map(([name, { socketThreadMicros, allThreadsMicros }]) => [
        name,
        { socketThreadMicros: socketThreadMicros * 2, allThreadsMicros: allThreadsMicros * 2 },
      ]),
    ),
    memory: {
      ...figures.memory,
      residentBytesPerSession: figures.memory.residentBytesPerSession * 2,
    },
  });
  fc.assert(
    fc.property(figuresOf, mixes, questions, (figures, of, asked) => {
      assert(carried(planOrNull(doubled(figures), of, asked)) <= carried(planOrNull(figures, of, asked)));
    }),
  );
});

test('a busier mix never gets more keys onto a box', () => {
  fc.assert(
    fc.property(figuresOf, mixes, questions, (figures, of, asked) => {
      const lazy = { ...of, busyShare: of.busyShare / 2 };
      assert(carried(planOrNull(figures, of, asked)) <= carried(planOrNull(figures, lazy, asked)));
    }),
  );
});

test('the bottleneck is the one that binds: one more key is too many for it, and for no other before it', () => {
  fc.assert(
    fc.property(figuresOf, mixes, questions, (figures, of, asked) => {
      const plan = planOrNull(figures, of, asked);
      if (plan === null) return;
      const left = ({ capacity, perKey }: Resource, keys: number) => capacity * (1 - asked.headroom) - perKey * keys;
      const slack = 1e-9;
      for (const one of plan.resources) {
        assert(left(one, plan.keysPerBox) >= -slack * one.capacity);
        assert(one.keys >= resource(plan, plan.bottleneck).keys);
      }
      const first = resource(plan, plan.bottleneck);
      assert(left(first, plan.keysPerBox + 1) < slack * first.capacity);
    }),
  );
});
