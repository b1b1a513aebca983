import { absent, emptyPocketVector, type PocketVector } from '../verticals/pocket-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { KeptRankings } from './kept-rankings.ts';
import type { Ranked, Session } from './session.ts';
import type { SharedValues } from './shared-values.ts';
import { createdMsOf, readSubIdWords, subIdWords } from './sub-id-words.ts';
import { WidgetUse } from './widget-use.ts';

/** What all parts of a store share. */
export interface PartsShared {
  readonly tenants: SharedValues<Tenant>;
  readonly rankings: KeptRankings;
  /** The most pocket fields that a vertical has. */
  readonly fieldsMax: number;
}

// A record, in words of 32 bits: the id, four numbers, the fields.
const serialWord = subIdWords;
const tenantWord = subIdWords + 1;
const revisionWord = subIdWords + 2;
const rankingWord = subIdWords + 3;
const fieldsWord = subIdWords + 4;

/** In place of a tenant: the session was deleted before its turn. */
const deleted = -1;
const noRanking = -1;
/** In place of the serial of a session that was deleted. */
const noSerial = 0;
/** In place of a position. */
const nowhere = -1;
/** The word of an id that its place in the index follows from: of its random bytes. */
const hashedWord = 4;

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
export class SessionPart {
  readonly #shared: PartsShared;
  readonly #stride: number;
  /** What few sessions have, by their serials. */
  readonly #widgets = new Map<number, WidgetUse>();
  #capacity = capacityMin;
  #records: Int32Array;
  /** Places plus one, by the hash of their ids; 0 where there is none. */
  #index: Int32Array;
  #oldest = 0;
  #next = 0;
  #size = 0;
  /** Of the session put in last; 32 bits, after which they begin again. */
  #serial = 0;

  constructor(shared: PartsShared) {
    this.#shared = shared;
    this.#stride = fieldsWord + shared.fieldsMax;
    this.#records = new Int32Array(this.#capacity * this.#stride);
    this.#index = new Int32Array(this.#capacity * 2);
  }

  get size(): number {
    return this.#size;
  }

  /** The session of an id, whose text is `subId`. */
  get(id: Int32Array, subId: string): Session | undefined {
    const position = this.find(id);
    if (position === nowhere) return undefined;
    const tenant = this.#shared.tenants.at(this.#records[this.#recordOf(position) + tenantWord]!);
    return new HeldSession(this, subId, position, this.serialAt(position), tenant, createdMsOf(id[0]!, id[1]!));
  }

  /** The position of an id, or `nowhere`. */
  find(id: Int32Array): number {
    const place = this.#index[this.#slotOf(id)]! - 1;
    return place < 0 ? nowhere : this.#oldest + ((place - this.#oldest) & (this.#capacity - 1));
  }

