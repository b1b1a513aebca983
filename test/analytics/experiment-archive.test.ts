import assert from 'node:assert/strict';
import { copyFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  experimentClosedRecord,
  experimentDefinedRecord,
  experimentDeletedRecord,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { archiveDays } from './archive-days.ts';
import { ProjectedStore } from './projected-store.ts';
import { noon, today } from './sample-query.ts';

const days = 9;
const firstDay = today - days + 1;
const sub = subIdBytes({ createdMs: noon - (days - 1) * msPerDay, serial: 0 });
const define = (changes: Partial<ExperimentDefinition> = {}) =>
  experimentDefinedRecord(sub, 'hero', { startsOn: firstDay - 1, revenueDays: 7, ...changes });

/** Returns the records of sessions of three days and their events. Visitors return on other days, some of them to another arm. */
function recordsOfDays(part: 0 | 1 | 2): LedgerRecord[] {
  return Array.from({ length: 90 }, (_, index): LedgerRecord[] => {
    const serial = part * 90 + index + 1;
    const session = subIdBytes({ createdMs: noon - (days - 1 - Math.floor((serial - 1) / 30)) * msPerDay, serial });
    const unit = serial % 11 === 0 ? null : `${serial % 31}-visitor`;
    const tag = serial % 3 === 0 ? 'tag-two' : 'tag-one';
    return [
      sessionCreatedRecord(session, { tag, unit, isMisassigned: serial % 7 === 0 }),
      offersViewedRecord(session, ['a']),
      offerClickedRecord(session, 'a'),
      ...(serial % 4 === 0 ? [revenueConfirmedRecord(session, 'a', { micros: 1_000_000 * serial })] : []),
      ...(serial % 8 === 0 ? [revenueReversedRecord(session, 'a', { micros: 500_000 })] : []),
    ];
  }).flat();
}

describe('archive of experiments', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const read = () =>
    projected.store.readExperimentFigures({ account: 1, vertical: 1, mode: 'live', name: 'hero', asOf: today + 60 });
  const fill = () => {
    while (projected.store.fill.isRunning) projected.store.fill.countSlice();
  };
  /** Searches few of the 31 visitors at once. Calls `between` after each search that has to be continued. */
  const retainFrom = (day: number, between = (_search: number) => {}) => {
    const request = { today, retentionDays: today - day, wallMs: noon, visitorsMax: 5, recordsMax: 100 };
    let searches = 0;
    for (;;) {
      const result = projected.store.applyRetention(request);
      if (result.archived) break;
      assert.equal(result.reason, null);
      between(++searches);
    }
    assert.equal(projected.archive.firstRetainedDay, day);
    while (projected.store.retention.hasRowsToPrune) projected.store.retention.pruneRows();
  };

  /** Copies the file of the store. Returns a function that replaces the store with the copy; the archive stays as it is. */
  const copyStore = () => {
    const copy = `${projected.file}.copy`;
    projected.store.close();
    copyFileSync(projected.file, copy);
    projected.reopen();
    return () => {
      projected.store.close();
      copyFileSync(copy, projected.file);
      projected.reopen();
    };
  };

  /** Three ledger segments of three days each. The first one starts with the definition, and the second one ends with a change of it. */
  const createSegments = (changes: Partial<ExperimentDefinition>, end: readonly LedgerRecord[] = []) => {
    const parts = [
      [define({ ...changes, capMicros: 1 }), ...recordsOfDays(0)],
      [...recordsOfDays(1), define(changes)],
      [...recordsOfDays(2), ...end],
    ];
    let first = 1;
    return parts.map((records) => {
      const segment = { first, records };
      first += records.length;
      return segment;
    });
  };

  for (const [unit, assignment] of [
    ['session', 'own'],
    ['visitor', 'hash'],
  ] as const) {
    for (const [name, keptSegments] of [
      ['the whole ledger', 3],
      ['the ledger without the segments of deleted sessions', 1],
    ] as const) {
      it(`keeps the figures after the deletion of sessions and a rebuild from ${name}, with ${unit}s as units`, () => {
        const segments = createSegments({ unit, assignment });
        for (const { first, records } of segments) {
          projected.applyIn(first, ...records);
          fill();
        }
        const before = read();
        assert.ok(before!.figures.days.length > days);
        const hasMismatches = before!.figures.days.some(({ assignmentMismatches }) => assignmentMismatches > 0);
        assert.equal(hasMismatches, assignment === 'hash');
        // Two archive segments. Visitors of the first return on days of the second.
        retainFrom(firstDay + 3);
        retainFrom(firstDay + 6);
        assert.equal(projected.archive.ledgerStartPosition, segments[2]!.first);
        assert.deepEqual(read(), before);
        const kept = segments.slice(-keptSegments);
        projected.rebuild(kept[0]!.first - 1);
        for (const { first, records } of kept) {
          projected.applyIn(first, ...records);
          fill();
        }
        assert.deepEqual(read(), before);
      });
    }

    it(`archives sessions of old days that are added during the search, with ${unit}s as units`, () => {
      const segments = createSegments({ unit, assignment });
      for (const { first, records } of segments) projected.applyIn(first, ...records);
      fill();
      const { first } = segments[2]!;
      const added = (serial: number, name: string) =>
        sessionCreatedRecord(subIdBytes({ createdMs: noon - (days - 1) * msPerDay, serial }), { unit: name });
      let searches = 0;
      retainFrom(firstDay + 3, (search) => {
        searches = search;
        // A new visitor before and one after the searched part, and one who is known, but had no session on the first day.
        for (const [index, name] of ['!', '~', '30-visitor'].entries())
          projected.applyIn(first, added(1_000 + 10 * search + index, index === 2 ? name : `${name}${search}`));
      });
      assert.equal(searches > 2, unit === 'visitor');
      const before = read();
      projected.rebuild(first - 1);
      projected.applyIn(first, ...segments[2]!.records);
      fill();
      // The middle segment was deleted too, so only the archived days are the same.
      const archivedDays = (found: typeof before) => found!.figures.days.filter(({ day }) => day < firstDay + 3);
      assert.deepEqual(archivedDays(read()), archivedDays(before));
    });

    it(`replaces archived days in a store that is older than the archive, with ${unit}s as units`, () => {
      const segments = createSegments({ unit, assignment });
      for (const { first, records } of segments) projected.applyIn(first, ...records);
      fill();
      const before = read();
      const restoreCopy = copyStore();
      retainFrom(firstDay + 4);
      restoreCopy();
      fill();
      assert.deepEqual(read(), before);
    });
  }

  it('restores an experiment in a store that is older than its definition', () => {
    const sessions = [0, 1, 2].flatMap((part) => recordsOfDays(part as 0));
    projected.apply(...sessions);
    const restoreCopy = copyStore();
    projected.apply(define());
    fill();
    const before = read();
    retainFrom(firstDay + 4);
    restoreCopy();
    fill();
    assert.deepEqual(read(), before);
  });

  it('restores the definition of an experiment that has no archived days', () => {
    const segments = createSegments({ startsOn: firstDay + 7 });
    for (const { first, records } of segments) projected.applyIn(first, ...records);
    fill();
    const before = read();
    retainFrom(firstDay + 6);
    projected.rebuild(segments[2]!.first - 1);
    projected.applyIn(segments[2]!.first, ...segments[2]!.records);
    fill();
    assert.deepEqual(read(), before);
  });

  it('restores the deletion of an experiment after its ledger record is deleted, and applies a later closing', () => {
    const segments = createSegments({ endsOn: firstDay + 2 }, [experimentClosedRecord(sub, 'hero')]);
    segments[1]!.records.push(experimentDeletedRecord(sub, 'hero'));
    segments[2]!.first++;
    for (const { first, records } of segments) projected.applyIn(first, ...records);
    fill();
    const before = read();
    assert.deepEqual([before!.experiment.closing?.outcome, before!.experiment.isDeleted], ['no_decision', true]);
    retainFrom(firstDay + 6);
    projected.rebuild(segments[2]!.first - 1);
    projected.applyIn(segments[2]!.first, ...segments[2]!.records);
    fill();
    assert.deepEqual(read(), before);
  });

  it('restores the closing of an experiment after its ledger record is deleted', () => {
    const segments = createSegments({ endsOn: firstDay + 2 });
    segments[1]!.records.push(experimentClosedRecord(sub, 'hero'));
    segments[2]!.first++;
    for (const { first, records } of segments) projected.applyIn(first, ...records);
    fill();
    const before = read();
    assert.equal(before!.experiment.closing?.outcome, 'no_decision');
    retainFrom(firstDay + 6);
    projected.rebuild(segments[2]!.first - 1);
    projected.applyIn(segments[2]!.first, ...segments[2]!.records);
    fill();
    assert.deepEqual(read(), before);
  });

  it('archives no days while earlier sessions are counted', () => {
    const segments = createSegments({});
    for (const { first, records } of segments) projected.applyIn(first, ...records);
    const request = { today, retentionDays: 3, wallMs: noon };
    archiveDays(projected.store, request);
    assert.equal(projected.archive.firstRetainedDay, 0);
    fill();
    archiveDays(projected.store, request);
    assert.equal(projected.archive.firstRetainedDay, today - 3);
  });
});
