import { int32sPerSubId, parseSubIdHex, subIdCreatedMs } from '../ids/sub-id.ts';
import { absentValue, emptyFieldVector, type FieldVector } from '../verticals/field-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { InternTable } from './intern-table.ts';
import type { RankingArena } from './ranking-arena.ts';
import type { CachedRanking, Session } from './session-store.ts';
import { WidgetUsage } from './widget-usage.ts';

interface ShardResources {
  readonly tenants: InternTable<Tenant>;
  readonly rankings: RankingArena;
  /** Maximum number of pocket fields in a vertical. */
  readonly fieldsMax: number;
}

// Layout of a session record in 32-bit words: the sub_id, four numbers, and the pocket fields.
const serialWord = int32sPerSubId;
const tenantWord = int32sPerSubId + 1;
const revisionWord = int32sPerSubId + 2;
const rankingWord = int32sPerSubId + 3;
const fieldsWord = int32sPerSubId + 4;

const deletedTenant = -1;
const noRanking = -1;
const deletedSerial = 0;
const noPosition = -1;
/** Position of the 32-bit word that is used as the hash of a sub_id. All four bytes of the hash word are random in every sub_id. */
const hashWord = 4;

const capacityMin = 16;

/**
 * Shard of the live sessions. The sessions are packed into a ring buffer outside the JavaScript heap, because objects on the heap would
 * slow garbage collection (docs/contributing/decisions/sessions.md).
 *
 * The oldest sessions expire first, because all sessions have the same lifetime. Ring positions do not wrap around; the low bits of a
 * position are the record's index in memory. A hash index with open addressing maps each sub_id to its record. The hash of a sub_id
 * consists of random bytes that the service generated, so callers cannot cause hash collisions.
 *
 * A deleted session leaves a gap in the ring until it is the oldest session, or until a full ring is rebuilt without gaps. Rebuilding the
 * ring changes the positions of sessions, but not their serial numbers.
 */
export class SessionShard {
  readonly #resources: ShardResources;
  readonly #recordWords: number;
  /** Widget usage by serial number of the session. The usage is stored in a map, not in an array, because few sessions have widgets. */
  readonly #widgetUsages = new Map<number, WidgetUsage>();
  #capacity = capacityMin;
  #records: Int32Array;
  /** Hash index with at least half of its slots empty. A slot contains the index of a record plus one, or 0 if empty. */
  #index: Int32Array;
  #oldestPosition = 0;
  #nextPosition = 0;
  #size = 0;
  /** Serial number of the newest session. Serial numbers have 32 bits and wrap around. */
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

  get(id: Int32Array, subId: string): Session | undefined {
    const position = this.findSessionPosition(id);
    if (position === noPosition) return undefined;
    return new SessionHandle(this, subId, position, subIdCreatedMs(id[0]!, id[1]!));
  }

  findSessionPosition(id: Int32Array): number {
    const recordIndex = this.#index[this.#findHashSlot(id)]! - 1;
    return recordIndex < 0
      ? noPosition
      : this.#oldestPosition + ((recordIndex - this.#oldestPosition) & (this.#capacity - 1));
  }

