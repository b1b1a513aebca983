import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { dayMs } from '../../src/domain/calendar.ts';
import { formatSubId } from '../../src/ids/sub-id.ts';
import type { IdempotencyDigests } from '../../src/sessions/idempotency-keys.ts';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { SessionRecovery } from '../../src/sessions/session-recovery.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';

const sessionTtlMs = 4 * 60 * 60 * 1000;

function setUp(t: TestContext, { sessionsMax = 100 } = {}) {
  const clock = new ManualClock();
  const fieldsMax = personalLoans.fields.length;
  const sessions = new MemorySessionStore({
    clock,
    sessionsMax,
    sessionTtlMs,
    fieldsMax,
    shardCount: 4,
    sweepIntervalMs: 60_000,
  });
  t.after(() => sessions.close());
  const keyed: { readonly known: IdempotencyDigests; readonly sub: Uint8Array }[] = [];
  const onIdempotentSession = (known: IdempotencyDigests, sub: Uint8Array) => keyed.push({ known, sub });
  const clicked: Uint8Array[] = [];
  const onClick = (sub: Uint8Array) => clicked.push(sub);
  const restore = new SessionRecovery({
    ...{ clock, sessions, sessionTtlMs, onIdempotentSession, onClick },
    verticals: [personalLoans],
  });
  return { clock, sessions, restore, keyed, clicked, nowMs: clock.wallMs() };
}

