import { parseSubIdWords, subIdCreatedMs, subIdWordCount } from '../ids/sub-id.ts';
import { absentValue, emptyFieldVector, type FieldVector } from '../verticals/field-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { InternTable } from './intern-table.ts';
import type { RankingArena } from './ranking-arena.ts';
import type { CachedRanking, Session } from './session-store.ts';
import { WidgetUsage } from './widget-usage.ts';

/** What all parts of a store share. */
interface ShardResources {
  readonly tenants: InternTable<Tenant>;
  readonly rankings: RankingArena;
  /** The most pocket fields that a vertical has. */
  readonly fieldsMax: number;
}

// A record, in words of 32 bits: the id, four numbers, the fields.
const serialWord = subIdWordCount;
const tenantWord = subIdWordCount + 1;
const revisionWord = subIdWordCount + 2;
const rankingWord = subIdWordCount + 3;
const fieldsWord = subIdWordCount + 4;

/** In place of a tenant: the session was deleted before its turn. */
const deletedTenant = -1;
const noRanking = -1;
/** In place of the serial of a session that was deleted. */
const deletedSerial = 0;
/** In place of a position. */
const noPosition = -1;
/** The word of an id that its place in the index follows from: of its random bytes. */
const hashWord = 4;

const capacityMin = 16;

/**
 * Some of the live sessions, as numbers in a ring: outside the JavaScript heap, where the garbage collector need not look at
 * them (docs/contributing/decisions/sessions.md).
 *
 * All live equally long, so they go in the order they came: what a ring is for. Positions in it count on without end, and a position's
 * place in memory follows from its last bits. An index with open addressing finds the place of an id; as ids are random there,
 * and only issued ones are put in, nobody can make it slow.
 *
 * A session deleted before its turn leaves its place empty until the ring gets there, or closes up because it is full. Only then does a
 * session move to another position; by its serial it is known for the same.
 */
export class SessionShard {
  readonly #resources: ShardResources;
  readonly #recordWords: number;
  /** What few sessions have, by their serials. */
  readonly #widgetUsages = new Map<number, WidgetUsage>();
  #capacity = capacityMin;
  #records: Int32Array;
  /** Places plus one, by the hash of their ids; 0 where there is none. */
  #index: Int32Array;
  #oldestPosition = 0;
  #nextPosition = 0;
  #size = 0;
  /** Of the session put in last; 32 bits, after which they begin again. */
  #lastSerial = 0;

  constructor(resources: ShardResources) {
    this.#resources = resources;
    this.#recordWords = fieldsWord + resources.fieldsMax;
    this.#records = new Int32Array(this.#capacity * this.#recordWords);
    this.#index = new Int32Array(this.#capacity * 2);
  }

  get size(): number {
    return this.#size;
  }

  /** The session of an id, whose text is `subIdSchema`. */
  get(id: Int32Array, subId: string): Session | undefined {
    const position = this.findPosition(id);
    if (position === noPosition) return undefined;
    const tenant = this.#resources.tenants.get(this.#records[this.#recordOffset(position) + tenantWord]!);
    return new SessionHandle(this, subId, position, this.serialAt(position), tenant, subIdCreatedMs(id[0]!, id[1]!));
  }

  /** The position of an id, or `nowhere`. */
  findPosition(id: Int32Array): number {
    const place = this.#index[this.#findIndexSlot(id)]! - 1;
    return place < 0 ? noPosition : this.#oldestPosition + ((place - this.#oldestPosition) & (this.#capacity - 1));
  }

