import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { bounds } from '../../src/bounds.ts';
import { subIdCreatedMs } from '../../src/ids/sub-id.ts';
import { InternTable } from '../../src/sessions/intern-table.ts';
import { RankingArena } from '../../src/sessions/ranking-arena.ts';
import { SessionShard } from '../../src/sessions/session-shard.ts';
import type { CachedRanking, Session } from '../../src/sessions/session-store.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { collectGarbage, memoryBesideHeap } from '../support/collect-garbage.ts';
import { equipmentLeases } from '../support/equipment-leases.ts';
import { rankedOf } from '../support/ranked-of.ts';
import { subIdOfWords } from '../support/sub-id-at.ts';
import { liveTenant, testTenant } from '../support/tenants.ts';

const leaseTenant: Tenant = { account: 7, vertical: equipmentLeases, mode: 'live' };
const tenants = [liveTenant, testTenant, leaseTenant];
const fieldsMax = Math.max(...tenants.map(({ vertical }) => vertical.fields.length));
/** Places of a part that is new: more sessions make it grow. */
const placesAtFirst = 16;
/** More rankings than one buffer of them has room for. */
const many = 4_096 + 1;

/** Rankings that know which of their places are in use. */
class WatchedRankings extends RankingArena {
  readonly inUse = new Set<number>();
  most = 0;

  override store(ranked: CachedRanking): number {
    const place = super.store(ranked);
    assert(!this.inUse.has(place), 'a place in use was given out again');
    this.inUse.add(place);
    this.most = Math.max(this.most, this.inUse.size);
    assert(place < this.most, 'there was room in a place that is free');
    return place;
  }

  override release(place: number): void {
    assert(this.inUse.delete(place), 'a place was released that is not in use');
    super.release(place);
  }
}

function newPart() {
  const shared = { tenants: new InternTable<Tenant>(), rankings: new WatchedRankings(), fieldsMax };
  return { part: new SessionShard(shared), ...shared };
}

/** The words of an id: `hashed` says where its place in the index is sought, `serial` tells it from others. */
function idOf(serial: number, createdMs: number, hashed = serial): Int32Array {
  const high = Math.floor(createdMs / 0x1_0000);
  return Int32Array.of(high, (createdMs % 0x1_0000) << 16, 1, 0, hashed, serial, 5, 6);
}

const sought = (part: SessionShard, id: Int32Array) => part.get(id, subIdOfWords(id));

/** As random as an id is there. */
const scattered = (serial: number): number => createHash('md5').update(`${serial}`).digest().readInt32BE();

/** Adds sessions created a millisecond after each other, all sought at the same place of the index; their ids. */
function addSome(part: SessionShard, from: number, to: number, hashed = -1): Int32Array[] {
  const ids: Int32Array[] = [];
  for (let serial = from; serial < to; serial++) {
    const id = idOf(serial, serial, hashed);
    assert(part.add(id, liveTenant));
    ids.push(id);
  }
  return ids;
}

const nothing = ({ vertical }: Tenant): number[] => vertical.fields.map(() => -1);
const load = Buffer.alloc(8, 1);

/** Changes of the fields that the vertical of a tenant has. */
function inFieldsOf(
  { vertical }: Tenant,
  changes: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  return changes.map(([position, value]) => [position % vertical.fields.length, value]);
}