describe('RestoreFromLedger', () => {
  it('brings back a live session, without its fields', (t) => {
    const { sessions, restore, nowMs } = setUp(t);
    const sub = subOf({ createdMs: nowMs - 1_000, serial: 1, account: 9, mode: 'test' });
    restore.applyRecord(createdRecord(sub));
    const session = sessions.get(formatSubId(sub))!;
    assert.deepEqual(session.tenant, { account: 9, vertical: personalLoans, mode: 'test' });
    assert.equal(session.createdMs, nowMs - 1_000);
    assert.deepEqual(
      session.fields,
      personalLoans.fields.map(() => -1),
    );
    assert.equal(session.cachedRanking, null);
    assert(session.widgetUsage.shouldCountView(Buffer.alloc(8)));
  });

  it('tells of a session created with an Idempotency-Key, while it is live', (t) => {
    const { restore, keyed, nowMs } = setUp(t);
    const digests = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)];
    const live = subOf({ createdMs: nowMs - 1_000, serial: 1 });
    const over = subOf({ createdMs: nowMs - sessionTtlMs, serial: 2 });
    for (const sub of [live, over]) restore.applyRecord([...createdRecord(sub), ...digests]);
    restore.applyRecord([...createdRecord(subOf({ createdMs: nowMs, serial: 3 })), Buffer.alloc(15), digests[1]]);
    assert.equal(keyed.length, 1);
    const { known, sub } = keyed[0]!;
    assert.deepEqual(sub, live);
    assert.deepEqual([known.key, known.payload], digests);
  });

  it('tells of each click, also of sessions that are over', (t) => {
    const { restore, clicked, nowMs } = setUp(t);
    const [live, over] = [nowMs, nowMs - sessionTtlMs].map((createdMs, serial) => subOf({ createdMs, serial }));
    for (const sub of [live!, over!, live!]) restore.applyRecord(clickedRecord(sub, 'an-offer'));
    for (const bad of [null, 'text', Buffer.alloc(31)]) restore.applyRecord([3, nowMs, bad]);
    assert.deepEqual(clicked, [live, over, live]);
  });

  it('merges what the journal kept into the sessions that are live', (t) => {
    const { sessions, restore, nowMs } = setUp(t);
    const sub = subOf({ createdMs: nowMs - 1_000, serial: 1 });
    restore.applyRecord(createdRecord(sub));
    restore.applyMerge(sub, [0, 7, 2, 3]);
    restore.applyMerge(sub, [0, 8]);
    restore.applyMerge(subOf({ createdMs: nowMs - 1_000, serial: 2 }), [0, 9]);
    assert.deepEqual(sessions.get(formatSubId(sub))!.fields.slice(0, 4), [8, -1, 3, -1]);
    assert.equal(sessions.size, 1);
  });

  it('leaves out what is expired, to the millisecond', (t) => {
    const { sessions, restore, nowMs } = setUp(t);
    const dead = subOf({ createdMs: nowMs - sessionTtlMs, serial: 1 });
    const dying = subOf({ createdMs: nowMs - sessionTtlMs + 1, serial: 2 });
    for (const sub of [dead, dying]) restore.applyRecord(createdRecord(sub));
    assert.equal(sessions.get(formatSubId(dead)), undefined);
    assert(sessions.get(formatSubId(dying)) !== undefined);
  });

  it('needs the records of today and of the sessions still live, whichever reach further back, and an hour of margin', (t) => {
    const hourMs = 60 * 60 * 1000;
    const { clock, sessions } = setUp(t);
    const neededAt = (wallMs: number): number => {
      clock.setWall(wallMs);
      return new SessionRecovery({
        ...{ clock, sessions, sessionTtlMs },
        verticals: [personalLoans],
        onIdempotentSession: () => {},
        onClick: () => {},
      }).replaySinceMs;
    };
    const midnight = Date.UTC(2026, 4, 20);
    assert.equal(neededAt(midnight + 12 * hourMs), midnight - hourMs);
    assert.equal(neededAt(midnight + 3 * hourMs), midnight - hourMs - hourMs);
  });

  it('lets a restored session go when its own four hours are over', (t) => {
    const { clock, sessions, restore, nowMs } = setUp(t);
    restore.applyRecord(createdRecord(subOf({ createdMs: nowMs - sessionTtlMs + 1_000, serial: 1 })));
    assert.equal(sessions.size, 1);
    clock.advance(1_001);
    for (let i = 0; i < 4; i++) sessions.sweepNextShard();
    assert.equal(sessions.size, 0);
  });

  it('shares one tenant among the sessions of an account, vertical and mode', (t) => {
    const { sessions, restore, nowMs } = setUp(t);
    const [one, other] = [1, 2].map((serial) => subOf({ createdMs: nowMs, serial })) as [Buffer, Buffer];
    const test = subOf({ createdMs: nowMs, serial: 3, mode: 'test' });
    for (const sub of [one, other, test]) restore.applyRecord(createdRecord(sub));
    const tenantOf = (sub: Buffer) => sessions.get(formatSubId(sub))!.tenant;
    assert.equal(tenantOf(one), tenantOf(other));
    assert.notEqual(tenantOf(one), tenantOf(test));
  });

  it('counts the sessions each key created on the present UTC day', (t) => {
    const { restore, nowMs } = setUp(t);
    const midnight = nowMs - (nowMs % dayMs);
    const created = (createdMs: number, keyNumber: number, serial: number) =>
      createdRecord(subOf({ createdMs, serial })).with(4, keyNumber);
    restore.applyRecord(created(midnight - 1, 7, 1));
    restore.applyRecord(created(midnight, 7, 2));
    restore.applyRecord(created(nowMs, 7, 3));
    restore.applyRecord(created(nowMs, 8, 4));
    assert.deepEqual(
      [...restore.sessionCountsToday],
      [
        [7, 2],
        [8, 1],
      ],
    );
  });

  it('passes over sessions of a vertical that is not served, views, clicks, and what is no record', (t) => {
    const { sessions, restore, nowMs } = setUp(t);
    const sub = subOf({ createdMs: nowMs, serial: 1 });
    restore.applyRecord(createdRecord(subOf({ createdMs: nowMs, serial: 2, vertical: 99 })));
    restore.applyRecord(viewedRecord(sub, ['offer']));
    restore.applyRecord(clickedRecord(sub, 'offer'));
    for (const noise of [
      null,
      undefined,
      1,
      'text',
      {},
      [],
      [1],
      [1, 'x', sub],
      [1, nowMs, 'sub', 'tag', 1, 0, null],
    ]) {
      restore.applyRecord(noise);
    }
    restore.applyRecord([1, nowMs, sub.subarray(1), 'tag', 1, 0, null]);
    assert.equal(sessions.size, 0);
  });

  it('stops at a full store without dropping anything', (t) => {
    const { sessions, restore, nowMs } = setUp(t, { sessionsMax: 2 });
    const subs = [1, 2, 3].map((serial) => subOf({ createdMs: nowMs, serial }));
    for (const sub of subs) restore.applyRecord(createdRecord(sub));
    assert.equal(sessions.size, 2);
    assert.deepEqual(
      subs.map((sub) => sessions.get(formatSubId(sub)) !== undefined),
      [true, true, false],
    );
  });
});
