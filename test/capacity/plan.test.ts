import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CapacityMeasurements, readMeasurements } from '../../bench/capacity/benchmark-result.ts';
import { type CapacityCheckMeasurements, compareMeasurementWithPlan } from '../../bench/capacity/check.ts';
import { CapacityPlanError } from '../../bench/capacity/input-file.ts';
import {
  type CapacityPlan,
  type CapacityTarget,
  planCapacity,
  type ServerResource,
} from '../../bench/capacity/plan.ts';
import { type RouteName, routeNames } from '../../bench/capacity/traffic-mix.ts';
import { mix, near, sampleResult } from './sample-result.ts';

const sample: CapacityMeasurements = readMeasurements(sampleResult(), mix());
const requestFor = (changes: Partial<CapacityTarget> = {}): CapacityTarget => ({
  keys: 10_000,
  slo_p99_ms: 35,
  headroom: 0.2,
  ...changes,
});
/** A traffic mix that only creates sessions, evenly over the day: 8.33 per second for each API key. */
const sessionsOnly = mix({ per_100_sessions: {}, live_peak: 1 });

const resource = (plan: CapacityPlan, name: ServerResource['name']) => plan.resources.find((one) => one.name === name)!;

test('computes the capacity of each resource from the measurements of that resource', () => {
  const plan = planCapacity(sample, sessionsOnly, requestFor());
  near(resource(plan, 'socket-thread').capacity, 25_000);
  near(resource(plan, 'all-cores').capacity, 4e6 / 60);
  // The 99th percentile exceeds 35 ms at 15,000 requests per second. The measured requests cost as much as the requests of the mix.
  near(resource(plan, 'latency').capacity, 15_000);
  near(resource(plan, 'session-ceiling').capacity, 4_000_000);
  near(resource(plan, 'memory').capacity, ((16_384 - 120) * 2 ** 20) / 1_536);
  assert.deepEqual([plan.bottleneck, plan.keys_per_box, plan.boxes], ['latency', 1_440, 7]);
});

test('predicts the load of a server with as many API keys as it can serve', () => {
  const plan = planCapacity(sample, sessionsOnly, requestFor());
  assert.equal(plan.load.keys, 1_440);
  const rate = (1_440 * 500) / 60;
  near(plan.load.requests_per_second, rate);
  near(plan.predicted.p99_ms, 10 + ((rate - 10_000) / 10_000) * 50);
  // At the neighboring points, a request costs 70 and 60 µs of all threads. The routes were measured with 60 µs.
  const costFactor = (70 - (rate - 10_000) / 1_000) / 60;
  near(plan.predicted.socket_thread_cores, (rate * 40 * costFactor) / 1e6);
  near(plan.predicted.all_threads_cores, (rate * 60 * costFactor) / 1e6);
  near(plan.predicted.memory_mib, 120 + (plan.load.live_sessions * 1_536) / 2 ** 20);
});

test('predicts the disk use if the benchmark measured the disk use', () => {
  assert.equal(planCapacity(sample, sessionsOnly, requestFor()).predicted.disk_bytes_per_day, null);
  const measured = { ...sample, diskBytesPerSession: 200 };
  near(planCapacity(measured, sessionsOnly, requestFor()).predicted.disk_bytes_per_day!, 200 * 1_440 * 10_000);
});

test('by default, all sessions of a day are live at once; the plan also counts the keys for an even day', () => {
  const plan = planCapacity(sample, mix({ per_100_sessions: {} }), requestFor({ keys: 100 }));
  // 4,000,000 live sessions, of which 80 % are used, and 10,000 for each key.
  assert.deepEqual([plan.bottleneck, plan.keys_per_box, plan.keys_per_box_if_spread], ['session-ceiling', 320, 1_440]);
  assert.deepEqual([plan.boxes, plan.load.keys], [1, 100]);
});

test('throws if no measured rate meets the latency target', () => {
  const tooSlow =
    /^CapacityPlanError: .*p99 exceeds 3 ms at every measured rate: p99 is 4\.0 ms at the lowest measured rate, 5000 req/;
  assert.throws(() => planCapacity(sample, mix(), requestFor({ slo_p99_ms: 3 })), tooSlow);
});

test('reports the bottleneck if a server cannot serve a single API key', () => {
  const tiny = { ...sample, memory: { ...sample.memory, sessionsMax: 100 } };
  assert.throws(
    () => planCapacity(tiny, mix(), requestFor()),
    /a single API key with this traffic mix; bottleneck: session-ceiling/,
  );
});

