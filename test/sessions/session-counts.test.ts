import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { OutdatedPartError, type StoredPiece } from '../../src/domain/snapshot-part.ts';
import { SessionCounts } from '../../src/sessions/session-counts.ts';
import { offersViewedRecord, sessionCreatedRecord, subIdBytes } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

const today = Math.floor(new ManualClock().wallMs() / msPerDay);

function openCounts(clock = new ManualClock()) {
  const counts = new SessionCounts(clock);
  let position = 0;
  const create = (keyNumber: number, day = today) => {
    const sub = subIdBytes({ createdMs: day * msPerDay, serial: ++position });
    counts.applyLedgerRecord(sessionCreatedRecord(sub, { keyNumber }), position);
  };
  return { counts, create };
}

function capture(counts: SessionCounts, lastAppendedPosition: number): StoredPiece[] {
  return [...counts.capture({ lastAppendedPosition })].map(({ id, chunks }) => ({
    id,
    bytes: Buffer.concat([...chunks()]),
  }));
}

const list = (counts: SessionCounts) =>
  [...counts.listCounts()].map(({ keyNumber, day, count }) => [keyNumber, day, count]);

describe('SessionCounts', () => {
  it('counts the sessions of each key, from today on', () => {
    const { counts, create } = openCounts();
    for (const keyNumber of [3, 70_000, 3, 1]) create(keyNumber);
    create(3, today - 1);
    create(3, today + 1);
    counts.applyLedgerRecord(
      offersViewedRecord(subIdBytes({ createdMs: today * msPerDay, serial: 99 }), ['offer']),
      99,
    );
    assert.deepEqual(list(counts), [
      [3, today + 1, 1],
      [1, today, 1],
      [3, today, 2],
      [70_000, today, 1],
    ]);
  });

  it('is restored from a snapshot, and ignores the records that the snapshot contains', () => {
    const { counts, create } = openCounts();
    for (const keyNumber of [5, 6, 5]) create(keyNumber);
    const pieces = capture(counts, 3);
    for (const keyNumber of [5, 7]) create(keyNumber);
    const restored = openCounts();
    assert.ok(restored.counts.replayStartTimeMs <= today * msPerDay);
    restored.counts.restore(pieces);
    assert.equal(restored.counts.replayStartTimeMs, Number.POSITIVE_INFINITY);
    for (const keyNumber of [5, 6, 5, 5, 7]) restored.create(keyNumber);
    assert.deepEqual(list(restored.counts), list(counts));
  });

  it('names the content of a snapshot after the number of counted sessions', () => {
    const { counts, create } = openCounts();
    const idOf = () => capture(counts, 0)[0]!.id;
    const first = idOf();
    assert.equal(idOf(), first);
    create(1);
    assert.notEqual(idOf(), first);
  });

  it('is not restored if the clock was set back before the days of the snapshot', () => {
    const clock = new ManualClock();
    const pieces = capture(openCounts(clock).counts, 0);
    clock.setWall(clock.wallMs() - msPerDay);
    assert.throws(() => new SessionCounts(clock).restore(pieces), OutdatedPartError);
  });

  it('forgets days while the clock is wrong, but not today', () => {
    const clock = new ManualClock();
    const { counts, create } = openCounts(clock);
    create(1);
    for (let day = 1; day <= bounds.countedDaysStoredMax; day++) create(1, today + day);
    create(1);
    assert.ok(list(counts).length <= bounds.countedDaysStoredMax);
    assert.deepEqual(list(counts).at(-1), [1, today, 2]);
  });
});