  /** Puts in a session, unless it is here. */
  add(id: Int32Array, tenant: Tenant): boolean {
    if (this.#index[this.#slotOf(id)] !== 0) return false;
    if (this.#next - this.#oldest === this.#capacity) {
      // With a quarter of it empty it closes up; otherwise it would do so again too soon.
      this.#rebuild(this.#size > this.#capacity * 0.75 ? this.#capacity * 2 : this.#capacity);
    }
    const place = this.#next++ & (this.#capacity - 1);
    const at = place * this.#stride;
    const records = this.#records;
    records.set(id, at);
    records[at + serialWord] = this.#nextSerial();
    records[at + tenantWord] = this.#shared.tenants.hold(tenant);
    records[at + revisionWord] = 0;
    records[at + rankingWord] = noRanking;
    records.fill(absent, at + fieldsWord, at + this.#stride);
    this.#index[this.#slotOf(id)] = place + 1;
    this.#size++;
    return true;
  }

  /** Says whether it was here. */
  delete(id: Int32Array): boolean {
    const slot = this.#slotOf(id);
    const place = this.#index[slot]! - 1;
    if (place < 0) return false;
    this.#drop(slot, place * this.#stride);
    return true;
  }

  /** Drops the sessions created up to a moment, as far as nothing younger came before them; how many they were. */
  dropCreatedUpTo(lastMs: number): number {
    const sizeBefore = this.#size;
    for (; this.#oldest < this.#next; this.#oldest++) {
      const at = this.#recordOf(this.#oldest);
      const records = this.#records;
      if (records[at + tenantWord] === deleted) continue;
      if (createdMsOf(records[at]!, records[at + 1]!) > lastMs) break;
      this.#drop(this.#slotOf(records.subarray(at, at + subIdWords)), at);
    }
    if (this.#capacity > capacityMin && this.#next - this.#oldest < this.#capacity / 4) {
      this.#rebuild(this.#capacity / 2);
    }
    return sizeBefore - this.#size;
  }

  /** Whether the session of this serial is at this position. */
  has(position: number, serial: number): boolean {
    return position >= this.#oldest && position < this.#next && this.serialAt(position) === serial;
  }

  /** Only of a position that has a session, as all that follow. */
  serialAt(position: number): number {
    return this.#records[this.#recordOf(position) + serialWord]!;
  }

  fieldsAt(position: number, count: number): PocketVector {
    const from = this.#recordOf(position) + fieldsWord;
    const fields: PocketVector = [];
    for (let field = 0; field < count; field++) fields.push(this.#records[from + field]!);
    return fields;
  }

  revisionAt(position: number): number {
    return this.#records[this.#recordOf(position) + revisionWord]!;
  }

  /** Throws a RangeError, with nothing written, for what is no field: it would be another session's. */
  mergeAt(position: number, changes: readonly number[]): void {
    const { fieldsMax } = this.#shared;
    for (let i = 0; i < changes.length; i += 2) {
      if (changes[i]! >>> 0 !== changes[i] || changes[i]! >= fieldsMax)
        throw new RangeError('a session has no such field');
    }
    const at = this.#recordOf(position);
    const records = this.#records;
    for (let i = 0; i < changes.length; i += 2) records[at + fieldsWord + changes[i]!] = changes[i + 1]!;
    records[at + revisionWord]!++;
    this.#dropRanking(at);
  }

  rankedAt(position: number): Ranked | null {
    const place = this.#records[this.#recordOf(position) + rankingWord]!;
    return place === noRanking ? null : this.#shared.rankings.read(place);
  }

  keepRankingAt(position: number, ranked: Ranked): void {
    const at = this.#recordOf(position);
    this.#dropRanking(at);
    this.#records[at + rankingWord] = this.#shared.rankings.keep(ranked);
  }

  widgetAt(position: number): WidgetUse {
    const serial = this.serialAt(position);
    let use = this.#widgets.get(serial);
    if (use === undefined) {
      use = new WidgetUse();
      this.#widgets.set(serial, use);
    }
    return use;
  }

  #recordOf(position: number): number {
    return (position & (this.#capacity - 1)) * this.#stride;
  }

  /** The slot of the index that an id has, or would get. */
  #slotOf(id: Int32Array): number {
    const index = this.#index;
    const mask = index.length - 1;
    let slot = id[hashedWord]! & mask;
    while (index[slot] !== 0 && !this.#isAt(id, (index[slot]! - 1) * this.#stride)) slot = (slot + 1) & mask;
    return slot;
  }

  #isAt(id: Int32Array, at: number): boolean {
    for (let word = 0; word < subIdWords; word++) if (this.#records[at + word] !== id[word]) return false;
    return true;
  }

  #drop(slot: number, at: number): void {
    const records = this.#records;
    this.#dropRanking(at);
    this.#shared.tenants.release(records[at + tenantWord]!);
    if (this.#widgets.size > 0) this.#widgets.delete(records[at + serialWord]!);
    records[at + tenantWord] = deleted;
    records[at + serialWord] = noSerial;
    // They are the borrower's, and no longer anybody's business.
    records.fill(absent, at + fieldsWord, at + this.#stride);
    this.#vacate(slot);
    this.#size--;
  }

  #dropRanking(at: number): void {
    const place = this.#records[at + rankingWord]!;
    if (place === noRanking) return;
    this.#shared.rankings.release(place);
    this.#records[at + rankingWord] = noRanking;
  }

  /** Empties a slot, and moves up those behind it that would not be found beyond an empty one. */
  #vacate(slot: number): void {
    const index = this.#index;
    const mask = index.length - 1;
    let empty = slot;
    for (let each = (empty + 1) & mask; index[each] !== 0; each = (each + 1) & mask) {
      const wanted = this.#records[(index[each]! - 1) * this.#stride + hashedWord]! & mask;
      if (((each - wanted) & mask) < ((each - empty) & mask)) continue;
      index[empty] = index[each]!;
      empty = each;
    }
    index[empty] = 0;
  }

  #nextSerial(): number {
    this.#serial = (this.#serial + 1) | 0;
    if (this.#serial === noSerial) this.#serial++;
    return this.#serial;
  }

  /** Moves what there is into a ring of this capacity, without the empty places between. */
  #rebuild(capacity: number): void {
    const stride = this.#stride;
    const from = this.#records;
    const records = new Int32Array(capacity * stride);
    const index = new Int32Array(capacity * 2);
    let next = this.#oldest;
    for (let position = this.#oldest; position < this.#next; ) {
      const at = this.#recordOf(position);
      if (from[at + tenantWord] === deleted) {
        position++;
        continue;
      }
      // What lies together in both rings is moved together.
      const to = next & (capacity - 1);
      const most = Math.min(this.#next - position, this.#capacity - at / stride, capacity - to);
      let together = 1;
      while (together < most && from[at + together * stride + tenantWord] !== deleted) together++;
      records.set(from.subarray(at, at + together * stride), to * stride);
      for (let place = to; place < to + together; place++) {
        let slot = records[place * stride + hashedWord]! & (index.length - 1);
        while (index[slot] !== 0) slot = (slot + 1) & (index.length - 1);
        index[slot] = place + 1;
      }
      position += together;
      next += together;
    }
    this.#capacity = capacity;
    this.#records = records;
    this.#index = index;
    this.#next = next;
  }
}

/** A session of a part: made for whoever asks for it. */
class HeldSession implements Session {
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly #part: SessionPart;
  readonly #subId: string;
  readonly #serial: number;
  /** Where it was last. */
  #position: number;

  constructor(part: SessionPart, subId: string, position: number, serial: number, tenant: Tenant, createdMs: number) {
    this.#part = part;
    this.#subId = subId;
    this.#position = position;
    this.#serial = serial;
    this.tenant = tenant;
    this.createdMs = createdMs;
  }

  get fields(): Readonly<PocketVector> {
    const count = this.tenant.vertical.fields.length;
    return this.#isHeld() ? this.#part.fieldsAt(this.#position, count) : emptyPocketVector(this.tenant.vertical);
  }

  get revision(): number {
    return this.#isHeld() ? this.#part.revisionAt(this.#position) : 0;
  }

  get ranked(): Ranked | null {
    return this.#isHeld() ? this.#part.rankedAt(this.#position) : null;
  }

  get widget(): WidgetUse {
    return this.#isHeld() ? this.#part.widgetAt(this.#position) : new WidgetUse();
  }

  merge(changes: readonly number[]): Readonly<PocketVector> | null {
    if (!this.#isHeld()) return null;
    this.#part.mergeAt(this.#position, changes);
    return this.fields;
  }

  keepRanking(ranked: Ranked, revision: number): void {
    if (!this.#isHeld() || this.#part.revisionAt(this.#position) !== revision) return;
    this.#part.keepRankingAt(this.#position, ranked);
  }

  /** Whether its part still has it; then `#position` is where. It may have moved since it was asked for. */
  #isHeld(): boolean {
    if (this.#part.has(this.#position, this.#serial)) return true;
    readSubIdWords(this.#subId, soughtAgain);
    const position = this.#part.find(soughtAgain);
    if (position === nowhere || this.#part.serialAt(position) !== this.#serial) return false;
    this.#position = position;
    return true;
  }
}

const soughtAgain = new Int32Array(subIdWords);