test('a capacity plan omits caveats that do not apply to its measurements', () => {
  const caveatsOf = (measurements: CapacityMeasurements, changes: Partial<CapacityTarget> = {}) =>
    planCapacity(measurements, sessionsOnly, requestFor(changes)).beyond_measured.join('\n');
  const plain = caveatsOf(sample);
  assert.match(plain, /^A server has [\d,]+ live sessions; memory was measured with up to 1,000,000/);
  assert.match(plain, /Latency is that of "POST \/session, durable"/);
  assert.doesNotMatch(plain, /quick|ends at|the routes were measured|saturated|not idle/);
  assert.match(caveatsOf({ ...sample, box: { ...sample.box, quick: true } }), /only indicative/);
  assert.match(caveatsOf({ ...sample, loadAverage: 3 }), /not idle .* \(load average 3\.0\)/);
  const short = { ...sample, curve: { ...sample.curve, points: sample.curve.points.slice(0, 3) } };
  assert.match(caveatsOf(short, { slo_p99_ms: 100 }), /ends at 20,000 requests\/s with p99 within 100 ms/);
  const saturated = sample.curve.points.map((point) => ({ ...point, clientSaturated: true }));
  assert.match(caveatsOf({ ...sample, curve: { ...sample.curve, points: saturated } }), /The client .* was saturated/);
  assert.match(caveatsOf({ ...sample, keys: 100 }), /1,440 keys; the routes were measured with 100/);
});

test('throws if the measurements lack a route of the traffic mix', () => {
  assert.throws(() => planCapacity({ ...sample, costs: {} }, mix(), requestFor()), /lack the route session/);
});

const checkedPlan = planCapacity(sample, mix(), requestFor({ keys: 1_000 }));
const asPlanned: CapacityCheckMeasurements = {
  seconds: 60,
  keys: 700,
  live_sessions: 100_000,
  resident_mib: 900,
  offered_per_second: checkedPlan.load.requests_per_second,
  refused: 0,
  failed: 0,
  client_saturated: false,
  machine_idle_share: 0.3,
  measured: {
    rate: checkedPlan.load.requests_per_second,
    p99: 20,
    'socket-thread': checkedPlan.predicted.socket_thread_cores * 2,
    'all-threads': checkedPlan.predicted.all_threads_cores / 2,
    memory: 120 + (100_000 * 1_536) / 2 ** 20,
  },
};
const compare = (measured: CapacityCheckMeasurements) => compareMeasurementWithPlan(checkedPlan, sample, measured);
const withMeasured = (changes: Partial<CapacityCheckMeasurements['measured']>) => ({
  measured: { ...asPlanned.measured, ...changes },
});

test('computes the error of the prediction in percent of the measurement', () => {
  const errors = Object.fromEntries(
    compare(asPlanned).figures.map(({ figure, error_percent: error }) => [figure, Math.round(error!)]),
  );
  const p99 = Math.round((checkedPlan.predicted.p99_ms / 20 - 1) * 100);
  assert.deepEqual(errors, { rate: 0, p99, 'socket-thread': -50, 'all-threads': 100, memory: 0 });
});

test('the prediction error is null for a value that the operating system does not report', () => {
  const unreported = withMeasured({ 'socket-thread': null, 'all-threads': null, memory: null });
  const { figures, verdict } = compare({ ...asPlanned, ...unreported });
  assert.deepEqual(
    figures.filter(({ error_percent: error }) => error === null).map(({ figure }) => figure),
    ['socket-thread', 'all-threads', 'memory'],
  );
  assert.equal(verdict, 'met');
});

for (const [name, changes] of [
  ['a refused request', { refused: 1 }],
  ['a failed request', { failed: 1 }],
  ['a 99th percentile above the target', withMeasured({ p99: 35.1 })],
  ['a backlog at the end', withMeasured({ rate: checkedPlan.load.requests_per_second * 0.97 })],
] as const) {
  test(`a capacity check fails because of ${name}, but is inconclusive if the client or the machine was saturated`, () => {
    const verdictWith = (more: Partial<CapacityCheckMeasurements>) =>
      compare({ ...asPlanned, ...changes, ...more }).verdict;
    assert.equal(verdictWith({}), 'missed');
    assert.equal(verdictWith({ client_saturated: true }), 'inconclusive');
    assert.equal(verdictWith({ machine_idle_share: 0.02 }), 'inconclusive');
  });
}

