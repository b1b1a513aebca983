import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import { experimentOutcomes } from '../../src/experiments/experiment.ts';
import type { ExperimentClosedRecord, ExperimentDeletedRecord } from '../../src/ledger/ledger-record.ts';
import { experimentDefinedRecord, sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';
import { archiveDays } from './archive-days.ts';
import { ProjectedStore } from './projected-store.ts';
import { noon } from './sample-query.ts';

const tenant = { account: 1, vertical: 1, mode: 'live' as const };
const subAt = (createdMs: number, owner: { account?: number; vertical?: number; mode?: ApiKeyMode } = {}) =>
  subIdBytes({ createdMs, serial: 0, ...owner });
const outcome = { outcome: 'ship', arm: 'tag-two', note: null, results: { name: 'hero' } };
const closed = (value: unknown = outcome): ExperimentClosedRecord => [
  8,
  noon + 2,
  subAt(noon + 2),
  'hero',
  5,
  JSON.stringify(value),
];
const deleted: ExperimentDeletedRecord = [9, noon + 3, subAt(noon + 3), 'hero', 5];

describe('experiments in the analytics store', () => {
  let projected: ProjectedStore;
  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const find = (name = 'hero', owner: object = {}) => projected.store.findExperiment({ ...tenant, ...owner, name });
  const list = (query: object = {}) =>
    projected.store.listExperiments({ ...tenant, afterName: '', limit: 100, ...query });
  const ignored = () => projected.store.getTotals().unsoundExperiments;

  it('keeps the time of the first definition and the content of the last', () => {
    projected.apply(
      experimentDefinedRecord(subAt(noon), 'hero', { hypothesis: 'first' }),
      experimentDefinedRecord(subAt(noon + msPerDay), 'hero', { hypothesis: 'second' }),
    );
    projected.reopen();
    assert.equal(find()?.createdMs, noon);
    assert.equal(find()?.definition.hypothesis, 'second');
  });

  it('counts the experiments of all accounts by state, without the deleted ones', () => {
    const today = Math.floor(noon / msPerDay);
    const owners = [{ account: 2 }, { vertical: 2 }, { mode: 'test' }] as const;
    projected.apply(
      ...owners.map((owner) => experimentDefinedRecord(subAt(noon, owner), 'hero', {})),
      experimentDefinedRecord(subAt(noon), 'over', { endsOn: today - 1 }),
      experimentDefinedRecord(subAt(noon), 'hero', {}),
      closed(),
    );
    const count = () => projected.store.countExperiments(today);
    assert.deepEqual(count(), { running: 3, maturing: 1, final: 0, closed: 1 });
    projected.apply(deleted);
    assert.deepEqual(count(), { running: 3, maturing: 1, final: 0, closed: 0 });
  });

  it('separates the experiments of accounts, verticals and modes', () => {
    const owners = [{ account: 2 }, { vertical: 2 }, { mode: 'test' }] as const;
    projected.apply(
      ...[{}, ...owners].map((owner, index) =>
        experimentDefinedRecord(subAt(noon + index, owner), 'hero', { hypothesis: String(index) }),
      ),
    );
    for (const [index, owner] of [{}, ...owners].entries()) {
      assert.equal(find('hero', owner)?.definition.hypothesis, String(index));
      assert.equal(list(owner).experiments.length, 1);
    }
    assert.equal(find('hero', { account: 3 }), null);
  });

  it('closes an experiment once, and then changes it no more', () => {
    projected.apply(experimentDefinedRecord(subAt(noon), 'hero', { hypothesis: 'first' }), closed());
    assert.deepEqual(find()?.closing, { ...outcome, closedMs: noon + 2, keyNumber: 5 });
    projected.apply(
      closed({ ...outcome, outcome: 'broken' }),
      experimentDefinedRecord(subAt(noon + 4), 'hero', { hypothesis: 'second' }),
    );
    assert.equal(find()?.closing?.outcome, 'ship');
    assert.equal(find()?.definition.hypothesis, 'first');
    assert.equal(ignored(), 2);
  });

  it('accepts every outcome', () => {
    for (const outcomeName of experimentOutcomes) {
      const name = outcomeName.replace('_', '-');
      projected.apply(
        experimentDefinedRecord(subAt(noon), name),
        closed({ ...outcome, outcome: outcomeName }).with(3, name),
      );
      assert.equal(find(name)?.closing?.outcome, outcomeName);
    }
  });

  it('lists experiments in pages, without deleted ones, which can still be found', () => {
    for (const name of ['b-test', 'hero', 'a-test']) projected.apply(experimentDefinedRecord(subAt(noon), name));
    projected.apply(deleted, deleted);
    assert.equal(find()?.isDeleted, true);
    assert.equal(ignored(), 1);
    const first = list({ limit: 1 });
    assert.deepEqual([first.experiments.map(({ name }) => name), first.nextAfterName], [['a-test'], 'a-test']);
    const rest = list({ afterName: 'a-test' });
    assert.deepEqual([rest.experiments.map(({ name }) => name), rest.nextAfterName], [['b-test'], null]);
  });

  it('finds a session of the day of the creation, also after its data was deleted', () => {
    const today = Math.floor(noon / msPerDay);
    const check = (name: string, tags: readonly string[] = []) =>
      projected.store.checkDefinition({ ...tenant, name, tags, today });
    const arms = ['other-one', 'other-two'].map((referrerTag) => ({ referrerTag, weight: 0.5, label: null }));
    projected.apply(
      sessionCreatedRecord(subIdBytes({ createdMs: noon, serial: 1 }), { tag: 'tag-one' }),
      experimentDefinedRecord(subAt(noon), 'hero'),
      experimentDefinedRecord(subAt(noon), 'other', { arms, control: 'other-one' }),
    );
    assert.deepEqual(
      ['hero', 'other', 'none'].map((name) => check(name).hasSessions),
      [false, false, false],
    );
    projected.apply(sessionCreatedRecord(subIdBytes({ createdMs: noon, serial: 2 }), { tag: 'tag-two' }));
    assert.deepEqual(
      ['hero', 'other'].map((name) => check(name).hasSessions),
      [true, false],
    );
    const { store } = projected;
    for (const days of [199, 200]) {
      const later = subIdBytes({ createdMs: noon + days * msPerDay, serial: 3 });
      projected.apply(sessionCreatedRecord(later, { tag: 'later-tag' }));
    }
    while (store.fill.isRunning) store.fill.countSlice(10);
    const retention = archiveDays(store, { today: today + 200, retentionDays: 140, wallMs: noon });
    assert.ok(retention.archived && retention.retainedFromDay > today);
    while (store.retention.hasRowsToPrune) store.retention.pruneRows();
    assert.deepEqual(
      ['hero', 'other'].map((name) => check(name).hasSessions),
      [true, false],
    );
    const { experimentCount, isTagInUse } = check('other', ['tag-one']);
    assert.deepEqual([experimentCount, isTagInUse], [2, true]);
  });

  it('lists the running experiments of all tenants with assignment by hash in pages, also deleted ones', () => {
    const today = Math.floor(noon / msPerDay);
    const hash = { unit: 'visitor', assignment: 'hash' } as const;
    const define = (name: string, change: object, owner: object = {}) =>
      projected.apply(experimentDefinedRecord(subAt(noon, owner), name, { ...hash, ...change }));
    const listed = (query: object = {}) => {
      const page = projected.store.listHashExperiments({ afterNumber: 0, today, ...query });
      return page.map(({ account, vertical, mode, name }) => [account, vertical, mode, name]);
    };
    define('hero', {});
    define('hero', {}, { account: 2, vertical: 3, mode: 'test' });
    define('own-test', { assignment: 'own' });
    define('past-test', { endsOn: today - 1 });
    define('last-day-test', { startsOn: today - 13, endsOn: today });
    define('later-test', { startsOn: today + 1 });
    projected.apply(deleted);
    const running = [
      [1, 1, 'live', 'hero'],
      [2, 3, 'test', 'hero'],
      [1, 1, 'live', 'last-day-test'],
      [1, 1, 'live', 'later-test'],
    ];
    assert.deepEqual(listed(), running);
    projected.apply(closed());
    assert.deepEqual(listed(), running.slice(1));
    assert.deepEqual(listed({ today: today + 1 }), [running[1], running[3]]);

    const { hashExperimentsPerPage } = bounds;
    for (let at = 0; at <= hashExperimentsPerPage; at++) define(`test-${at}`, { hypothesis: `number ${at}` });
    const first = projected.store.listHashExperiments({ afterNumber: 0, today });
    assert.equal(first.length, hashExperimentsPerPage);
    const rest = projected.store.listHashExperiments({ afterNumber: first.at(-1)!.number, today });
    assert.deepEqual(
      [...first, ...rest].slice(3).map(({ name, definition }) => [name, definition.hypothesis]),
      Array.from({ length: hashExperimentsPerPage + 1 }, (_, at) => [`test-${at}`, `number ${at}`]),
    );
    assert.deepEqual(projected.store.listHashExperiments({ afterNumber: rest.at(-1)!.number, today }), []);
  });

  it('ignores invalid records, and closings and deletions of unknown experiments', () => {
    const valid = experimentDefinedRecord(subAt(noon), 'hero');
    const definition = JSON.parse(valid[5]);
    const invalid = [
      valid.with(5, '{'),
      valid.with(5, 'null'),
      ...[
        { arms: [] },
        { arms: definition.arms.slice(1) },
        { control: 'tag-three' },
        { unit: 'click' },
        { startsOn: -1 },
        { capMicros: 0.5 },
        { graceDays: 46 },
      ].map((change) => valid.with(5, JSON.stringify({ ...definition, ...change }))),
      closed(),
      deleted,
    ];
    projected.apply(...invalid);
    assert.equal(ignored(), invalid.length);
    assert.equal(find(), null);
    projected.apply(valid, closed({ ...outcome, outcome: 'won' }), closed({ ...outcome, results: null }));
    assert.equal(ignored(), invalid.length + 2);
    assert.equal(find()?.closing, null);
  });
});