  /** Puts in a session, unless it is here. */
  add(id: Int32Array, tenant: Tenant): boolean {
    if (this.#index[this.#findIndexSlot(id)] !== 0) return false;
    if (this.#nextPosition - this.#oldestPosition === this.#capacity) {
      // With a quarter of it empty it closes up; otherwise it would do so again too soon.
      this.#rebuild(this.#size > this.#capacity * 0.75 ? this.#capacity * 2 : this.#capacity);
    }
    const place = this.#nextPosition++ & (this.#capacity - 1);
    const at = place * this.#recordWords;
    const records = this.#records;
    records.set(id, at);
    records[at + serialWord] = this.#nextSerial();
    records[at + tenantWord] = this.#resources.tenants.intern(tenant);
    records[at + revisionWord] = 0;
    records[at + rankingWord] = noRanking;
    records.fill(absentValue, at + fieldsWord, at + this.#recordWords);
    this.#index[this.#findIndexSlot(id)] = place + 1;
    this.#size++;
    return true;
  }

  /** Says whether it was here. */
  delete(id: Int32Array): boolean {
    const slot = this.#findIndexSlot(id);
    const place = this.#index[slot]! - 1;
    if (place < 0) return false;
    this.#deleteRecord(slot, place * this.#recordWords);
    return true;
  }

  /** Drops the sessions created up to a moment, as far as nothing younger came before them; how many they were. */
  deleteCreatedUntil(lastMs: number): number {
    const sizeBefore = this.#size;
    for (; this.#oldestPosition < this.#nextPosition; this.#oldestPosition++) {
      const at = this.#recordOffset(this.#oldestPosition);
      const records = this.#records;
      if (records[at + tenantWord] === deletedTenant) continue;
      if (subIdCreatedMs(records[at]!, records[at + 1]!) > lastMs) break;
      this.#deleteRecord(this.#findIndexSlot(records.subarray(at, at + subIdWordCount)), at);
    }
    if (this.#capacity > capacityMin && this.#nextPosition - this.#oldestPosition < this.#capacity / 4) {
      this.#rebuild(this.#capacity / 2);
    }
    return sizeBefore - this.#size;
  }

  /** Whether the session of this serial is at this position. */
  hasSerialAt(position: number, serial: number): boolean {
    return position >= this.#oldestPosition && position < this.#nextPosition && this.serialAt(position) === serial;
  }

  /** Only of a position that has a session, as all that follow. */
  serialAt(position: number): number {
    return this.#records[this.#recordOffset(position) + serialWord]!;
  }

  fieldsAt(position: number, count: number): FieldVector {
    const from = this.#recordOffset(position) + fieldsWord;
    const fields: FieldVector = [];
    for (let field = 0; field < count; field++) fields.push(this.#records[from + field]!);
    return fields;
  }

  revisionAt(position: number): number {
    return this.#records[this.#recordOffset(position) + revisionWord]!;
  }

  /** Throws a RangeError, with nothing written, for what is no field: it would be another session's. */
  mergeFieldsAt(position: number, changes: readonly number[]): void {
    const { fieldsMax } = this.#resources;
    for (let i = 0; i < changes.length; i += 2) {
      if (changes[i]! >>> 0 !== changes[i] || changes[i]! >= fieldsMax)
        throw new RangeError('a session has no such field');
    }
    const at = this.#recordOffset(position);
    const records = this.#records;
    for (let i = 0; i < changes.length; i += 2) records[at + fieldsWord + changes[i]!] = changes[i + 1]!;
    records[at + revisionWord]!++;
    this.#releaseRanking(at);
  }

  cachedRankingAt(position: number): CachedRanking | null {
    const place = this.#records[this.#recordOffset(position) + rankingWord]!;
    return place === noRanking ? null : this.#resources.rankings.read(place);
  }

  cacheRankingAt(position: number, ranked: CachedRanking): void {
    const at = this.#recordOffset(position);
    this.#releaseRanking(at);
    this.#records[at + rankingWord] = this.#resources.rankings.store(ranked);
  }

  widgetUsageAt(position: number): WidgetUsage {
    const serial = this.serialAt(position);
    let use = this.#widgetUsages.get(serial);
    if (use === undefined) {
      use = new WidgetUsage();
      this.#widgetUsages.set(serial, use);
    }
    return use;
  }

  #recordOffset(position: number): number {
    return (position & (this.#capacity - 1)) * this.#recordWords;
  }

  /** The slot of the index that an id has, or would get. */
  #findIndexSlot(id: Int32Array): number {
    const index = this.#index;
    const mask = index.length - 1;
    let slot = id[hashWord]! & mask;
    while (index[slot] !== 0 && !this.#hasIdAt(id, (index[slot]! - 1) * this.#recordWords)) slot = (slot + 1) & mask;
    return slot;
  }

  #hasIdAt(id: Int32Array, at: number): boolean {
    for (let word = 0; word < subIdWordCount; word++) if (this.#records[at + word] !== id[word]) return false;
    return true;
  }

  #deleteRecord(slot: number, at: number): void {
    const records = this.#records;
    this.#releaseRanking(at);
    this.#resources.tenants.release(records[at + tenantWord]!);
    if (this.#widgetUsages.size > 0) this.#widgetUsages.delete(records[at + serialWord]!);
    records[at + tenantWord] = deletedTenant;
    records[at + serialWord] = deletedSerial;
    // They are the borrower's, and no longer anybody's business.
    records.fill(absentValue, at + fieldsWord, at + this.#recordWords);
    this.#removeIndexSlot(slot);
    this.#size--;
  }

  #releaseRanking(at: number): void {
    const place = this.#records[at + rankingWord]!;
    if (place === noRanking) return;
    this.#resources.rankings.release(place);
    this.#records[at + rankingWord] = noRanking;
  }

  /** Empties a slot, and moves up those behind it that would not be found beyond an empty one. */
  #removeIndexSlot(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let empty = slot;
    for (let each = (empty + 1) & mask; index[each] !== 0; each = (each + 1) & mask) {
      const wanted = this.#records[(index[each]! - 1) * this.#recordWords + hashWord]! & mask;
      if (((each - wanted) & mask) < ((each - empty) & mask)) continue;
      index[empty] = index[each]!;
      empty = each;
    }
    index[empty] = 0;
  }

  #nextSerial(): number {
    this.#lastSerial = (this.#lastSerial + 1) | 0;
    if (this.#lastSerial === deletedSerial) this.#lastSerial++;
    return this.#lastSerial;
  }

  /** Moves what there is into a ring of this capacity, without the empty places between. */
  #rebuild(capacity: number): void {
    const stride = this.#recordWords;
    const from = this.#records;
    const records = new Int32Array(capacity * stride);
    const index = new Int32Array(capacity * 2);
    let nextPosition = this.#oldestPosition;
    for (let position = this.#oldestPosition; position < this.#nextPosition; ) {
      const at = this.#recordOffset(position);
      if (from[at + tenantWord] === deletedTenant) {
        position++;
        continue;
      }
      // What lies together in both rings is moved together.
      const to = nextPosition & (capacity - 1);
      const most = Math.min(this.#nextPosition - position, this.#capacity - at / stride, capacity - to);
      let together = 1;
      while (together < most && from[at + together * stride + tenantWord] !== deletedTenant) together++;
      records.set(from.subarray(at, at + together * stride), to * stride);
      for (let place = to; place < to + together; place++) {
        let slot = records[place * stride + hashWord]! & (index.length - 1);
        while (index[slot] !== 0) slot = (slot + 1) & (index.length - 1);
        index[slot] = place + 1;
      }
      position += together;
      nextPosition += together;
    }
    this.#capacity = capacity;
    this.#records = records;
    this.#index = index;
    this.#nextPosition = nextPosition;
  }
}

/** A session of a part: made for whoever asks for it. */
class SessionHandle implements Session {
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly #shard: SessionShard;
  readonly #subId: string;
  readonly #serial: number;
  /** Where it was last. */
  #position: number;

  constructor(shard: SessionShard, subId: string, position: number, serial: number, tenant: Tenant, createdMs: number) {
    this.#shard = shard;
    this.#subId = subId;
    this.#position = position;
    this.#serial = serial;
    this.tenant = tenant;
    this.createdMs = createdMs;
  }

  get fields(): Readonly<FieldVector> {
    const count = this.tenant.vertical.fields.length;
    return this.#refreshPosition()
      ? this.#shard.fieldsAt(this.#position, count)
      : emptyFieldVector(this.tenant.vertical);
  }

  get revision(): number {
    return this.#refreshPosition() ? this.#shard.revisionAt(this.#position) : 0;
  }

  get cachedRanking(): CachedRanking | null {
    return this.#refreshPosition() ? this.#shard.cachedRankingAt(this.#position) : null;
  }

  get widgetUsage(): WidgetUsage {
    return this.#refreshPosition() ? this.#shard.widgetUsageAt(this.#position) : new WidgetUsage();
  }

  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null {
    if (!this.#refreshPosition()) return null;
    this.#shard.mergeFieldsAt(this.#position, changes);
    return this.fields;
  }

  cacheRanking(ranked: CachedRanking, revision: number): void {
    if (!this.#refreshPosition() || this.#shard.revisionAt(this.#position) !== revision) return;
    this.#shard.cacheRankingAt(this.#position, ranked);
  }

  /** Whether its part still has it; then `#position` is where. It may have moved since it was asked for. */
  #refreshPosition(): boolean {
    if (this.#shard.hasSerialAt(this.#position, this.#serial)) return true;
    parseSubIdWords(this.#subId, handleLookupId);
    const position = this.#shard.findPosition(handleLookupId);
    if (position === noPosition || this.#shard.serialAt(position) !== this.#serial) return false;
    this.#position = position;
    return true;
  }
}

const handleLookupId = new Int32Array(subIdWordCount);
