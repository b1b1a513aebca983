import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { formatSubId } from '../../src/ids/sub-id.ts';
import type { MemorySessionStore } from '../../src/sessions/memory-session-store.ts';
import { liveTenant, subIdAt, testTenant } from '../support/identities.ts';
import { subIdBytes } from '../support/ledger-records.ts';
import { openSessionStore, sessionTtlMs } from './open-session-store.ts';

function openStore(t: TestContext, options: Parameters<typeof openSessionStore>[1] = {}) {
  const { clock, sessions: store } = openSessionStore(t, options);
  return { clock, store, newId: () => subIdAt(clock.wallMs()) };
}

/** Adds sessions until the store is full. Returns their ids. */
function fill(store: MemorySessionStore, newId: () => string): string[] {
  const ids: string[] = [];
  for (let id = newId(); store.add(id, liveTenant); id = newId()) ids.push(id);
  return ids;
}

describe('MemorySessionStore', () => {
  it('adding a session whose id is already stored changes nothing', (t) => {
    const { store, newId } = openStore(t, { sessionsMax: 2 });
    const id = newId();
    assert(store.add(id, liveTenant));
    store.get(id)!.mergeFields([0, 7]);
    assert(store.add(id, testTenant));
    assert.equal(store.get(id)!.tenant, liveTenant);
    assert.equal(store.get(id)!.pocketFields[0], 7);
    assert.equal(store.size, 1);
    assert(store.add(newId(), liveTenant));
  });

  it('deleting a session twice frees the space of only one session', (t) => {
    const { store, newId } = openStore(t, { sessionsMax: 5 });
    const [first] = fill(store, newId);
    store.delete(first!);
    store.delete(first!);
    assert.equal(store.get(first!), undefined);
    assert.equal(store.size, 4);
    assert(store.add(newId(), liveTenant));
    assert.equal(store.add(newId(), liveTenant), false);
  });

  for (const [sessionsMax, shardCount] of [
    [1, 1],
    [10, 256],
    [2_000, 256],
    [20_000, 16],
  ] as const) {
    it(`a full store (${sessionsMax} sessions, ${shardCount} shards) rejects new sessions and deletes no live session`, (t) => {
      const { clock, store, newId } = openStore(t, { sessionsMax, shardCount });
      const ids = fill(store, newId);
      assert.equal(ids.length, sessionsMax);
      assert.equal(store.size, sessionsMax);
      clock.advance(sessionTtlMs - 1);
      for (let i = 0; i < shardCount; i++) store.sweepNextShard();
      assert.equal(store.add(newId(), liveTenant), false);
      for (const id of ids) assert(store.get(id) !== undefined);
    });
  }

  it('stores the maximum number of sessions even if most ids are in one shard', (t) => {
    const { clock, store, newId } = openStore(t, { sessionsMax: 500, shardCount: 16 });
    for (let serial = 0; serial < 500; serial++) {
      assert(store.add(formatSubId(subIdBytes({ createdMs: clock.wallMs(), serial })), liveTenant));
    }
    assert.equal(store.add(newId(), liveTenant), false);
    assert.equal(store.size, 500);
  });

  it('deletes a session exactly at its expiry time, even if the session was read just before', (t) => {
    const { clock, store } = openStore(t, { shardCount: 1 });
    const id = subIdAt(clock.wallMs() - 1_000);
    store.add(id, liveTenant);
    clock.advance(sessionTtlMs - 1_001);
    store.sweepNextShard();
    assert(store.get(id) !== undefined);
    clock.advance(1);
    store.sweepNextShard();
    assert.equal(store.get(id), undefined);
    assert.equal(store.size, 0);
  });

  for (const shardCount of [1, 64, 256]) {
    it(`a full store with ${shardCount} shards accepts new sessions immediately after the old sessions expired`, (t) => {
      const { clock, store, newId } = openStore(t, { sessionsMax: 300, shardCount });
      fill(store, newId);
      clock.advance(sessionTtlMs + 1);
      assert.equal(fill(store, newId).length, 300);
      clock.advance(sessionTtlMs + 1);
      for (let i = 0; i < shardCount; i++) store.sweepNextShard();
      assert.equal(store.size, 0);
    });
  }

  it('get and delete ignore an invalid id, and add throws for an invalid id', (t) => {
    const { store } = openStore(t, { sessionsMax: 1 });
    const refuses = (text: string) => {
      assert.equal(store.get(text), undefined);
      store.delete(text);
      assert.throws(() => store.add(text, liveTenant), TypeError);
      assert.equal(store.size, 0);
    };
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), refuses));
    for (const name of ['__proto__', 'constructor', 'toString', '', '\0', 'sub_', `sub_${'\uffff'.repeat(64)}`]) {
      refuses(name);
    }
  });

  it('the session store is empty after close', (t) => {
    const { store, newId } = openStore(t, { sessionsMax: 10 });
    const ids = fill(store, newId);
    store.close();
    store.close();
    assert.equal(store.size, 0);
    assert.equal(store.get(ids[0]!), undefined);
    assert.equal(store.add(newId(), liveTenant), false);
    store.delete(ids[0]!);
    store.sweepNextShard();
    assert.equal(store.size, 0);
  });
});
