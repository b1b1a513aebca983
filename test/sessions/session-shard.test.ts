import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { InternTable } from '../../src/sessions/intern-table.ts';
import { RankingArena } from '../../src/sessions/ranking-arena.ts';
import { SessionShard } from '../../src/sessions/session-shard.ts';
import type { CachedRanking, Session } from '../../src/sessions/session-store.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { liveTenant, subIdOfWords, testTenant } from '../support/identities.ts';
import { collectGarbage, memoryBesideHeap } from './collect-garbage.ts';
import { rankedOf } from './ranked-of.ts';

const leaseTenant: Tenant = { account: 7, vertical: equipmentLeases, mode: 'live' };
const tenants = [liveTenant, testTenant, leaseTenant];
const fieldsMax = Math.max(...tenants.map(({ vertical }) => vertical.fields.length));
/** Capacity of a new shard. */
const initialCapacity = 16;

/** Checks that no ranking is leaked, released twice or overwritten. */
class CheckedRankings extends RankingArena {
  readonly inUse = new Set<number>();
  inUseMax = 0;

  override store(ranked: CachedRanking): number {
    const place = super.store(ranked);
    assert(!this.inUse.has(place), 'index is in use');
    this.inUse.add(place);
    this.inUseMax = Math.max(this.inUseMax, this.inUse.size);
    assert(place < this.inUseMax, 'a free index was not reused');
    return place;
  }

  override release(place: number): void {
    assert(this.inUse.delete(place), 'index is not in use');
    super.release(place);
  }
}

function createShard() {
  const shared = { tenants: new InternTable<Tenant>(), rankings: new CheckedRankings(), fieldsMax };
  return { shard: new SessionShard(shared), ...shared };
}

/** Returns the words of an id. `hashed` is its hash in the index, `serial` makes it unique. */
function idOf(serial: number, createdMs: number, hashed = serial): Int32Array {
  const high = Math.floor(createdMs / 0x1_0000);
  return Int32Array.of(high, (createdMs % 0x1_0000) << 16, 1, 0, hashed, serial, 5, 6);
}

const find = (shard: SessionShard, id: Int32Array) => shard.get(id, subIdOfWords(id));

/** A random hash, as of an issued id. */
const scattered = (serial: number): number => createHash('md5').update(`${serial}`).digest().readInt32BE();

/** Adds sessions with increasing creation times and the same hash. Returns their ids. */
function addSessions(shard: SessionShard, from: number, to: number, hashed = -1): Int32Array[] {
  const ids: Int32Array[] = [];
  for (let serial = from; serial < to; serial++) {
    const id = idOf(serial, serial, hashed);
    assert(shard.add(id, liveTenant));
    ids.push(id);
  }
  return ids;
}

const emptyFields = ({ vertical }: Tenant): number[] => vertical.fields.map(() => -1);
const load = Buffer.alloc(8, 1);

/** Limits changes to the fields of the tenant's vertical. */
function inFieldsOf(
  { vertical }: Tenant,
  changes: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  return changes.map(([position, value]) => [position % vertical.fields.length, value]);
}

/** Expected state of a session. */
interface Expected {
  readonly id: Int32Array;
  readonly createdMs: number;
  readonly tenant: Tenant;
  /** Read right after it was added. */
  readonly handle: Session;
  fields: number[];
  revision: number;
  ranked: CachedRanking | null;
  widgetUsed: boolean;
  deleted: boolean;
}

function assertIs(session: Session, expected: Expected): void {
  assert.equal(session.tenant, expected.tenant);
  assert.equal(session.createdMs, expected.createdMs);
  assert.deepEqual(session.fields, expected.fields);
  assert.equal(session.revision, expected.revision);
  assert.deepEqual(session.cachedRanking, expected.ranked);
  if (expected.ranked !== null)
    assert.equal(session.cachedRanking!.unavailableOffers, expected.ranked.unavailableOffers);
  assert.equal(session.widgetUsage.shouldCountView(load), !expected.widgetUsed);
}

/** A handle of a deleted session is empty and cannot be changed. */
function assertDeleted({ handle, tenant, createdMs }: Expected): void {
  assert.equal(handle.mergeFields([0, 99]), null);
  for (const revision of [0, 1, handle.revision]) handle.cacheRanking(rankedOf({}), revision);
  handle.widgetUsage.markViewCounted(load);
  assert(handle.widgetUsage.shouldCountView(load));
  assert.equal(handle.tenant, tenant);
  assert.equal(handle.createdMs, createdMs);
  assert.deepEqual(handle.fields, emptyFields(tenant));
  assert.equal(handle.cachedRanking, null);
}

