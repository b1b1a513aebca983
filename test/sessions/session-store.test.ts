import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { formatSubId } from '../../src/ids/sub-id.ts';
import type { CachedRanking } from '../../src/sessions/ranking-arena.ts';
import type { Session } from '../../src/sessions/session.ts';
import { SessionStore } from '../../src/sessions/session-store.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { liveTenant, subIdAt, testTenant } from '../support/identities.ts';
import { subIdBytes } from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { collectGarbage, memoryBesideHeap } from './collect-garbage.ts';
import { openSessionStore, sessionTtlMs } from './open-session-store.ts';
import { rankedOf } from './ranked-of.ts';

const leaseTenant: Tenant = { account: 7, vertical: equipmentLeases, mode: 'live' };
const tenants = [liveTenant, testTenant, leaseTenant];
const verticals = [liveTenant.vertical, equipmentLeases];
const fieldsMax = Math.max(...verticals.map(({ fields }) => fields.length));

function openStore(t: TestContext, options: Parameters<typeof openSessionStore>[1] = {}) {
  const { clock, sessions: store } = openSessionStore(t, { verticals, ...options });
  return { clock, store, newId: () => subIdAt(clock.wallMs()) };
}

/** Adds sessions until the store is full. Returns their ids. */
function fill(store: SessionStore, newId: () => string): string[] {
  const ids: string[] = [];
  while (store.tryMakeRoom()) {
    ids.push(newId());
    store.add(ids.at(-1)!);
  }
  return ids;
}

const emptyFields = ({ vertical }: Tenant): number[] => vertical.fields.map(() => -1);
const load = Buffer.alloc(8, 1);

/** Expected state of a session. */
interface Expected {
  readonly id: string;
  readonly createdMs: number;
  readonly tenant: Tenant;
  /** Handle that was read when the session was added. */
  readonly handle: Session;
  fields: number[];
  revision: number;
  ranked: CachedRanking | null;
  widgetUsed: boolean;
}

function assertIs(session: Session, expected: Expected): void {
  assert.deepEqual(session.tenant, expected.tenant);
  assert.equal(session.createdMs, expected.createdMs);
  assert.deepEqual(session.pocketFields, expected.fields);
  assert.equal(session.fieldsRevision, expected.revision);
  assert.deepEqual(session.cachedRanking, expected.ranked);
  assert.equal(session.widgetUsage.shouldCountView(load), !expected.widgetUsed);
}

/** Asserts that the handle of a deleted session is empty and cannot be changed. */
function assertDeleted({ handle, tenant, createdMs }: Expected): void {
  assert.equal(handle.mergeFields([0, 99]), null);
  for (const revision of [0, 1, handle.fieldsRevision]) handle.cacheRanking(rankedOf(), revision);
  handle.widgetUsage.markViewCounted(load);
  assert(handle.widgetUsage.shouldCountView(load));
  assert.deepEqual(handle.tenant, tenant);
  assert.equal(handle.createdMs, createdMs);
  assert.deepEqual(handle.pocketFields, emptyFields(tenant));
  assert.equal(handle.cachedRanking, null);
}

const step = fc.record({
  kind: fc.constantFrom('add', 'merge', 'rank', 'add', 'merge', 'rank', 'expire', 'add again', 'use widget'),
  /** Selects a session. */
  pick: fc.nat(9_999),
  /** Number of added sessions. */
  count: fc.integer({ min: 1, max: 24 }),
  /** Time by which the wall clock was set back. */
  backMs: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(50) }),
  /** Whether to use the handle from the creation of the session. */
  usesOldHandle: fc.boolean(),
  changes: fc.array(fc.tuple(fc.nat(fieldsMax - 1), fc.integer({ min: -1, max: 2 ** 31 - 1 })), {
    minLength: 1,
    maxLength: 4,
  }),
  ranked: fc
    .record({
      total: fc.oneof(fc.nat(40), fc.constant(bounds.catalogOffersMax)),
      /** If offers are unavailable, the sort orders contain fewer offers than the total. */
      unavailable: fc.constantFrom(0, 300),
      availableOnly: fc.boolean(),
      offers: fc.array(fc.nat(32_767), { minLength: 1, maxLength: 80 }),
      catalogVersion: fc.constantFrom('aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'),
      rankedOn: fc.nat(9999_12_31),
      unavailableSet: fc.nat(2 ** 31 - 1),
      creditBand: fc.nat(127),
      clickToken: fc.oneof(
        fc.string({ unit: fc.constantFrom(...'AZaz09-_'), maxLength: bounds.clickTokenCharactersMax }),
        fc.constant('_'.repeat(bounds.clickTokenCharactersMax)),
      ),
    })
    .map(({ unavailable, ...options }) => {
      const { ranking, ...others } = rankedOf(options);
      return { ...others, ranking: { ...ranking, total: ranking.total + unavailable } };
    }),
  /** Whether the ranking belongs to another revision of the fields. */
  isLate: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Applies random steps to a session store and to a simple model, which is a list of objects, and compares both. */
