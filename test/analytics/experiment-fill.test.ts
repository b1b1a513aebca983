import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  experimentClosedRecord,
  experimentDefinedRecord,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';
import { noon, today } from './sample-query.ts';

const days = 8;
const firstDay = today - days + 1;
const tags = ['tag-one', 'tag-two', 'tag-three'];
const definition = { startsOn: firstDay, revenueDays: 7, capMicros: 60_000_000 };
const threeArms = tags.map((referrerTag) => ({ referrerTag, weight: 1 / 3, label: null }));

const define = (changes: Partial<ExperimentDefinition> = {}) =>
  experimentDefinedRecord(subIdBytes({ createdMs: noon, serial: 0 }), 'hero', { ...definition, ...changes });

/**
 * Yields the records of some sessions of each day, and then of their events. One visitor has several sessions, in different arms. The clock of
 * every fifth session is a day behind, so that the order of days is not the order of positions. Some sessions are misassigned.
 */
function* sessionRecords(sessionsPerDay: number): Generator<LedgerRecord> {
  const subs: Buffer[] = [];
  for (let serial = 1; serial <= days * sessionsPerDay; serial++) {
    const age = days - 1 - Math.floor((serial - 1) / sessionsPerDay) + (serial % 5 === 0 ? 1 : 0);
    const sub = subIdBytes({ createdMs: noon - age * msPerDay + serial, serial });
    subs.push(sub);
    const unit = serial % 11 === 0 ? null : `visitor-${serial % 37 === 0 ? serial : serial % 23}`;
    yield sessionCreatedRecord(sub, {
      tag: tags[serial % 7 === 0 ? 2 : serial % 2]!,
      device: serial % 9 === 0 ? 4 : 0,
      unit,
      isMisassigned: serial % 13 === 0,
    });
  }
  for (const [index, sub] of subs.entries()) {
    yield offersViewedRecord(sub, ['a', 'b']);
    if (index % 2 === 0) yield offerClickedRecord(sub, 'a');
    if (index % 4 === 0) yield revenueConfirmedRecord(sub, 'a', { micros: 1_000_000 + 7_000_000 * (index % 16) });
    if (index % 12 === 0) yield revenueReversedRecord(sub, 'a', { micros: 500_000 });
  }
}

function withoutMark(record: LedgerRecord): LedgerRecord {
  return record[0] === 1 ? (record.slice(0, 10) as unknown as LedgerRecord) : record;
}

describe('experiments that count earlier sessions', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const figures = (store = projected) =>
    store.store.readExperimentFigures({ account: 1, vertical: 1, mode: 'live', name: 'hero', asOf: today + 60 })!
      .figures;
  const finishFill = () => {
    while (projected.store.fill.isRunning) projected.store.fill.countSlice();
  };
  /** Returns the figures of an experiment that has counted every session from the start. */
  const figuresFromStart = (changes: Partial<ExperimentDefinition>, records: Iterable<LedgerRecord>) => {
    const store = new ProjectedStore();
    store.apply(define(changes));
    store.store.fill.countSlice();
    assert.equal(store.store.fill.isRunning, false);
    store.apply(...records);
    const result = figures(store);
    store.close();
    assert.ok(result.days.length > days);
    return result;
  };

  for (const [unit, assignment] of [
    ['session', 'own'],
    ['visitor', 'hash'],
  ] as const) {
    it(`counts them in slices, with ${unit}s as units, while other sessions change`, () => {
      const records = [...sessionRecords(400)];
      const half = Math.floor(records.length / 2);
      // Small batches, which store few sessions in one row.
      for (let at = 0; at < half; at += 40) projected.apply(...records.slice(at, Math.min(half, at + 40)));
      projected.apply(define({ unit, assignment }));
      const progress: number[] = [];
      for (let at = half; projected.store.fill.isRunning; at += 400) {
        projected.store.fill.countSlice();
        progress.push(figures().fillProgress ?? 1);
        // Even after the aggregator is started again, no session is counted twice.
        projected.reopen();
        projected.apply(...records.slice(at, at + 400));
        if (!projected.store.fill.isRunning) projected.apply(...records.slice(at + 400));
      }
      assert.ok(progress.length > (days * 400) / bounds.sessionsFilledPerTransaction - 2);
      assert.deepEqual(
        progress,
        progress.toSorted((a, b) => a - b),
      );
      assert.ok(progress[0]! < 0.2);
      // The marks of sessions that were created before the experiment belong to another one.
      assert.deepEqual(figures(), figuresFromStart({ unit, assignment }, records.map(withoutMark)));
    });

    it(`counts sessions again after a change of the arms, with ${unit}s as units`, () => {
      const records = [...sessionRecords(100)];
      projected.apply(define({ unit, assignment, arms: threeArms.slice(1), control: 'tag-two' }), ...records);
      finishFill();
      projected.apply(define({ unit, assignment, arms: threeArms }));
      assert.deepEqual([figures().days.length, figures().fillProgress], [0, 0]);
      finishFill();
      // The marks of sessions that were created before the change belong to other arms.
      assert.deepEqual(figures(), figuresFromStart({ unit, assignment, arms: threeArms }, records.map(withoutMark)));
    });
  }

  it('keeps its figures if only texts change', () => {
    projected.apply(define(), ...sessionRecords(20));
    finishFill();
    const before = figures();
    projected.apply(
      define({ hypothesis: 'other', arms: threeArms.slice(0, 2).map((arm) => ({ ...arm, label: 'x' })) }),
    );
    assert.equal(projected.store.fill.isRunning, false);
    assert.deepEqual(figures(), before);
  });

  it('counts only sessions since its creation if it starts on that day or later', () => {
    projected.apply(...sessionRecords(20));
    projected.apply(define({ startsOn: today }));
    assert.equal(projected.store.fill.isRunning, false);
    const sub = subIdBytes({ createdMs: noon, serial: 1_000 });
    projected.apply(sessionCreatedRecord(sub));
    assert.deepEqual(
      figures().days.map(({ sums }) => sums.sessions),
      [1],
    );
  });

  it('counts no session after it was closed while earlier sessions were still to be counted', () => {
    const records = [...sessionRecords(100)];
    projected.apply(...records, define());
    projected.store.fill.countSlice();
    projected.apply(experimentClosedRecord(subIdBytes({ createdMs: noon, serial: 0 }), 'hero'));
    projected.apply(sessionCreatedRecord(subIdBytes({ createdMs: noon, serial: 5_000 })));
    finishFill();
    assert.deepEqual(figures(), figuresFromStart({}, records));
  });
});
