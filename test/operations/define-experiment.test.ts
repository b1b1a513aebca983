import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { AnalyticsUnavailableError, type DefinitionCheck } from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import type { ApiRequest } from '../../src/operations/api-operation.ts';
import { type DefineExperimentDeps, defineExperiment } from '../../src/operations/experiments/define-experiment.ts';
import { ExperimentChanges } from '../../src/operations/experiments/experiment-changes.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { liveTenant, secretSetOf } from '../support/identities.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { MemoryAudit } from '../support/memory-audit.ts';
import { openTemporaryLedger, type TemporaryLedger } from '../support/temporary-logs.ts';
import { callOperation, keyNumber, verdictOf } from './bench.ts';

const name = 'hero-test';
const body = {
  arms: ['one-arm', 'two-arm'].map((tag) => ({ referrer_tag: tag, weight: 0.5 })),
  control: 'one-arm',
  unit: 'session',
  starts_on: '2026-05-20',
};
const undefinedExperiment: DefinitionCheck = {
  experiment: null,
  hasSessions: false,
  experimentCount: bounds.experimentsPerTenantMax - 1,
  isTagInUse: false,
};

/** An operation with a real ledger, and with an analytics store whose answer the test determines. */
class Bench {
  readonly ledger: TemporaryLedger;
  readonly audit = new MemoryAudit();
  readonly deps: DefineExperimentDeps;
  check: () => DefinitionCheck | Promise<DefinitionCheck> = () => undefinedExperiment;

  private constructor(ledger: TemporaryLedger) {
    this.ledger = ledger;
    this.deps = {
      clock: new ManualClock(),
      subIds: new SubIds(secretSetOf('ours'), new RandomBytesPool()),
      ledger: ledger.log,
      analytics: { findExperiment: async () => null, checkDefinition: async () => this.check() },
      experimentChanges: new ExperimentChanges(),
      confirmationGraceDays: 7,
      findKeyId: () => 'key_000000000001',
      findAccountName: () => 'acme',
      audit: this.audit.trail,
    };
  }

  static async open(t: TestContext): Promise<Bench> {
    return new Bench(await openTemporaryLedger(t));
  }

  define(request: Partial<ApiRequest> = {}) {
    return callOperation(defineExperiment, this.deps, liveTenant, { texts: { name }, body }, request);
  }

  async verdict(request: Partial<ApiRequest> = {}): Promise<string> {
    return verdictOf(await this.define(request));
  }
}

test('appends a record with the complete definition and the number of the key', async (t) => {
  const bench = await Bench.open(t);
  assert.equal(await bench.verdict(), 'ok');
  const [[kind, wallMs, , recordedName, recordedKey, text], ...others] = (await bench.ledger.records()) as [unknown[]];
  assert.deepEqual(
    [kind, wallMs, recordedName, recordedKey, others],
    [7, bench.deps.clock.wallMs(), name, keyNumber, []],
  );
  assert.deepEqual(JSON.parse(text as string), {
    arms: body.arms.map(({ referrer_tag: referrerTag, weight }) => ({ referrerTag, weight, label: null })),
    control: 'one-arm',
    unit: 'session',
    assignment: 'own',
    startsOn: Date.UTC(2026, 4, 20) / 86_400_000,
    endsOn: null,
    minEffectPercent: null,
    capMicros: null,
    hypothesis: null,
    dimensions: [],
    revenueDays: 45,
    graceDays: 7,
  });
});

test('keeps grace_days and revenue_days of the creation', async (t) => {
  const bench = await Bench.open(t);
  const created = await bench.define();
  assert.ok(created.ok);
  const [[, createdMs, , , , text]] = (await bench.ledger.records()) as [unknown[]];
  const changing = await Bench.open(t);
  const definition = { ...JSON.parse(text as string), control: 'two-arm', graceDays: 3, revenueDays: 7 };
  const experiment = { name, definition, createdMs: createdMs as number, closing: null, isDeleted: false };
  changing.check = () => ({ ...undefinedExperiment, experiment });
  const changed = await changing.define();
  assert.ok(changed.ok);
  assert.deepEqual([changed.value.control, changed.value.grace_days, changed.value.revenue_days], ['one-arm', 3, 7]);
});

test('rejects a new name at the limit of experiments, and appends nothing', async (t) => {
  const bench = await Bench.open(t);
  bench.check = () => ({ ...undefinedExperiment, experimentCount: bounds.experimentsPerTenantMax });
  assert.equal(await bench.verdict(), 'INVALID_REQUEST name');
  assert.equal(bench.ledger.log.lastAppendedPosition, 0);
});

test('returns SERVICE_UNAVAILABLE while the ledger cannot be written, and then continues', async (t) => {
  const bench = await Bench.open(t);
  bench.ledger.breakFiles();
  const first = await bench.define();
  assert.ok(!first.ok);
  // The first record may become durable later.
  assert.deepEqual([first.error.code, first.error.outcomeUnknown], ['SERVICE_UNAVAILABLE', true]);
  // The analytics may lack the first record.
  bench.check = () => assert.fail('the analytics were queried');
  const second = await bench.define();
  assert.ok(!second.ok);
  assert.deepEqual([second.error.code, second.error.outcomeUnknown], ['SERVICE_UNAVAILABLE', undefined]);
  assert.equal(bench.ledger.log.lastAppendedPosition, 1);
  bench.ledger.repairFiles();
  while (!bench.ledger.log.healthy) await new Promise(setImmediate);
  bench.check = () => undefinedExperiment;
  assert.equal(await bench.verdict(), 'ok');
});

test('returns SERVICE_UNAVAILABLE while the analytics are unavailable', async (t) => {
  const bench = await Bench.open(t);
  bench.check = () => Promise.reject(new AnalyticsUnavailableError('stopped'));
  assert.equal(await bench.verdict(), 'SERVICE_UNAVAILABLE');
  bench.check = () => undefinedExperiment;
  assert.equal(await bench.verdict(), 'ok');
});

test('runs one change after the other, skips requests that have ended, and refuses requests when the queue is full', async (t) => {
  const bench = await Bench.open(t);
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  let running = 0;
  let mostRunning = 0;
  bench.check = async () => {
    mostRunning = Math.max(mostRunning, ++running);
    await isReleased;
    running--;
    return undefinedExperiment;
  };
  const ended = bench.verdict({ signal: { ended: true } });
  // Each account has its own limit of changes.
  const waiting = Array.from({ length: bounds.experimentChangesQueuedMax }, (_, account) =>
    bench.verdict({ caller: { ...liveTenant, account, keyNumber } }),
  );
  assert.equal(await bench.verdict(), 'SERVICE_UNAVAILABLE');
  release();
  assert.equal(await ended, 'SERVICE_UNAVAILABLE');
  assert.deepEqual(new Set(await Promise.all(waiting)), new Set(['ok']));
  assert.equal(mostRunning, 1);
  assert.equal((await bench.ledger.records()).length, waiting.length);
});

test('rejects the holes of a sparse list, which only a program that embeds the service can send', async (t) => {
  const bench = await Bench.open(t);
  const arms = [...body.arms];
  arms.length = 3;
  const dimensions = ['page'];
  dimensions.length = 2;
  for (const [param, value] of Object.entries({ arms, dimensions })) {
    const request = { texts: { name }, body: { ...body, [param]: value } };
    const outcome = await callOperation(defineExperiment, bench.deps, liveTenant, request);
    assert.equal(verdictOf(outcome), `INVALID_REQUEST ${param}`);
  }
});
