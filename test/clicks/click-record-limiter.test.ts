import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { ClickRecordLimiter } from '../../src/clicks/click-record-limiter.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { secretSetOf } from '../support/identities.ts';
import { offerClickedRecord } from '../support/ledger-records.ts';

const dayMs = 24 * 60 * 60 * 1000;
const noonMs = Date.UTC(2026, 4, 20, 12);
const subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());

interface Session {
  readonly subId: string;
  readonly sub: Uint8Array;
}

function newSession(createdMs = noonMs): Session {
  const subId = subIds.createSubId(createdMs, 42, 1, 'live');
  return { subId, sub: Uint8Array.from(subIds.toBytes(subId)) };
}

const defaults = {
  clicksRecordedPerLinkMax: 1_000,
  clickCountersMax: 1_000,
  clicksRecordedPerSessionMax: 100,
  sessionClickCells: 4_096,
};

function newLimiter(changes: Partial<typeof defaults>): (session: Session, offerId: string) => boolean {
  const limiter = new ClickRecordLimiter({ ...defaults, ...changes });
  return ({ subId, sub }, offerId) => limiter.tryCountClick(subId, sub, offerId);
}

describe('ClickRecordLimiter', () => {
  it('limits the number of recorded clicks per click link', () => {
    const tryRecord = newLimiter({ clicksRecordedPerLinkMax: 3 });
    const session = newSession();
    for (let i = 0; i < 3; i++) assert(tryRecord(session, 'offer'));
    for (let i = 0; i < 3; i++) assert(!tryRecord(session, 'offer'));
    assert(tryRecord(session, 'another-offer'));
    assert(tryRecord(newSession(), 'offer'));
  });

  it('a link at its click limit keeps its counter as long as visitors click the link', () => {
    const tryRecord = newLimiter({ clicksRecordedPerLinkMax: 1, clickCountersMax: 2 });
    const busy = newSession();
    tryRecord(busy, 'offer');
    for (let i = 0; i < 4; i++) {
      assert(!tryRecord(busy, 'offer'));
      tryRecord(newSession(), 'offer');
    }
  });

  it('limits the recorded clicks of each session independently of other sessions', () => {
    const max = 5;
    const tryRecord = newLimiter({ clickCountersMax: 10, clicksRecordedPerSessionMax: max });
    const sessions = Array.from({ length: 500 }, () => newSession());
    let recorded = 0;
    for (let round = 0; round < 20; round++) {
      for (const session of sessions) if (tryRecord(session, `offer-${round}`)) recorded++;
    }
    assert(recorded <= sessions.length * max);
    // Sessions share counters, but busy sessions hardly affect the others.
    assert(recorded > sessions.length * max * 0.99);
  });

  it('the click counts of the last two days remain after the clock is set back', () => {
    const tryRecord = newLimiter({ clicksRecordedPerSessionMax: 1 });
    const [today, tomorrow] = [newSession(noonMs), newSession(noonMs + dayMs)];
    assert(tryRecord(today, 'offer'));
    assert(tryRecord(tomorrow, 'offer'));
    assert(tryRecord(newSession(noonMs - dayMs), 'offer'));
    assert(!tryRecord(today, 'offer'));
    assert(!tryRecord(tomorrow, 'offer'));
  });

  it('the click counts of a session remain while the clock is wrong by days', () => {
    const tryRecord = newLimiter({ clicksRecordedPerSessionMax: 1 });
    const session = newSession(noonMs);
    assert(tryRecord(session, 'offer'));
    for (const days of [2, 4, -30]) {
      assert(tryRecord(newSession(noonMs + days * dayMs), 'offer'));
      assert(!tryRecord(session, 'offer'));
    }
  });

  it('counts the clicks of sessions by the day of the session, for a limited number of days', () => {
    const tryRecord = newLimiter({ clicksRecordedPerSessionMax: 1, sessionClickCells: 1 });
    assert(tryRecord(newSession(noonMs), 'offer'));
    assert(!tryRecord(newSession(noonMs), 'offer'));
    for (let day = 1; day < bounds.countedDaysStoredMax; day++)
      assert(tryRecord(newSession(noonMs + day * dayMs), 'offer'));
    assert(!tryRecord(newSession(noonMs), 'offer'));
    for (let day = 1; day <= bounds.countedDaysStoredMax; day++) tryRecord(newSession(noonMs + day * dayMs), 'offer');
    assert(tryRecord(newSession(noonMs), 'offer'));
  });

  it('counts clicks that were recorded before a restart towards the limit', () => {
    const limiter = new ClickRecordLimiter({ ...defaults, clicksRecordedPerSessionMax: 3 });
    const { subId, sub } = newSession();
    for (let i = 0; i < 2; i++) limiter.applyLedgerRecord(offerClickedRecord(Buffer.from(sub), 'a'), i + 1);
    assert.deepEqual(
      ['a', 'b', 'c'].map((offerId) => limiter.tryCountClick(subId, sub, offerId)),
      [true, false, false],
    );
  });
});
