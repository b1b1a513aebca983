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

/** Ranking arena that asserts that no ranking is leaked, released twice or overwritten. */
class CheckedRankings extends RankingArena {
  readonly inUse = new Set<number>();
  inUseMax = 0;

  override storeRanking(ranked: CachedRanking): number {
    const place = super.storeRanking(ranked);
    assert(!this.inUse.has(place), 'index is in use');
    this.inUse.add(place);
    this.inUseMax = Math.max(this.inUseMax, this.inUse.size);
    assert(place < this.inUseMax, 'a free index was not reused');
    return place;
  }

  override releaseRanking(place: number): void {
    assert(this.inUse.delete(place), 'index is not in use');
    super.releaseRanking(place);
  }
}

function createShard() {
  const shared = { tenants: new InternTable<Tenant>(), rankings: new CheckedRankings(), fieldsMax };
  return { shard: new SessionShard(shared), ...shared };
}

/** Returns the 32-bit words of a session id. `hashed` is the hash of the id in the index, and `serial` makes the id unique. */
function idOf(serial: number, createdMs: number, hashed = serial): Int32Array {
  const high = Math.floor(createdMs / 0x1_0000);
  return Int32Array.of(high, (createdMs % 0x1_0000) << 16, 1, 0, hashed, serial, 5, 6);
}

const find = (shard: SessionShard, id: Int32Array) => shard.get(id, subIdOfWords(id));

/** Returns a pseudorandom hash, like the hash of a real session id. */
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

/** Expected state of a session. */
interface Expected {
  readonly id: Int32Array;
  readonly createdMs: number;
  readonly tenant: Tenant;
  /** Handle that was read when the session was added. */
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
  assert.equal(handle.tenant, tenant);
  assert.equal(handle.createdMs, createdMs);
  assert.deepEqual(handle.pocketFields, emptyFields(tenant));
  assert.equal(handle.cachedRanking, null);
}

/** Kinds of random steps. Repeated kinds are drawn more often. */
const often = ['add', 'merge', 'rank', 'add', 'merge', 'rank', 'delete'] as const;
const stepKinds = [...often, ...often, 'delete up to', 'add again', 'use widget', 'get'] as const;

const step = fc.record({
  kind: fc.constantFrom(...stepKinds),
  /** Selects a session. */
  pick: fc.nat(9_999),
  /** Number of added sessions. */
  count: fc.integer({ min: 1, max: 24 }),
  // There are few hashes, so that they collide. Some hashes are at the end of an index of any size.
  hashes: fc.array(fc.constantFrom(0, 1, 2, 15, 30, 31, 63, -1, -2, 0x7fff_ffff, -0x8000_0000), {
    minLength: 1,
    maxLength: 4,
  }),
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
      total: fc.constantFrom(0, 1, 5, 20, 1_000),
      offers: fc.array(fc.nat(32_767), { minLength: 1, maxLength: 4 }),
      catalogVersion: fc.constantFrom('aaaaaaaaaaaa', 'bbbbbbbbbbbb', 'cccccccccccc'),
      rankedOn: fc.nat(9999_12_31),
      creditBand: fc.nat(6),
      clickToken: fc.string({ unit: fc.constantFrom(...'AZaz09-_'), maxLength: bounds.clickTokenCharactersMax }),
    })
    .map(rankedOf),
  /** Whether the ranking belongs to another revision of the fields. */
  isLate: fc.boolean(),
});
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** Applies random steps to a session shard and to a simple model, which is a list of objects, and compares both. */
class ModelComparison {
  readonly #context = createShard();
  readonly #shard = this.#context.shard;
  /** Expected sessions in the order of their addition, including deleted sessions that have not expired. */
  #sessions: Expected[] = [];
  /** Deleted or expired sessions, whose handles still exist. */
  readonly #deleted: Expected[] = [];
  #serial = 0;
  #nowMs = 1_000;

  apply(step: Step): void {
    if (step.kind === 'add') this.#addMany(step);
    if (step.kind === 'add again') this.#addAgain(step.pick);
    if (step.kind === 'delete') this.#delete(step.pick);
    if (step.kind === 'delete up to') this.#deleteUpTo(step.pick);
    if (step.kind === 'get') this.#assertAbsent(idOf(this.#serial, this.#nowMs, 0));
    if (step.kind === 'use widget' || step.kind === 'merge' || step.kind === 'rank') this.#change(step);
  }

