import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { formatSubId } from '../../src/ids/sub-id.ts';
import type { SessionCreatedRecord } from '../../src/ledger/ledger-record.ts';
import type { IdempotencyDigests } from '../../src/sessions/idempotency-keys.ts';
import { SessionRecovery } from '../../src/sessions/session-recovery.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { openSessionStore, sessionTtlMs } from './open-session-store.ts';

function setUp(t: TestContext, { sessionsMax = 100 } = {}) {
  const { clock, sessions } = openSessionStore(t, { sessionsMax });
  const keyed: { readonly digests: IdempotencyDigests; readonly sub: Uint8Array }[] = [];
  const onIdempotentSession = (digests: IdempotencyDigests, sub: Uint8Array) => keyed.push({ digests, sub });
  const newRecovery = () =>
    new SessionRecovery({ clock, sessions, sessionTtlMs, onIdempotentSession, verticals: [personalLoans] });
  return { clock, sessions, newRecovery, recovery: newRecovery(), keyed, nowMs: clock.wallMs() };
}

describe('SessionRecovery', () => {
  it('restores a live session without its fields', (t) => {
    const { sessions, recovery, nowMs } = setUp(t);
    const sub = subIdBytes({ createdMs: nowMs - 1_000, serial: 1, account: 9, mode: 'test' });
    recovery.applyLedgerRecord(sessionCreatedRecord(sub));
    const session = sessions.get(formatSubId(sub))!;
    assert.deepEqual(session.tenant, { account: 9, vertical: personalLoans, mode: 'test' });
    assert.equal(session.createdMs, nowMs - 1_000);
    assert.deepEqual(
      session.pocketFields,
      personalLoans.fields.map(() => -1),
    );
    assert.equal(session.cachedRanking, null);
    assert(session.widgetUsage.shouldCountView(Buffer.alloc(8)));
  });

  it('restores the Idempotency-Key of a live session', (t) => {
    const { recovery, keyed, nowMs } = setUp(t);
    const digests = [Buffer.alloc(16, 1), Buffer.alloc(16, 2)] as const;
    const live = subIdBytes({ createdMs: nowMs - 1_000, serial: 1 });
    const expired = subIdBytes({ createdMs: nowMs - sessionTtlMs, serial: 2 });
    const invalid = subIdBytes({ createdMs: nowMs, serial: 3 });
    const applyCreated = (sub: Buffer, key: Buffer, payload: Buffer) =>
      recovery.applyLedgerRecord([...sessionCreatedRecord(sub), key, payload] as unknown as SessionCreatedRecord);
    for (const sub of [live, expired]) applyCreated(sub, ...digests);
    applyCreated(invalid, Buffer.alloc(15), digests[1]);
    assert.equal(keyed.length, 1);
    const { digests: restored, sub } = keyed[0]!;
    assert.deepEqual(sub, live);
    assert.deepEqual([restored.key, restored.payload], digests);
  });

  it('restores the counted widget loads and the recorded widget events of a live session', (t) => {
    const { sessions, recovery, nowMs } = setUp(t);
    const sub = subIdBytes({ createdMs: nowMs - 5_000, serial: 1 });
    const view = widgetViewedRecord(sub, ['offer']);
    const report = widgetEventsRecord(sub, ['widget_loaded', 'offers_rendered']);
    for (const record of [sessionCreatedRecord(sub), view, report]) recovery.applyLedgerRecord(record);
    const { widgetUsage } = sessions.get(formatSubId(sub))!;
    const idOf = (number: number) => widgetEventsRecord(sub, ['widget_loaded'], { firstEvent: number })[4];
    assert.equal(widgetUsage.shouldCountView(view[5]!), false);
    assert.deepEqual(
      [1, 2, 3].map((number) => widgetUsage.tryRememberEvent(idOf(number))),
      [false, false, true],
    );
  });

  it('merges the field changes of the journal into live sessions', (t) => {
    const { sessions, recovery, nowMs } = setUp(t);
    const sub = subIdBytes({ createdMs: nowMs - 1_000, serial: 1 });
    recovery.applyLedgerRecord(sessionCreatedRecord(sub));
    recovery.applyFieldChanges(sub, [0, 7, 2, 3]);
    recovery.applyFieldChanges(sub, [0, 8]);
    recovery.applyFieldChanges(subIdBytes({ createdMs: nowMs - 1_000, serial: 2 }), [0, 9]);
    assert.deepEqual(sessions.get(formatSubId(sub))!.pocketFields.slice(0, 4), [8, -1, 3, -1]);
    assert.equal(sessions.size, 1);
  });

  it('does not restore a session at or after its expiry time', (t) => {
    const { sessions, recovery, nowMs } = setUp(t);
    const dead = subIdBytes({ createdMs: nowMs - sessionTtlMs, serial: 1 });
    const dying = subIdBytes({ createdMs: nowMs - sessionTtlMs + 1, serial: 2 });
    for (const sub of [dead, dying]) recovery.applyLedgerRecord(sessionCreatedRecord(sub));
    assert.equal(sessions.get(formatSubId(dead)), undefined);
    assert(sessions.get(formatSubId(dying)) !== undefined);
  });

  it('replayStartTimeMs is one hour before the creation of the oldest live session', (t) => {
    const { newRecovery, nowMs } = setUp(t);
    assert.equal(newRecovery().replayStartTimeMs, nowMs - sessionTtlMs - 60 * 60 * 1000);
  });

  it('creates no session from records of views and clicks, or from a session record of an unknown vertical', (t) => {
    const { sessions, recovery, nowMs } = setUp(t);
    const sub = subIdBytes({ createdMs: nowMs, serial: 1 });
    recovery.applyLedgerRecord(sessionCreatedRecord(subIdBytes({ createdMs: nowMs, serial: 2, vertical: 99 })));
    recovery.applyLedgerRecord(offersViewedRecord(sub, ['offer']));
    recovery.applyLedgerRecord(offerClickedRecord(sub, 'offer'));
    assert.equal(sessions.size, 0);
  });

  it('restores only the oldest sessions if the store cannot hold all sessions', (t) => {
    const { sessions, recovery, nowMs } = setUp(t, { sessionsMax: 2 });
    const subs = [1, 2, 3].map((serial) => subIdBytes({ createdMs: nowMs, serial }));
    for (const sub of subs) recovery.applyLedgerRecord(sessionCreatedRecord(sub));
    assert.equal(sessions.size, 2);
    assert.deepEqual(
      subs.map((sub) => sessions.get(formatSubId(sub)) !== undefined),
      [true, true, false],
    );
  });
});