class ModelComparison {
  readonly #clock = new ManualClock();
  readonly #store = new SessionStore({ clock: this.#clock, sessionsMax: 10_000, sessionTtlMs, verticals });
  /** Expected sessions in the order of their addition. */
  #sessions: Expected[] = [];
  readonly #deleted: Expected[] = [];
  #serial = 0;

  apply(step: Step): void {
    if (step.kind === 'add') this.#addMany(step);
    else if (step.kind === 'add again') this.#addAgain(step.pick);
    else if (step.kind === 'expire') this.#expire(step.pick);
    else this.#change(step);
    this.#compare(this.#deleted.slice(-8));
  }

  /** Lets all sessions expire and checks that nothing is left. */
  end(): void {
    this.#clock.advance(100);
    this.#expire(this.#sessions.length - 1);
    this.#compare(this.#deleted);
  }

  close(): void {
    this.#store.close();
  }

  #change({ kind, pick, usesOldHandle, changes, ranked, isLate }: Step): void {
    const expected = this.#sessions[pick % this.#sessions.length];
    if (expected === undefined) return;
    const session = usesOldHandle ? expected.handle : this.#store.get(expected.id)!;
    if (kind === 'use widget') {
      session.widgetUsage.markViewCounted(load);
      expected.widgetUsed = true;
    } else if (kind === 'merge') {
      const fieldCount = expected.tenant.vertical.fields.length;
      const inFields = changes.map(([field, value]) => [field % fieldCount, value] as const);
      for (const [field, value] of inFields) expected.fields[field] = value;
      expected.revision++;
      expected.ranked = null;
      const before = session.pocketFields;
      const copy = [...before];
      assert.deepEqual(session.mergeFields(inFields.flat()), expected.fields);
      assert.deepEqual(before, copy);
    } else {
      // The store ignores a ranking of an earlier or later revision of the fields.
      if (!isLate) expected.ranked = ranked;
      session.cacheRanking(ranked, expected.revision + (isLate ? (pick % 2) * 2 - 1 : 0));
    }
    assertIs(session, expected);
  }

  #add(id: string, createdMs: number, tenant: Tenant): void {
    assert.equal(this.#store.get(id), undefined);
    assert(this.#store.tryMakeRoom());
    this.#store.add(id);
    const handle = this.#store.get(id)!;
    this.#sessions.push({
      id,
      createdMs,
      tenant,
      handle,
      fields: emptyFields(tenant),
      revision: 0,
      ranked: null,
      widgetUsed: false,
    });
  }

  #addMany({ count, backMs }: Step): void {
    for (let at = 0; at < count; at++) {
      this.#clock.advance(3);
      const createdMs = this.#clock.wallMs() - backMs;
      const serial = this.#serial++;
      const tenant = tenants[serial % 3]!;
      const { account, mode, vertical } = tenant;
      this.#add(
        formatSubId(subIdBytes({ createdMs, serial, account, vertical: vertical.number, mode })),
        createdMs,
        tenant,
      );
    }
  }

  #addAgain(pick: number): void {
    const again = this.#deleted[pick % this.#deleted.length];
    if (again === undefined || this.#sessions.some(({ id }) => id === again.id)) return;
    this.#add(again.id, again.createdMs, again.tenant);
  }

  /** Selects a session, and deletes all sessions that are expired when the session expires, up to the first live session. */
  #expire(pick: number): void {
    const nowMs = this.#clock.wallMs();
    const lastMs = this.#sessions[pick % this.#sessions.length]?.createdMs ?? 0;
    const firstLive = this.#sessions.findIndex(({ createdMs }) => createdMs > lastMs);
    this.#deleted.push(...this.#sessions.splice(0, firstLive < 0 ? this.#sessions.length : firstLive));
    this.#clock.setWall(lastMs + sessionTtlMs);
    this.#store.deleteExpiredSessions();
    this.#clock.setWall(nowMs);
  }

  #compare(deleted: readonly Expected[]): void {
    for (const expected of deleted) {
      assertDeleted(expected);
      if (!this.#sessions.some(({ id }) => id === expected.id)) assert.equal(this.#store.get(expected.id), undefined);
    }
    assert.equal(this.#store.size, this.#sessions.length);
    for (const expected of this.#sessions) {
      assertIs(this.#store.get(expected.id)!, expected);
      assertIs(expected.handle, expected);
    }
  }
}

describe('SessionStore', () => {
  it('random operations on a session store have the same results as on a list of objects', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
        const comparison = new ModelComparison();
        try {
          for (const each of steps) comparison.apply(each);
          comparison.end();
        } finally {
          comparison.close();
        }
      }),
      { numRuns: 200 },
    );
  });

  for (const sessionsMax of [1, 10, 20_000]) {
    it(`a full store (${sessionsMax} sessions) rejects new sessions and deletes no live session`, (t) => {
      const { clock, store, newId } = openStore(t, { sessionsMax });
      const ids = fill(store, newId);
      assert.equal(ids.length, sessionsMax);
      clock.advance(sessionTtlMs - 1);
      store.deleteExpiredSessions();
      assert.equal(store.tryMakeRoom(), false);
      assert.throws(() => store.add(newId()), RangeError);
      for (const id of ids) assert(store.get(id) !== undefined);
    });
  }

  it('a full store accepts new sessions immediately after the old sessions expired', (t) => {
    const { clock, store, newId } = openStore(t, { sessionsMax: 300 });
    fill(store, newId);
    clock.advance(sessionTtlMs + 1);
    assert.equal(fill(store, newId).length, 300);
  });

  it('deletes many expired sessions in several steps', (t) => {
    const { clock, store, newId } = openStore(t, { sessionsMax: bounds.expiredSessionsPerSweep + 5 });
    fill(store, newId);
    clock.advance(sessionTtlMs);
    store.deleteExpiredSessions();
    assert.equal(store.size, 5);
  });

  it('get ignores an invalid id, and add throws for an invalid id', (t) => {
    const { store } = openStore(t, { sessionsMax: 1 });
    const refuses = (text: string) => {
      assert.equal(store.get(text), undefined);
      assert.throws(() => store.add(text), TypeError);
      assert.equal(store.size, 0);
    };
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 100 }), refuses));
    for (const name of ['__proto__', 'constructor', 'toString', '', '\0', 'sub_', `sub_${'\uffff'.repeat(64)}`]) {
      refuses(name);
    }
  });

  it('when a session expires, its WidgetUsage object is freed', async (t) => {
    const { clock, store, newId } = openStore(t);
    const refs = [0, 1].map(() => {
      const id = newId();
      store.add(id);
      clock.advance(1);
      return new WeakRef(store.get(id)!.widgetUsage);
    });
    const gone = () => refs.map((ref) => ref.deref() === undefined);
    clock.advance(sessionTtlMs - 2);
    store.deleteExpiredSessions();
    await collectGarbage();
    assert.deepEqual(gone(), [true, false]);
    clock.advance(1);
    store.deleteExpiredSessions();
    await collectGarbage();
    assert.deepEqual(gone(), [true, true]);
  });

  it('reuses the memory of replaced rankings, dropped rankings and rankings of expired sessions', async (t) => {
    const { clock, store, newId } = openStore(t, { sessionsMax: 4_000 });
    const before = await memoryBesideHeap();
    const addRankedSessions = (): void => {
      for (const id of fill(store, newId)) {
        for (let revision = 0; revision < 2; revision++) {
          for (let time = 0; time < 2; time++) store.get(id)!.cacheRanking(rankedOf(), revision);
          store.get(id)!.mergeFields([0, 1]);
        }
        store.get(id)!.cacheRanking(rankedOf(), 2);
      }
      clock.advance(sessionTtlMs);
    };
    addRankedSessions();
    const once = (await memoryBesideHeap()) - before;
    for (let round = 0; round < 3; round++) addRankedSessions();
    const taken = (await memoryBesideHeap()) - before;
    assert.ok(taken < 1.5 * once, `${taken} bytes instead of ${once}`);
  });

  it('deletes the cached ranking if the next ranking is too large', (t) => {
    const { store, newId } = openStore(t);
    const id = newId();
    store.add(id);
    const session = store.get(id)!;
    session.cacheRanking(rankedOf(), 0);
    const tooLarge = rankedOf({ clickToken: 'v'.repeat(bounds.clickTokenCharactersMax + 1) });
    assert.throws(() => session.cacheRanking(tooLarge, 0), RangeError);
    assert.equal(session.cachedRanking, null);
    assert.equal(session.mergeFields([0, 1])![0], 1);
  });

  it('mergeFields throws for an invalid field index, and changes no field', (t) => {
    const { store, newId } = openStore(t);
    const [first, second] = [newId(), newId()].map((id) => {
      store.add(id);
      return store.get(id)!;
    });
    for (const field of [-1, fieldsMax, fieldsMax + 1, Number.NaN, 0.5]) {
      assert.throws(() => first!.mergeFields([0, 7, field, 8]), RangeError, String(field));
    }
    for (const session of [first!, second!]) {
      assert.deepEqual(session.pocketFields, emptyFields(liveTenant));
      assert.equal(session.fieldsRevision, 0);
    }
  });
});