type Step =
  | { readonly kind: 'add'; readonly count: number; readonly hashed: readonly number[]; readonly back: number }
  | { readonly kind: 'add again' | 'delete' | 'use widget' | 'get' | 'drop up to'; readonly pick: number }
  | { readonly kind: 'merge'; readonly pick: number; readonly old: boolean; readonly changes: [number, number][] }
  | {
      readonly kind: 'rank';
      readonly pick: number;
      readonly old: boolean;
      readonly ranked: CachedRanking;
      readonly late: boolean;
    };

const pick = fc.nat(9_999);
// Few hashes, so that they collide; some of them at the end of an index of any size.
const hashed = fc.constantFrom(0, 1, 2, 15, 30, 31, 63, -1, -2, 0x7fff_ffff, -0x8000_0000);
const rankedWanted = fc
  .record({
    total: fc.constantFrom(0, 1, 5, 20, 1_000),
    offers: fc.array(fc.nat(32_767), { minLength: 1, maxLength: 4 }),
    version: fc.constantFrom('aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'),
    today: fc.nat(9999_12_31),
    creditBand: fc.nat(6),
    sealedValue: fc.string({ unit: fc.constantFrom(...'AZaz09-_'), maxLength: bounds.clickTokenCharactersMax }),
  })
  .map(rankedOf);
const change = fc.tuple(fc.nat(fieldsMax - 1), fc.integer({ min: -1, max: 2 ** 31 - 1 }));

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('add'),
      count: fc.integer({ min: 1, max: 24 }),
      hashed: fc.array(hashed, { minLength: 1, maxLength: 4 }),
      // The wall clock may be set back.
      back: fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(50) }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('delete', 'drop up to'), pick }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('add again', 'use widget', 'get'), pick }) },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('merge'), pick, old: fc.boolean() },
      changes: fc.array(change, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      ...{ kind: fc.constant('rank'), pick, old: fc.boolean(), ranked: rankedWanted },
      late: fc.boolean(),
    }),
  },
) as fc.Arbitrary<Step>;

/** Applies steps to a shard and to a model, a list of objects, and compares them. */
class ModelComparison {
  readonly #context = createShard();
  readonly #shard = this.#context.shard;
  /** In the order of their addition. Deleted ones are included until they would expire. */
  #sessions: Expected[] = [];
  /** Deleted or expired sessions, whose handles still exist. */
  readonly #deleted: Expected[] = [];
  #serial = 0;
  #nowMs = 1_000;

