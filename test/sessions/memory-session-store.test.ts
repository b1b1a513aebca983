import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import type { Session } from '../../src/sessions/session.ts';
import { emptyPocketVector } from '../../src/verticals/pocket-vector.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { liveTenant } from '../support/tenants.ts';

const sessionTtlMs = 4 * 60 * 60 * 1000;

function openStore(t: TestContext, { sessionsMax = 1_000, parts = 16 } = {}) {
  const clock = new ManualClock();
  const store = new MemorySessionStore({ clock, sessionsMax, sessionTtlMs, parts, sweepMs: 60_000 });
  t.after(() => store.close());
  return { clock, store };
}

function session(createdMs: number): Session {
  return { tenant: liveTenant, createdMs, fields: emptyPocketVector(liveTenant.vertical), ranked: null, widget: null };
}

const newId = (): string => `sub_${randomBytes(32).toString('hex')}`;

/** Adds sessions until the store refuses; the ids of those it took. */
function fill(store: MemorySessionStore, clock: ManualClock): string[] {
  const ids: string[] = [];
  for (let id = newId(); store.add(id, session(clock.wallMs())); id = newId()) ids.push(id);
  return ids;
}

describe('MemorySessionStore', () => {
  it('finds the very session that was added, under its own id only', (t) => {
    const { clock, store } = openStore(t);
    const [id, added] = [newId(), session(clock.wallMs())];
    assert(store.add(id, added));
    assert.equal(store.get(id), added);
    assert.equal(store.get(newId()), undefined);
    assert.equal(store.size, 1);
  });

  it('forgets a session that is deleted, and minds no second time', (t) => {
    const { clock, store } = openStore(t);
    const id = newId();
    store.add(id, session(clock.wallMs()));
    store.delete(id);
    store.delete(id);
    assert.equal(store.get(id), undefined);
    assert.equal(store.size, 0);
  });

  for (const [sessionsMax, parts] of [
    [1, 1],
    [10, 256],
    [2_000, 256],
    [20_000, 16],
  ] as const) {
    it(`holds exactly ${sessionsMax} sessions in ${parts} parts, refuses one more, and drops none of them`, (t) => {
      const { clock, store } = openStore(t, { sessionsMax, parts });
      const ids = fill(store, clock);
      assert.equal(ids.length, sessionsMax);
      assert.equal(store.size, sessionsMax);
      clock.advance(sessionTtlMs - 1);
      for (let i = 0; i < parts; i++) store.sweepNextPart();
      assert.equal(store.add(newId(), session(clock.wallMs())), false);
      for (const id of ids) assert(store.get(id) !== undefined);
    });
  }

  it('holds its number also when too many ids fall on the same part', (t) => {
    const { clock, store } = openStore(t, { sessionsMax: 500, parts: 16 });
    for (let serial = 0; serial < 500; serial++) {
      assert(store.add(`sub_${serial.toString(16).padStart(64, '0')}`, session(clock.wallMs())));
    }
    assert.equal(store.add(newId(), session(clock.wallMs())), false);
    assert.equal(store.size, 500);
  });

  it('has room again after a session is deleted', (t) => {
    const { clock, store } = openStore(t, { sessionsMax: 5 });
    const [first] = fill(store, clock);
    store.delete(first!);
    assert(store.add(newId(), session(clock.wallMs())));
  });

  it('drops a session when its time is over, to the millisecond, however often it was asked for', (t) => {
    const { clock, store } = openStore(t, { parts: 1 });
    const id = newId();
    store.add(id, session(clock.wallMs() - 1_000));
    clock.advance(sessionTtlMs - 1_001);
    store.sweepNextPart();
    assert(store.get(id) !== undefined);
    clock.advance(1);
    store.sweepNextPart();
    assert.equal(store.get(id), undefined);
    assert.equal(store.size, 0);
  });

  it('drops expired sessions when its parts are swept, and live ones never', (t) => {
    const { clock, store } = openStore(t, { sessionsMax: 500, parts: 32 });
    const addSome = () =>
      Array.from({ length: 200 }, () => {
        const id = newId();
        store.add(id, session(clock.wallMs()));
        return id;
      });
    addSome();
    clock.advance(sessionTtlMs / 2);
    const younger = addSome();
    clock.advance(sessionTtlMs / 2 + 1);
    for (let i = 0; i < 32; i++) store.sweepNextPart();
    assert.equal(store.size, 200);
    for (const id of younger) assert(store.get(id) !== undefined);
  });

  for (const parts of [1, 256]) {
    it(`makes room for a new session as soon as an old one is expired, in ${parts} parts`, (t) => {
      const { clock, store } = openStore(t, { sessionsMax: 10, parts });
      fill(store, clock);
      clock.advance(sessionTtlMs + 1);
      assert(store.add(newId(), session(clock.wallMs())));
    });
  }

  it('refills with as many sessions once all of them are expired', (t) => {
    const { clock, store } = openStore(t, { sessionsMax: 300, parts: 64 });
    fill(store, clock);
    clock.advance(sessionTtlMs + 1);
    for (let i = 0; i < 64; i++) store.sweepNextPart();
    assert.equal(store.size, 0);
    assert.equal(fill(store, clock).length, 300);
  });

  it('takes any text for an id', (t) => {
    const { clock, store } = openStore(t);
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 100 }), (text) => {
        assert.equal(store.get(text), undefined);
        store.delete(text);
        assert(store.add(text, session(clock.wallMs())));
        assert(store.get(text) !== undefined);
        store.delete(text);
      }),
    );
    for (const name of ['__proto__', 'constructor', 'toString', '', '\0', 'sub_', `sub_${'\uffff'.repeat(64)}`]) {
      assert.equal(store.get(name), undefined);
    }
    assert.equal(store.size, 0);
  });

  it('is empty once closed, and may be closed again', (t) => {
    const { clock, store } = openStore(t, { sessionsMax: 10 });
    const ids = fill(store, clock);
    store.close();
    store.close();
    assert.equal(store.size, 0);
    assert.equal(store.get(ids[0]!), undefined);
  });
});