/** A session as it should be. */
interface Expected {
  readonly id: Int32Array;
  readonly createdMs: number;
  readonly tenant: Tenant;
  /** Got right after it was put in. */
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

/** Whoever still holds a session that is dropped finds nothing in it, and cannot put anything in. */
function assertDropped({ handle, tenant, createdMs }: Expected): void {
  assert.equal(handle.mergeFields([0, 99]), null);
  for (const revision of [0, 1, handle.revision]) handle.cacheRanking(rankedOf({}), revision);
  handle.widgetUsage.markViewCounted(load);
  assert(handle.widgetUsage.shouldCountView(load));
  assert.equal(handle.tenant, tenant);
  assert.equal(handle.createdMs, createdMs);
  assert.deepEqual(handle.fields, nothing(tenant));
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
// Few places to be sought at, some of them the last ones of an index of any size.
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
      // A wall clock may be set back.
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

/** The same sessions twice: in a part, and as plain objects in a list. */
class Twice {
  readonly #made = newPart();
  readonly #part = this.#made.part;
  /** In the order in which they were put in, deleted ones included until they would be dropped. */
  #sessions: Expected[] = [];
  /** Gone, but somebody holds them still. */
  readonly #dropped: Expected[] = [];
  #serial = 0;
  #nowMs = 1_000;

  take(step: Step): void {
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
          // Too late when the fields are others by now: of the revision before, or of one to come.
          if (!step.late) expected.ranked = step.ranked;
          session.cacheRanking(step.ranked, expected.revision + (step.late ? (step.pick % 2) * 2 - 1 : 0));
        });
    }
  }

  #live(): Expected[] {
    return this.#sessions.filter((each) => !each.deleted);
  }

  #add(id: Int32Array, createdMs: number, tenant: Tenant): void {
    assert.equal(sought(this.#part, id), undefined);
    assert.equal(this.#part.add(id, tenant), true);
    const handle = sought(this.#part, id)!;
    this.#sessions.push({
      ...{ id, createdMs, tenant, handle, fields: nothing(tenant), revision: 0 },
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
    const all = [...this.#live(), ...this.#dropped];
    const again = all[pick % all.length];
    if (again === undefined) return;
    const { id, createdMs, tenant } = again;
    const isHere = this.#live().some((each) => each.id === id);
    if (isHere) assert.equal(this.#part.add(id, tenants[(pick + 1) % 3]!), false);
    else this.#add(id, createdMs, tenant);
    this.#assertSame();
  }

  #onPicked(pick: number, old: boolean, act: (session: Session, expected: Expected) => void): void {
    const live = this.#live();
    const expected = live[pick % live.length];
    if (expected === undefined) return;
    const session = old ? expected.handle : sought(this.#part, expected.id)!;
    act(session, expected);
    assertIs(session, expected);
    assertIs(sought(this.#part, expected.id)!, expected);
  }

  #delete(pick: number): void {
    const live = this.#live();
    const expected = live[pick % live.length];
    if (expected === undefined) return;
    assert.equal(this.#part.delete(expected.id), true);
    assert.equal(this.#part.delete(expected.id), false);
    expected.deleted = true;
    this.#dropped.push(expected);
    this.#assertSame();
  }

  /** Up to the creation of one of them, so that some go and some stay. */
  #dropUpTo(pick: number): void {
    const lastMs = this.#sessions[pick % this.#sessions.length]?.createdMs ?? this.#nowMs;
    let dropped = 0;
    let first = 0;
    for (const each of this.#sessions) {
      if (!each.deleted && each.createdMs > lastMs) break;
      first++;
      if (each.deleted) continue;
      this.#dropped.push(each);
      dropped++;
    }
    this.#sessions = this.#sessions.slice(first);
    assert.equal(this.#part.deleteCreatedUntil(lastMs), dropped);
    this.#assertSame();
  }

  #assertAbsent(id: Int32Array): void {
    assert.equal(sought(this.#part, id), undefined);
    assert.equal(this.#part.delete(id), false);
  }

  /** Of those that are gone only the last ones are looked at, unless told otherwise. */
  #assertSame(dropped = this.#dropped.slice(-8)): void {
    const live = this.#live();
    for (const expected of dropped) {
      assertDropped(expected);
      if (!live.some(({ id }) => id === expected.id)) this.#assertAbsent(expected.id);
    }
    assert.equal(this.#part.size, live.length);
    for (const expected of live) {
      assertIs(sought(this.#part, expected.id)!, expected);
      assertIs(expected.handle, expected);
    }
    assert.equal(this.#made.tenants.size, new Set(live.map(({ tenant }) => tenant)).size);
    assert.equal(this.#made.rankings.inUse.size, live.filter(({ ranked }) => ranked !== null).length);
  }

  /** Drops all there is, so that nothing of it may be left. */
  end(): void {
    this.#assertSame(this.#dropped);
    this.#part.deleteCreatedUntil(Number.MAX_SAFE_INTEGER);
    for (const each of this.#live()) this.#dropped.push(each);
    this.#sessions = [];
    this.#assertSame(this.#dropped);
  }
}

describe('SessionPart', () => {
  it('does as a list of plain objects does, whatever is put in, merged, ranked, deleted and dropped', () => {
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 80, size: 'max' }), (steps) => {
        const twice = new Twice();
        for (const each of steps) twice.take(each);
        twice.end();
      }),
      { numRuns: 300 },
    );
  });

  it('finds all its sessions through growth to thousands, a ring that goes round, and shrinking again', () => {
    const { part } = newPart();
    const held: Int32Array[] = [];
    let serial = 0;
    // The sessions held at a time: up, then level while the ring goes round some times, then down.
    for (const level of [100, 3_000, 3_000, 3_000, 4_200, 4_000, 900, 40, 5, 200, 3]) {
      for (let wanted = level; wanted > 0; wanted--) {
        const id = idOf(serial, serial, scattered(serial));
        assert(part.add(id, liveTenant));
        sought(part, id)!.mergeFields([0, serial++]);
        held.push(id);
      }
      const gone = held.splice(0, Math.max(0, held.length - level));
      assert.equal(part.deleteCreatedUntil(serial - held.length - 1), gone.length);
      // Memory is given back in steps, one a sweep.
      for (let sweep = 0; sweep < 12; sweep++) assert.equal(part.deleteCreatedUntil(-1), 0);
      assert.equal(part.size, held.length);
      for (const id of held) {
        const session = sought(part, id)!;
        assert.equal(session.fields[0], id[5]);
        assert.equal(session.createdMs, id[5]);
      }
      for (const id of gone) assert.equal(sought(part, id), undefined);
    }
  });

  it('gives memory back when most sessions are gone', async () => {
    const { part } = newPart();
    const before = await memoryBesideHeap();
    for (let serial = 0; serial < 2 ** 16; serial++) part.add(idOf(serial, serial, scattered(serial)), liveTenant);
    const taken = (await memoryBesideHeap()) - before;
    for (let sweep = 0; sweep < 16; sweep++) part.deleteCreatedUntil(2 ** 16 - 2);
    assert.equal(part.size, 1);
    const left = (await memoryBesideHeap()) - before;
    assert(left < taken / 20, `${left} bytes of ${taken} are left`);
    const last = 2 ** 16 - 1;
    assert(sought(part, idOf(last, last, scattered(last))) !== undefined);
  });

  it('finds those behind a deleted one that are sought at the same place of the index, in whatever order they go', () => {
    const orders = fc.shuffledSubarray(
      Array.from({ length: placesAtFirst }, (_, at) => at),
      { minLength: placesAtFirst },
    );
    // Some next to each other, so that those of one place stand in the way of those of the next, round the end of the index.
    const soughtAt = fc.array(fc.integer({ min: -3, max: 3 }), { minLength: placesAtFirst, maxLength: placesAtFirst });
    fc.assert(
      fc.property(orders, soughtAt, (order, places) => {
        const { part } = newPart();
        const ids = places.map((hashed, serial) => idOf(serial, serial, hashed));
        for (const id of ids) assert(part.add(id, liveTenant));
        const left = new Set(ids);
        for (const at of order) {
          assert(part.delete(ids[at]!));
          left.delete(ids[at]!);
          for (const id of ids) assert.equal(sought(part, id) !== undefined, left.has(id));
        }
        assert.equal(part.size, 0);
      }),
    );
  });

  it('tells apart ids that differ in one word', () => {
    const { part } = newPart();
    const id = idOf(1, 1_000);
    assert(part.add(id, liveTenant));
    for (let word = 0; word < id.length; word++) {
      const other = id.with(word, id[word]! ^ 0x80);
      assert.equal(sought(part, other), undefined);
      assert.equal(part.delete(other), false);
    }
    assert.equal(part.size, 1);
  });

  it('knows when a session was created, by its id', () => {
    const { part } = newPart();
    for (const createdMs of [0, 1, 0xffff, 2 ** 31, Date.UTC(2026, 4, 20), 2 ** 48 - 1]) {
      const id = idOf(1, createdMs);
      part.add(id, liveTenant);
      assert.equal(sought(part, id)!.createdMs, createdMs);
      assert.equal(subIdCreatedMs(id[0]!, id[1]!), createdMs);
      part.delete(id);
    }
  });

  it('takes what it was given as it was then: an id that is written over later does not matter', () => {
    const { part } = newPart();
    const id = idOf(1, 1_000);
    part.add(id, liveTenant);
    const session = sought(part, id)!;
    id.fill(0);
    session.mergeFields([0, 5]);
    assert.equal(sought(part, idOf(1, 1_000))!.fields[0], 5);
  });

  it('writes the last of several values for a position, and any that fit 31 bits', () => {
    const { part } = newPart();
    const [id] = addSome(part, 0, 1);
    const session = sought(part, id!)!;
    assert.equal(session.mergeFields([2, 3, 2, 5])![2], 5);
    assert.equal(session.mergeFields([2, 2 ** 31 - 1])![2], 2 ** 31 - 1);
    assert.equal(session.mergeFields([2, -1])![2], -1);
  });

  it('has as many fields as the vertical of the session, whatever others have', () => {
    const { part } = newPart();
    const [loan, lease] = [idOf(1, 1_000), idOf(2, 1_000)];
    part.add(loan, liveTenant);
    part.add(lease, leaseTenant);
    assert.deepEqual(sought(part, loan)!.fields, nothing(liveTenant));
    assert.deepEqual(sought(part, lease)!.fields, nothing(leaseTenant));
    assert.notEqual(nothing(liveTenant).length, nothing(leaseTenant).length);
  });

  it('starts a session empty in the place of one that had everything', () => {
    const { part } = newPart();
    for (let serial = 0; serial < 3 * placesAtFirst; serial++) {
      const [id] = addSome(part, serial, serial + 1);
      const session = sought(part, id!)!;
      assert.deepEqual(session.fields, nothing(liveTenant));
      assert.deepEqual([session.revision, session.cachedRanking], [0, null]);
      assert(session.widgetUsage.shouldCountView(load));
      session.mergeFields(session.fields.flatMap((_, field) => [field, 7]));
      session.cacheRanking(rankedOf({}), 1);
      session.widgetUsage.markViewCounted(load);
      assert.equal(part.deleteCreatedUntil(serial), 1);
    }
  });

  it('leaves a session alone whose place was that of one that somebody holds across a wait', async () => {
    const { part, rankings } = newPart();
    const [id] = addSome(part, 0, 1);
    const held = sought(part, id!)!;
    held.mergeFields([0, 1]);
    const waiting = new Promise<void>((resolve) => setImmediate(resolve));
    part.deleteCreatedUntil(0);
    // The ring goes round once: its place is that of another, of the same revision.
    const others = addSome(part, 1, 1 + placesAtFirst).map((other) => sought(part, other)!);
    for (const other of others) other.mergeFields([0, 2]);
    await waiting;
    assert.equal(held.mergeFields([0, 99]), null);
    held.cacheRanking(rankedOf({}), 1);
    held.cacheRanking(rankedOf({}), 0);
    held.widgetUsage.markViewCounted(load);
    assert.deepEqual([held.revision, held.cachedRanking, held.fields], [0, null, nothing(liveTenant)]);
    assert.equal(rankings.inUse.size, 0);
    for (const other of others) {
      assert.deepEqual([other.fields[0], other.revision, other.cachedRanking], [2, 1, null]);
      assert(other.widgetUsage.shouldCountView(load));
    }
  });

  it('holds a session still while its part grows, goes round and shrinks', () => {
    const { part } = newPart();
    addSome(part, 0, 10);
    part.deleteCreatedUntil(9);
    const [id] = addSome(part, 10, 11);
    const held = sought(part, id!)!;
    held.mergeFields([0, 42]);
    held.widgetUsage.markViewCounted(load);
    const ranked = rankedOf({ total: 20 });
    held.cacheRanking(ranked, 1);
    const same = () => {
      assert.deepEqual([held.fields[0], held.revision, held.cachedRanking], [42, 1, ranked]);
      assert.equal(held.widgetUsage.shouldCountView(load), false);
    };
    const others = addSome(part, 11, 211);
    same();
    for (const other of others) part.delete(other);
    part.deleteCreatedUntil(0);
    same();
    assert.equal(held.mergeFields([1, 3])!.slice(0, 2).join(), '42,3');
  });

  it('lets go of what the widgets of a session have had, and of its tenant, when it goes', async () => {
    const { part } = newPart();
    const [deleted, expired] = [idOf(1, 1_000), idOf(2, 1_000)];
    const refs = [deleted, expired].flatMap((id) => {
      const tenant = { ...liveTenant };
      part.add(id, tenant);
      return [new WeakRef<object>(tenant), new WeakRef<object>(sought(part, id)!.widgetUsage)];
    });
    const gone = () => refs.map((ref) => ref.deref() === undefined);
    await collectGarbage();
    assert.deepEqual(gone(), [false, false, false, false]);
    part.delete(deleted);
    await collectGarbage();
    assert.deepEqual(gone(), [true, true, false, false]);
    part.deleteCreatedUntil(1_000);
    await collectGarbage();
    assert.deepEqual(gone(), [true, true, true, true]);
    assert.equal(part.size, 0);
  });

  it('drops those behind a deleted one in the middle, and in front', () => {
    const { part } = newPart();
    const ids = addSome(part, 0, 10);
    for (const at of [0, 4, 5, 9]) part.delete(ids[at]!);
    assert.equal(part.size, 6);
    assert.equal(part.deleteCreatedUntil(6), 4);
    assert.deepEqual(
      ids.map((id) => sought(part, id) !== undefined),
      ids.map((_, at) => at === 7 || at === 8),
    );
    assert.equal(part.deleteCreatedUntil(8), 2);
    assert.equal(part.size, 0);
  });

  it('keeps what came behind a younger one until that one goes, too', () => {
    const { part } = newPart();
    const ids = [100, 300, 200].map((createdMs, serial) => idOf(serial, createdMs));
    for (const id of ids) part.add(id, liveTenant);
    assert.equal(part.deleteCreatedUntil(299), 1);
    assert(sought(part, ids[2]!) !== undefined);
    assert.equal(part.deleteCreatedUntil(300), 2);
  });

  it('releases a ranking that is replaced, merged over, deleted or expired', () => {
    const { part, rankings } = newPart();
    const [replaced, merged, deleted] = addSome(part, 0, 4).map((id) => ({ id, session: sought(part, id)! }));
    const all = [replaced!, merged!, deleted!];
    for (const { session } of all) session.cacheRanking(rankedOf({}), 0);
    assert.equal(rankings.inUse.size, 3);
    replaced!.session.cacheRanking(rankedOf({ total: 20 }), 0);
    assert.equal(rankings.inUse.size, 3);
    assert.equal(replaced!.session.cachedRanking!.ranking.total, 20);
    merged!.session.mergeFields([0, 1]);
    assert.equal(rankings.inUse.size, 2);
    part.delete(deleted!.id);
    assert.equal(rankings.inUse.size, 1);
    part.deleteCreatedUntil(3);
    assert.equal(rankings.inUse.size, 0);
  });

  it('needs room for one ranking, however often one is kept and goes', () => {
    const { part, rankings } = newPart();
    for (let serial = 0; serial < many; serial++) {
      const [id] = addSome(part, serial, serial + 1);
      const session = sought(part, id!)!;
      session.cacheRanking(rankedOf({}), 0);
      if (serial % 3 === 0) session.mergeFields([0, 1]);
      else if (serial % 3 === 1) session.cacheRanking(rankedOf({ total: 20 }), 0);
      if (serial % 2 === 0) part.delete(id!);
      part.deleteCreatedUntil(serial);
    }
    assert.equal(rankings.most, 1);
    assert.equal(rankings.inUse.size, 0);
  });

  it('keeps no ranking that is too large, and not the one before it either', () => {
    const { part, rankings } = newPart();
    const [id] = addSome(part, 0, 1);
    const session = sought(part, id!)!;
    session.cacheRanking(rankedOf({}), 0);
    const tooLarge = rankedOf({ sealedValue: 'v'.repeat(bounds.clickTokenCharactersMax + 1) });
    assert.throws(() => session.cacheRanking(tooLarge, 0), RangeError);
    assert.equal(session.cachedRanking, null);
    assert.equal(rankings.inUse.size, 0);
    assert.equal(session.mergeFields([0, 1])![0], 1);
  });

  it('closes up where sessions were deleted before their turn, and whoever holds one that moved goes on with it', async () => {
    const { part } = newPart();
    const before = await memoryBesideHeap();
    const kept = [0, 5_000, 9_999].map((serial) => ({ serial, session: null as Session | null }));
    for (let serial = 0; serial < 10_000; serial++) {
      const id = idOf(serial, serial, scattered(serial));
      part.add(id, liveTenant);
      const one = kept.find((each) => each.serial === serial);
      if (one === undefined) part.delete(id);
      else {
        one.session = sought(part, id)!;
        one.session.mergeFields([0, serial]);
        one.session.widgetUsage.markViewCounted(load);
      }
    }
    assert.equal(part.size, 3);
    // Without a younger session behind it, a deleted one would not have let go of its place.
    assert((await memoryBesideHeap()) - before < 100_000);
    for (const { serial, session } of kept) {
      assert.equal(session!.fields[0], serial);
      assert.equal(session!.mergeFields([0, serial + 1])![0], serial + 1);
      assert.equal(session!.revision, 2);
      session!.cacheRanking(rankedOf({ total: 5 }), 2);
      assert.equal(session!.cachedRanking!.ranking.total, 5);
      assert(!session!.widgetUsage.shouldCountView(load));
      assert.equal(sought(part, idOf(serial, serial, scattered(serial)))!.fields[0], serial + 1);
    }
    assert.equal(part.deleteCreatedUntil(9_999), 3);
    for (const { session } of kept) assert.equal(session!.mergeFields([0, 1]), null);
  });

  it('does not know a session that was put in again for the one that was deleted', () => {
    const { part } = newPart();
    const id = idOf(1, 1);
    part.add(id, liveTenant);
    const held = sought(part, id)!;
    part.delete(id);
    part.add(id, liveTenant);
    assert.equal(held.mergeFields([0, 1]), null);
    assert.equal(sought(part, id)!.fields[0], -1);
  });

  it('writes nothing at all for what is no field', () => {
    const { part } = newPart();
    const [first, second] = addSome(part, 0, 2).map((id) => sought(part, id)!);
    for (const position of [-1, fieldsMax, fieldsMax + 1, Number.NaN, 0.5]) {
      assert.throws(() => first!.mergeFields([0, 7, position, 8]), RangeError, String(position));
    }
    for (const session of [first!, second!]) {
      assert.deepEqual(session.fields, nothing(liveTenant));
      assert.equal(session.revision, 0);
    }
  });

  it('holds nothing of what a borrower told once the session is over', () => {
    const arrays: Int32Array[] = [];
    const Before = globalThis.Int32Array;
    globalThis.Int32Array = class extends Before {
      constructor(...given: ConstructorParameters<typeof Before>) {
        super(...given);
        arrays.push(this);
      }
    } as typeof Before;
    const told = 1984_03_21;
    try {
      const { part } = newPart();
      const [expired, deletedOne] = addSome(part, 0, 2);
      for (const id of [expired!, deletedOne!]) sought(part, id)!.mergeFields([2, told]);
      assert(arrays.some((array) => array.includes(told)));
      part.delete(deletedOne!);
      part.deleteCreatedUntil(0);
    } finally {
      globalThis.Int32Array = Before;
    }
    assert(!arrays.some((array) => array.includes(told)));
  });
});