  apply(step: Step): void {
    switch (step.kind) {
      case 'add':
        this.#addMany(step.count, step.hashed, step.back);
        break;
      case 'add again':
        this.#addAgain(step.pick);
        break;
      case 'drop up to':
        this.#dropUpTo(step.pick);
        break;
      case 'delete':
        this.#delete(step.pick);
        break;
      case 'get':
        this.#assertAbsent(idOf(this.#serial, this.#nowMs, 0));
        break;
      case 'use widget':
        this.#onPicked(step.pick, false, (session, expected) => {
          session.widgetUsage.markViewCounted(load);
          expected.widgetUsed = true;
        });
        break;
      case 'merge':
        this.#onPicked(step.pick, step.old, (session, expected) => {
          const changes = inFieldsOf(expected.tenant, step.changes);
          for (const [position, value] of changes) expected.fields[position] = value;
          expected.revision++;
          expected.ranked = null;
          const before = session.fields;
          const copy = [...before];
          assert.deepEqual(session.mergeFields(changes.flat()), expected.fields);
          assert.deepEqual(before, copy);
        });
        break;
      case 'rank':
        this.#onPicked(step.pick, step.old, (session, expected) => {
          // A ranking of another revision, earlier or later, is ignored.
          if (!step.late) expected.ranked = step.ranked;
          session.cacheRanking(step.ranked, expected.revision + (step.late ? (step.pick % 2) * 2 - 1 : 0));
        });
    }
  }

  #live(): Expected[] {
    return this.#sessions.filter((each) => !each.deleted);
  }

  #add(id: Int32Array, createdMs: number, tenant: Tenant): void {
    assert.equal(find(this.#shard, id), undefined);
    assert.equal(this.#shard.add(id, tenant), true);
    const handle = find(this.#shard, id)!;
    this.#sessions.push({
      ...{ id, createdMs, tenant, handle, fields: emptyFields(tenant), revision: 0 },
      ...{ ranked: null, widgetUsed: false, deleted: false },
    });
  }

  #addMany(count: number, hashed: readonly number[], back: number): void {
    for (let at = 0; at < count; at++) {
      this.#nowMs += 3;
      const createdMs = this.#nowMs - back;
      const serial = this.#serial++;
      this.#add(idOf(serial, createdMs, hashed[at % hashed.length]!), createdMs, tenants[serial % 3]!);
    }
    this.#assertSame();
  }

  #addAgain(pick: number): void {
    const all = [...this.#live(), ...this.#deleted];
    const again = all[pick % all.length];
    if (again === undefined) return;
    const { id, createdMs, tenant } = again;
    const isHere = this.#live().some((each) => each.id === id);
    if (isHere) assert.equal(this.#shard.add(id, tenants[(pick + 1) % 3]!), false);
    else this.#add(id, createdMs, tenant);
    this.#assertSame();
  }

  #onPicked(pick: number, old: boolean, act: (session: Session, expected: Expected) => void): void {
    const live = this.#live();
    const expected = live[pick % live.length];
    if (expected === undefined) return;
    const session = old ? expected.handle : find(this.#shard, expected.id)!;
    act(session, expected);
    assertIs(session, expected);
    assertIs(find(this.#shard, expected.id)!, expected);
  }

  #delete(pick: number): void {
    const live = this.#live();
    const expected = live[pick % live.length];
    if (expected === undefined) return;
    assert.equal(this.#shard.delete(expected.id), true);
    assert.equal(this.#shard.delete(expected.id), false);
    expected.deleted = true;
    this.#deleted.push(expected);
    this.#assertSame();
  }

  /** Deletes the sessions created up to the creation of one of them. */
  #dropUpTo(pick: number): void {
    const lastMs = this.#sessions[pick % this.#sessions.length]?.createdMs ?? this.#nowMs;
    let dropped = 0;
    let first = 0;
    for (const each of this.#sessions) {
      if (!each.deleted && each.createdMs > lastMs) break;
      first++;
      if (each.deleted) continue;
      this.#deleted.push(each);
      dropped++;
    }
    this.#sessions = this.#sessions.slice(first);
    assert.equal(this.#shard.deleteCreatedUntil(lastMs), dropped);
    this.#assertSame();
  }

  #assertAbsent(id: Int32Array): void {
    assert.equal(find(this.#shard, id), undefined);
    assert.equal(this.#shard.delete(id), false);
  }

  /** Checks the live sessions and, by default, the sessions deleted last. */
  #assertSame(dropped = this.#deleted.slice(-8)): void {
    const live = this.#live();
    for (const expected of dropped) {
      assertDeleted(expected);
      if (!live.some(({ id }) => id === expected.id)) this.#assertAbsent(expected.id);
    }
    assert.equal(this.#shard.size, live.length);
    for (const expected of live) {
      assertIs(find(this.#shard, expected.id)!, expected);
      assertIs(expected.handle, expected);
    }
    assert.equal(this.#context.tenants.size, new Set(live.map(({ tenant }) => tenant)).size);
    assert.equal(this.#context.rankings.inUse.size, live.filter(({ ranked }) => ranked !== null).length);
  }

  /** Deletes all sessions and checks that nothing is left. */
  end(): void {
    this.#assertSame(this.#deleted);
    this.#shard.deleteCreatedUntil(Number.MAX_SAFE_INTEGER);
    for (const each of this.#live()) this.#deleted.push(each);
    this.#sessions = [];
    this.#assertSame(this.#deleted);
  }
}

describe('SessionShard', () => {
  it('a session shard behaves like a list of objects (random steps)', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
        const comparison = new ModelComparison();
        for (const each of steps) comparison.apply(each);
        comparison.end();
      }),
      { numRuns: 300 },
    );
  });

  it('finds all sessions while the ring grows, wraps and shrinks', () => {
    const { shard } = createShard();
    const held: Int32Array[] = [];
    let serial = 0;
    // Number of sessions: growing, constant while the ring wraps, shrinking.
    for (const level of [100, 3_000, 3_000, 3_000, 4_200, 4_000, 900, 40, 5, 200, 3]) {
      for (let wanted = level; wanted > 0; wanted--) {
        const id = idOf(serial, serial, scattered(serial));
        assert(shard.add(id, liveTenant));
        find(shard, id)!.mergeFields([0, serial++]);
        held.push(id);
      }
      const gone = held.splice(0, Math.max(0, held.length - level));
      assert.equal(shard.deleteCreatedUntil(serial - held.length - 1), gone.length);
      // Each sweep halves the memory at most once.
      for (let sweep = 0; sweep < 12; sweep++) assert.equal(shard.deleteCreatedUntil(-1), 0);
      assert.equal(shard.size, held.length);
      for (const id of held) {
        const session = find(shard, id)!;
        assert.equal(session.fields[0], id[5]);
        assert.equal(session.createdMs, id[5]);
      }
      for (const id of gone) assert.equal(find(shard, id), undefined);
    }
  });

  it('a shard frees memory when most sessions have expired', async () => {
    const { shard } = createShard();
    const before = await memoryBesideHeap();
    for (let serial = 0; serial < 2 ** 16; serial++) shard.add(idOf(serial, serial, scattered(serial)), liveTenant);
    const taken = (await memoryBesideHeap()) - before;
    for (let sweep = 0; sweep < 16; sweep++) shard.deleteCreatedUntil(2 ** 16 - 2);
    assert.equal(shard.size, 1);
    const left = (await memoryBesideHeap()) - before;
    assert(left < taken / 20, `${left} bytes of ${taken} are left`);
    const last = 2 ** 16 - 1;
    assert(find(shard, idOf(last, last, scattered(last))) !== undefined);
  });

  it('finds sessions with the same hash after deletions in any order', () => {
    const orders = fc.shuffledSubarray(
      Array.from({ length: initialCapacity }, (_, at) => at),
      { minLength: initialCapacity },
    );
    // Adjacent hashes, so that probe sequences overlap, also across the end of the index.
    const soughtAt = fc.array(fc.integer({ min: -3, max: 3 }), {
      minLength: initialCapacity,
      maxLength: initialCapacity,
    });
    fc.assert(
      fc.property(orders, soughtAt, (order, places) => {
        const { shard } = createShard();
        const ids = places.map((hashed, serial) => idOf(serial, serial, hashed));
        for (const id of ids) assert(shard.add(id, liveTenant));
        const left = new Set(ids);
        for (const at of order) {
          assert(shard.delete(ids[at]!));
          left.delete(ids[at]!);
          for (const id of ids) assert.equal(find(shard, id) !== undefined, left.has(id));
        }
        assert.equal(shard.size, 0);
      }),
    );
  });

  it('distinguishes session ids that differ in one word', () => {
    const { shard } = createShard();
    const id = idOf(1, 1_000);
    assert(shard.add(id, liveTenant));
    for (let word = 0; word < id.length; word++) {
      const other = id.with(word, id[word]! ^ 0x80);
      assert.equal(find(shard, other), undefined);
      assert.equal(shard.delete(other), false);
    }
    assert.equal(shard.size, 1);
  });

  it('add copies the session id', () => {
    const { shard } = createShard();
    const id = idOf(1, 1_000);
    shard.add(id, liveTenant);
    const session = find(shard, id)!;
    id.fill(0);
    session.mergeFields([0, 5]);
    assert.equal(find(shard, idOf(1, 1_000))!.fields[0], 5);
  });

  it('a session in reused memory has no fields', () => {
    const { shard } = createShard();
    for (let serial = 0; serial < 3 * initialCapacity; serial++) {
      const [id] = addSessions(shard, serial, serial + 1);
      const session = find(shard, id!)!;
      assert.deepEqual(session.fields, emptyFields(liveTenant));
      assert.deepEqual([session.revision, session.cachedRanking], [0, null]);
      assert(session.widgetUsage.shouldCountView(load));
      session.mergeFields(session.fields.flatMap((_, field) => [field, 7]));
      session.cacheRanking(rankedOf({}), 1);
      session.widgetUsage.markViewCounted(load);
      assert.equal(shard.deleteCreatedUntil(serial), 1);
    }
  });

  it('a handle of a deleted session does not change the session that reuses its memory', async () => {
    const { shard, rankings } = createShard();
    const [id] = addSessions(shard, 0, 1);
    const held = find(shard, id!)!;
    held.mergeFields([0, 1]);
    const waiting = new Promise<void>((resolve) => setImmediate(resolve));
    shard.deleteCreatedUntil(0);
    // The ring wraps: another session of the same revision uses the memory.
    const others = addSessions(shard, 1, 1 + initialCapacity).map((other) => find(shard, other)!);
    for (const other of others) other.mergeFields([0, 2]);
    await waiting;
    assert.equal(held.mergeFields([0, 99]), null);
    held.cacheRanking(rankedOf({}), 1);
    held.cacheRanking(rankedOf({}), 0);
    held.widgetUsage.markViewCounted(load);
    assert.deepEqual([held.revision, held.cachedRanking, held.fields], [0, null, emptyFields(liveTenant)]);
    assert.equal(rankings.inUse.size, 0);
    for (const other of others) {
      assert.deepEqual([other.fields[0], other.revision, other.cachedRanking], [2, 1, null]);
      assert(other.widgetUsage.shouldCountView(load));
    }
  });

  it('releases widget usage and tenant together with the session', async () => {
    const { shard } = createShard();
    const [deleted, expired] = [idOf(1, 1_000), idOf(2, 1_000)];
    const refs = [deleted, expired].flatMap((id) => {
      const tenant = { ...liveTenant };
      shard.add(id, tenant);
      return [new WeakRef<object>(tenant), new WeakRef<object>(find(shard, id)!.widgetUsage)];
    });
    const gone = () => refs.map((ref) => ref.deref() === undefined);
    await collectGarbage();
    assert.deepEqual(gone(), [false, false, false, false]);
    shard.delete(deleted);
    await collectGarbage();
    assert.deepEqual(gone(), [true, true, false, false]);
    shard.deleteCreatedUntil(1_000);
    await collectGarbage();
    assert.deepEqual(gone(), [true, true, true, true]);
    assert.equal(shard.size, 0);
  });

  it('deletes the cached ranking if the next ranking is too large', () => {
    const { shard, rankings } = createShard();
    const [id] = addSessions(shard, 0, 1);
    const session = find(shard, id!)!;
    session.cacheRanking(rankedOf({}), 0);
    const tooLarge = rankedOf({ sealedValue: 'v'.repeat(bounds.clickTokenCharactersMax + 1) });
    assert.throws(() => session.cacheRanking(tooLarge, 0), RangeError);
    assert.equal(session.cachedRanking, null);
    assert.equal(rankings.inUse.size, 0);
    assert.equal(session.mergeFields([0, 1])![0], 1);
  });

  it('removes the gaps of deleted sessions; existing handles remain valid', async () => {
    const { shard } = createShard();
    const before = await memoryBesideHeap();
    const kept = [0, 5_000, 9_999].map((serial) => ({ serial, session: null as Session | null }));
    for (let serial = 0; serial < 10_000; serial++) {
      const id = idOf(serial, serial, scattered(serial));
      shard.add(id, liveTenant);
      const one = kept.find((each) => each.serial === serial);
      if (one === undefined) shard.delete(id);
      else {
        one.session = find(shard, id)!;
        one.session.mergeFields([0, serial]);
        one.session.widgetUsage.markViewCounted(load);
      }
    }
    assert.equal(shard.size, 3);
    assert((await memoryBesideHeap()) - before < 100_000);
    for (const { serial, session } of kept) {
      assert.equal(session!.fields[0], serial);
      assert.equal(session!.mergeFields([0, serial + 1])![0], serial + 1);
      assert.equal(session!.revision, 2);
      session!.cacheRanking(rankedOf({ total: 5 }), 2);
      assert.equal(session!.cachedRanking!.ranking.total, 5);
      assert(!session!.widgetUsage.shouldCountView(load));
      assert.equal(find(shard, idOf(serial, serial, scattered(serial)))!.fields[0], serial + 1);
    }
    assert.equal(shard.deleteCreatedUntil(9_999), 3);
    for (const { session } of kept) assert.equal(session!.mergeFields([0, 1]), null);
  });

  it('a merge with an invalid field index changes no field', () => {
    const { shard } = createShard();
    const [first, second] = addSessions(shard, 0, 2).map((id) => find(shard, id)!);
    for (const position of [-1, fieldsMax, fieldsMax + 1, Number.NaN, 0.5]) {
      assert.throws(() => first!.mergeFields([0, 7, position, 8]), RangeError, String(position));
    }
    for (const session of [first!, second!]) {
      assert.deepEqual(session.fields, emptyFields(liveTenant));
      assert.equal(session.revision, 0);
    }
  });

  it('erases the fields of a deleted or expired session', () => {
    const arrays: Int32Array[] = [];
    const Original = globalThis.Int32Array;
    globalThis.Int32Array = class extends Original {
      constructor(...args: ConstructorParameters<typeof Original>) {
        super(...args);
        arrays.push(this);
      }
    } as typeof Original;
    const birthDate = 1984_03_21;
    try {
      const { shard } = createShard();
      const [expired, deletedOne] = addSessions(shard, 0, 2);
      for (const id of [expired!, deletedOne!]) find(shard, id)!.mergeFields([2, birthDate]);
      assert(arrays.some((array) => array.includes(birthDate)));
      shard.delete(deletedOne!);
      shard.deleteCreatedUntil(0);
    } finally {
      globalThis.Int32Array = Original;
    }
    assert(!arrays.some((array) => array.includes(birthDate)));
  });
});