test('a capacity check that meets the target on a saturated machine is met', () => {
  const starved = { ...asPlanned, client_saturated: true, machine_idle_share: 0 };
  assert.equal(compare(starved).verdict, 'met');
});

const positive = (max: number) => fc.double({ min: 0.01, max, noNaN: true });
const cost = fc.record({ socketThreadMicros: positive(500), allThreadsMicros: positive(1_000) });
const measurementsArbitrary = fc
  .record({
    costs: fc.record(Object.fromEntries(routeNames.map((name) => [name, cost])) as Record<RouteName, typeof cost>),
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
    ({ costs, cores, points, ...memory }): CapacityMeasurements => ({
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
    per_100_sessions: fc.record(Object.fromEntries(routeNames.slice(1).map((name) => [name, share]))),
    busy_share: fc.double({ min: 0.001, max: 1, noNaN: true }),
    live_peak: fc.double({ min: 1, max: 24, noNaN: true }),
  })
  .map((file) => mix(file));
const requests = fc.record({
  keys: fc.integer({ min: 1, max: 1_000_000 }),
  slo_p99_ms: positive(600),
  headroom: fc.double({ min: 0, max: 0.9, noNaN: true }),
});

type PlanArguments = Parameters<typeof planCapacity>;

function planOrNull(...[measurements, of, request]: PlanArguments): CapacityPlan | null {
  try {
    return planCapacity(measurements, of, request);
  } catch (error) {
    if (error instanceof CapacityPlanError) return null;
    throw error;
  }
}

const keysPerBox = (plan: CapacityPlan | null) => plan?.keys_per_box ?? 0;

test('a plan for more API keys never has fewer servers, and the planned servers can serve all keys', () => {
  fc.assert(
    fc.property(measurementsArbitrary, mixes, requests, fc.nat(1_000_000), (measurements, of, request, more) => {
      const few = planOrNull(measurements, of, request);
      const many = planOrNull(measurements, of, { ...request, keys: request.keys + more });
      assert.equal(few === null, many === null);
      if (few === null || many === null) return;
      assert(many.boxes >= few.boxes);
      assert(few.boxes * few.load.keys >= request.keys && few.load.keys <= few.keys_per_box);
    }),
  );
});

function doubleCost(data: CapacityMeasurements): CapacityMeasurements {
  const costs = Object.entries(data.costs).map(
    ([name, { socketThreadMicros: socket, allThreadsMicros: all }]) =>
      [name, { socketThreadMicros: socket * 2, allThreadsMicros: all * 2 }] as const,
  );
  const residentBytesPerSession = data.memory.residentBytesPerSession * 2;
  return { ...data, costs: Object.fromEntries(costs), memory: { ...data.memory, residentBytesPerSession } };
}

for (const [name, makeHarder] of [
  [
    'a lower latency target',
    ([data, of, request], by) => [data, of, { ...request, slo_p99_ms: request.slo_p99_ms * by }],
  ],
  ['a larger headroom', ([data, of, request], by) => [data, of, { ...request, headroom: request.headroom + by / 11 }]],
  ['twice the cost per request', ([data, of, request]) => [doubleCost(data), of, request]],
  [
    'a traffic mix with more busy keys',
    ([data, of, request]) => [data, { ...of, busyShare: of.busyShare * 2 }, request],
  ],
] as readonly (readonly [string, (easy: PlanArguments, by: number) => PlanArguments])[]) {
  test(`a plan with ${name} never has more API keys per server than the original plan`, () => {
    fc.assert(
      fc.property(
        fc.tuple(measurementsArbitrary, mixes, requests),
        fc.double({ min: 0.01, max: 1, noNaN: true }),
        (easy, by) => assert(keysPerBox(planOrNull(...makeHarder(easy, by))) <= keysPerBox(planOrNull(...easy))),
      ),
    );
  });
}

test('the resource that allows the fewest API keys per server is the bottleneck', () => {
  fc.assert(
    fc.property(measurementsArbitrary, mixes, requests, (measurements, of, request) => {
      const plan = planOrNull(measurements, of, request);
      if (plan === null) return;
      const left = ({ capacity, per_key: perKey }: ServerResource, keys: number) =>
        capacity * (1 - request.headroom) - perKey * keys;
      const slack = 1e-9;
      for (const one of plan.resources) {
        assert(left(one, plan.keys_per_box) >= -slack * one.capacity);
        assert(one.keys >= resource(plan, plan.bottleneck).keys);
      }
      const first = resource(plan, plan.bottleneck);
      assert(left(first, plan.keys_per_box + 1) < slack * first.capacity);
    }),
  );
});