  #change({ kind, pick, usesOldHandle, changes, ranked, isLate }: Step): void {
    const live = this.#live();
    const expected = live[pick % live.length];
    if (expected === undefined) return;
    const session = usesOldHandle ? expected.handle : find(this.#shard, expected.id)!;
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
      // The shard ignores a ranking of an earlier or later revision of the fields.
      if (!isLate) expected.ranked = ranked;
      session.cacheRanking(ranked, expected.revision + (isLate ? (pick % 2) * 2 - 1 : 0));
    }
    assertIs(session, expected);
    assertIs(find(this.#shard, expected.id)!, expected);
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

  #addMany({ count, hashes, backMs }: Step): void {
    for (let at = 0; at < count; at++) {
      this.#nowMs += 3;
      const createdMs = this.#nowMs - backMs;
      const serial = this.#serial++;
      this.#add(idOf(serial, createdMs, hashes[at % hashes.length]!), createdMs, tenants[serial % 3]!);
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

  /** Selects a session, and deletes all sessions that were created up to its creation time. */
  #deleteUpTo(pick: number): void {
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
    assert.equal(this.#shard.deleteSessionsCreatedUntil(lastMs), dropped);
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
    this.#shard.deleteSessionsCreatedUntil(Number.MAX_SAFE_INTEGER);
    for (const each of this.#live()) this.#deleted.push(each);
    this.#sessions = [];
    this.#assertSame(this.#deleted);
  }
}

describe('SessionShard', () => {
  it('random operations on a session shard have the same results as on a list of objects', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
        const comparison = new ModelComparison();
        for (const each of steps) comparison.apply(each);
        comparison.end();
      }),
      { numRuns: 300 },
    );
  });

  it('finds all sessions while the ring buffer grows, wraps and shrinks', () => {
    const { shard } = createShard();
    const held: Int32Array[] = [];
    let serial = 0;
    // The number of sessions grows, then stays constant while the ring wraps, then shrinks.
    for (const level of [100, 3_000, 3_000, 3_000, 4_200, 4_000, 900, 40, 5, 200, 3]) {
      for (let wanted = level; wanted > 0; wanted--) {
        const id = idOf(serial, serial, scattered(serial));
        assert(shard.add(id, liveTenant));
        find(shard, id)!.mergeFields([0, serial++]);
        held.push(id);
      }
      const gone = held.splice(0, Math.max(0, held.length - level));
      assert.equal(shard.deleteSessionsCreatedUntil(serial - held.length - 1), gone.length);
      // Each sweep halves the memory at most once.
      for (let sweep = 0; sweep < 12; sweep++) assert.equal(shard.deleteSessionsCreatedUntil(-1), 0);
      assert.equal(shard.size, held.length);
      for (const id of held) {
        const session = find(shard, id)!;
        assert.equal(session.pocketFields[0], id[5]);
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
    for (let sweep = 0; sweep < 16; sweep++) shard.deleteSessionsCreatedUntil(2 ** 16 - 2);
    assert.equal(shard.size, 1);
    const left = (await memoryBesideHeap()) - before;
    assert(left < taken / 20, `${left} bytes of ${taken} are left`);
    const last = 2 ** 16 - 1;
    assert(find(shard, idOf(last, last, scattered(last))) !== undefined);
  });

  it('distinguishes session ids that differ in a single 32-bit word', () => {
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

  it('when a session is deleted or expires, its tenant object and its WidgetUsage object are freed', async () => {
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
    shard.deleteSessionsCreatedUntil(1_000);
    await collectGarbage();
    assert.deepEqual(gone(), [true, true, true, true]);
    assert.equal(shard.size, 0);
  });

  it('deletes the cached ranking if the next ranking is too large', () => {
    const { shard, rankings } = createShard();
    const [id] = addSessions(shard, 0, 1);
    const session = find(shard, id!)!;
    session.cacheRanking(rankedOf(), 0);
    const tooLarge = rankedOf({ clickToken: 'v'.repeat(bounds.clickTokenCharactersMax + 1) });
    assert.throws(() => session.cacheRanking(tooLarge, 0), RangeError);
    assert.equal(session.cachedRanking, null);
    assert.equal(rankings.inUse.size, 0);
    assert.equal(session.mergeFields([0, 1])![0], 1);
  });

  it('compacts memory after sessions are deleted, and handles of the remaining sessions stay valid', async () => {
    const { shard } = createShard();
    const before = await memoryBesideHeap();
    const kept = new Map<number, Session>();
    for (let serial = 0; serial < 10_000; serial++) {
      const id = idOf(serial, serial, scattered(serial));
      shard.add(id, liveTenant);
      if (serial % 4_000 > 0) shard.delete(id);
      else kept.set(serial, find(shard, id)!);
      kept.get(serial)?.mergeFields([0, serial]);
    }
    assert.equal(shard.size, 3);
    assert((await memoryBesideHeap()) - before < 100_000);
    for (const [serial, session] of kept) {
      assert.equal(session.pocketFields[0], serial);
      assert.equal(session.mergeFields([0, serial + 1])![0], serial + 1);
      assert.equal(find(shard, idOf(serial, serial, scattered(serial)))!.pocketFields[0], serial + 1);
    }
    assert.equal(shard.deleteSessionsCreatedUntil(9_999), 3);
    for (const session of kept.values()) assert.equal(session.mergeFields([0, 1]), null);
  });

  it('mergeFields throws for an invalid field index, and changes no field', () => {
    const { shard } = createShard();
    const [first, second] = addSessions(shard, 0, 2).map((id) => find(shard, id)!);
    for (const position of [-1, fieldsMax, fieldsMax + 1, Number.NaN, 0.5]) {
      assert.throws(() => first!.mergeFields([0, 7, position, 8]), RangeError, String(position));
    }
    for (const session of [first!, second!]) {
      assert.deepEqual(session.pocketFields, emptyFields(liveTenant));
      assert.equal(session.fieldsRevision, 0);
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
      shard.deleteSessionsCreatedUntil(0);
    } finally {
      globalThis.Int32Array = Original;
    }
    assert(!arrays.some((array) => array.includes(birthDate)));
  });
});