  add(id: Int32Array, tenant: Tenant): boolean {
    if (this.#index[this.#findHashSlot(id)] !== 0) return false;
    if (this.#nextPosition - this.#oldestPosition === this.#capacity) {
      // If live sessions fill more than 75 % of the ring, the capacity is doubled; otherwise, removing the gaps frees enough space.
      this.#resizeRingBuffer(this.#size > this.#capacity * 0.75 ? this.#capacity * 2 : this.#capacity);
    }
    const recordIndex = this.#nextPosition++ & (this.#capacity - 1);
    const offset = recordIndex * this.#recordWords;
    const records = this.#records;
    records.set(id, offset);
    records[offset + serialWord] = this.#nextSerialNumber();
    records[offset + tenantWord] = this.#resources.tenants.internValue(tenant);
    records[offset + revisionWord] = 0;
    records[offset + rankingWord] = noRanking;
    records.fill(absentValue, offset + fieldsWord, offset + this.#recordWords);
    this.#index[this.#findHashSlot(id)] = recordIndex + 1;
    this.#size++;
    return true;
  }

  delete(id: Int32Array): boolean {
    const slot = this.#findHashSlot(id);
    const recordIndex = this.#index[slot]! - 1;
    if (recordIndex < 0) return false;
    this.#deleteRecord(slot, recordIndex * this.#recordWords);
    return true;
  }

  /** Deletes the sessions that were created at `lastMs` or earlier. Returns the number of deleted sessions. */
  deleteSessionsCreatedUntil(lastMs: number): number {
    const sizeBefore = this.#size;
    for (; this.#oldestPosition < this.#nextPosition; this.#oldestPosition++) {
      const offset = this.#getRecordOffset(this.#oldestPosition);
      const records = this.#records;
      if (records[offset + tenantWord] === deletedTenant) continue;
      if (subIdCreatedMs(records[offset]!, records[offset + 1]!) > lastMs) break;
      this.#deleteRecord(this.#findHashSlot(records.subarray(offset, offset + int32sPerSubId)), offset);
    }
    if (this.#capacity > capacityMin && this.#nextPosition - this.#oldestPosition < this.#capacity / 4) {
      this.#resizeRingBuffer(this.#capacity / 2);
    }
    return sizeBefore - this.#size;
  }

  hasSession(position: number, serial: number): boolean {
    return (
      position >= this.#oldestPosition && position < this.#nextPosition && this.sessionSerialNumber(position) === serial
    );
  }

  // In all public methods below, `position` must be the position of a stored session.

  sessionSerialNumber(position: number): number {
    return this.#records[this.#getRecordOffset(position) + serialWord]!;
  }

  getTenant(position: number): Tenant {
    return this.#resources.tenants.get(this.#records[this.#getRecordOffset(position) + tenantWord]!);
  }

  getFields(position: number, count: number): FieldVector {
    const start = this.#getRecordOffset(position) + fieldsWord;
    const fields: FieldVector = [];
    for (let field = 0; field < count; field++) fields.push(this.#records[start + field]!);
    return fields;
  }

  getFieldsRevision(position: number): number {
    return this.#records[this.#getRecordOffset(position) + revisionWord]!;
  }

  /** Merges field changes into the pocket fields. Throws a RangeError, without changing a field, if a field index is too large. */
  mergeFields(position: number, changes: readonly number[]): void {
    const { fieldsMax } = this.#resources;
    for (let i = 0; i < changes.length; i += 2) {
      if (changes[i]! >>> 0 !== changes[i] || changes[i]! >= fieldsMax)
        throw new RangeError('field index out of range');
    }
    const offset = this.#getRecordOffset(position);
    const records = this.#records;
    for (let i = 0; i < changes.length; i += 2) records[offset + fieldsWord + changes[i]!] = changes[i + 1]!;
    records[offset + revisionWord]!++;
    this.#deleteRanking(offset);
  }

  getCachedRanking(position: number): CachedRanking | null {
    const ranking = this.#records[this.#getRecordOffset(position) + rankingWord]!;
    return ranking === noRanking ? null : this.#resources.rankings.readRanking(ranking);
  }

  setCachedRanking(position: number, ranked: CachedRanking): void {
    const offset = this.#getRecordOffset(position);
    this.#deleteRanking(offset);
    this.#records[offset + rankingWord] = this.#resources.rankings.storeRanking(ranked);
  }

  sessionWidgetUsage(position: number): WidgetUsage {
    const serial = this.sessionSerialNumber(position);
    let usage = this.#widgetUsages.get(serial);
    if (usage === undefined) {
      usage = new WidgetUsage();
      this.#widgetUsages.set(serial, usage);
    }
    return usage;
  }

  #getRecordOffset(position: number): number {
    return (position & (this.#capacity - 1)) * this.#recordWords;
  }

  /** Returns the index slot of a sub_id, or the empty slot in which the sub_id would be inserted. */
  #findHashSlot(id: Int32Array): number {
    const index = this.#index;
    const mask = index.length - 1;
    let slot = id[hashWord]! & mask;
    while (index[slot] !== 0 && !this.#slotHasSubId(id, (index[slot]! - 1) * this.#recordWords))
      slot = (slot + 1) & mask;
    return slot;
  }

  #slotHasSubId(id: Int32Array, offset: number): boolean {
    for (let word = 0; word < int32sPerSubId; word++) if (this.#records[offset + word] !== id[word]) return false;
    return true;
  }

  #deleteRecord(slot: number, offset: number): void {
    const records = this.#records;
    this.#deleteRanking(offset);
    this.#resources.tenants.releaseValue(records[offset + tenantWord]!);
    if (this.#widgetUsages.size > 0) this.#widgetUsages.delete(records[offset + serialWord]!);
    records[offset + tenantWord] = deletedTenant;
    records[offset + serialWord] = deletedSerial;
    // The pocket fields of the deleted session are cleared, because they are personal data.
    records.fill(absentValue, offset + fieldsWord, offset + this.#recordWords);
    this.#clearHashSlot(slot);
    this.#size--;
  }

  #deleteRanking(offset: number): void {
    const ranking = this.#records[offset + rankingWord]!;
    if (ranking === noRanking) return;
    this.#resources.rankings.releaseRanking(ranking);
    this.#records[offset + rankingWord] = noRanking;
  }

  /** Clears a slot of the hash index. Moves later entries into the cleared slot, because a lookup stops at an empty slot. */
  #clearHashSlot(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let empty = slot;
    for (let next = (empty + 1) & mask; index[next] !== 0; next = (next + 1) & mask) {
      const home = this.#records[(index[next]! - 1) * this.#recordWords + hashWord]! & mask;
      if (((next - home) & mask) < ((next - empty) & mask)) continue;
      index[empty] = index[next]!;
      empty = next;
    }
    index[empty] = 0;
  }

  #nextSerialNumber(): number {
    this.#lastSerial = (this.#lastSerial + 1) | 0;
    if (this.#lastSerial === deletedSerial) this.#lastSerial++;
    return this.#lastSerial;
  }

  /** Copies the live sessions into a new ring with this capacity, without the gaps of deleted sessions. */
  #resizeRingBuffer(capacity: number): void {
    const stride = this.#recordWords;
    const oldRecords = this.#records;
    const records = new Int32Array(capacity * stride);
    const index = new Int32Array(capacity * 2);
    let nextPosition = this.#oldestPosition;
    for (let position = this.#oldestPosition; position < this.#nextPosition; ) {
      const offset = this.#getRecordOffset(position);
      if (oldRecords[offset + tenantWord] === deletedTenant) {
        position++;
        continue;
      }
      // Copies adjacent records together: up to the next deleted session, or to the end of the old or the new buffer.
      const to = nextPosition & (capacity - 1);
      const runMax = Math.min(this.#nextPosition - position, this.#capacity - offset / stride, capacity - to);
      let run = 1;
      while (run < runMax && oldRecords[offset + run * stride + tenantWord] !== deletedTenant) run++;
      records.set(oldRecords.subarray(offset, offset + run * stride), to * stride);
      for (let recordIndex = to; recordIndex < to + run; recordIndex++) {
        let slot = records[recordIndex * stride + hashWord]! & (index.length - 1);
        while (index[slot] !== 0) slot = (slot + 1) & (index.length - 1);
        index[slot] = recordIndex + 1;
      }
      position += run;
      nextPosition += run;
    }
    this.#capacity = capacity;
    this.#records = records;
    this.#index = index;
    this.#nextPosition = nextPosition;
  }
}

/** Gives access to one session of the shard. Each lookup creates a new `SessionHandle`. */
class SessionHandle implements Session {
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly #shard: SessionShard;
  readonly #subId: string;
  readonly #serial: number;
  /** Last known position of the session's record in the ring buffer of the shard. */
  #position: number;

  constructor(shard: SessionShard, subId: string, position: number, createdMs: number) {
    this.#shard = shard;
    this.#subId = subId;
    this.#position = position;
    this.#serial = shard.sessionSerialNumber(position);
    this.tenant = shard.getTenant(position);
    this.createdMs = createdMs;
  }

  get pocketFields(): Readonly<FieldVector> {
    const count = this.tenant.vertical.fields.length;
    return this.#updateRecordOffset()
      ? this.#shard.getFields(this.#position, count)
      : emptyFieldVector(this.tenant.vertical);
  }

  get fieldsRevision(): number {
    return this.#updateRecordOffset() ? this.#shard.getFieldsRevision(this.#position) : 0;
  }

  get cachedRanking(): CachedRanking | null {
    return this.#updateRecordOffset() ? this.#shard.getCachedRanking(this.#position) : null;
  }

  get widgetUsage(): WidgetUsage {
    return this.#updateRecordOffset() ? this.#shard.sessionWidgetUsage(this.#position) : new WidgetUsage();
  }

  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null {
    if (!this.#updateRecordOffset()) return null;
    this.#shard.mergeFields(this.#position, changes);
    return this.pocketFields;
  }

  cacheRanking(ranked: CachedRanking, revision: number): void {
    if (!this.#updateRecordOffset() || this.#shard.getFieldsRevision(this.#position) !== revision) return;
    this.#shard.setCachedRanking(this.#position, ranked);
  }

  /** Updates `#position` if the session's record has moved in the ring. Returns false if the session was deleted. */
  #updateRecordOffset(): boolean {
    if (this.#shard.hasSession(this.#position, this.#serial)) return true;
    parseSubIdHex(this.#subId, handleLookupId);
    const position = this.#shard.findSessionPosition(handleLookupId);
    if (position === noPosition || this.#shard.sessionSerialNumber(position) !== this.#serial) return false;
    this.#position = position;
    return true;
  }
}

const handleLookupId = new Int32Array(int32sPerSubId);
