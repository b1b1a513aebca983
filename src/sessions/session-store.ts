import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { absentValue, emptyFieldVector, type FieldVector } from '../domain/field-vector.ts';
import type { Tenant } from '../domain/tenant.ts';
import { int32sPerSubId, parseSubIdHex, subIdCreatedMs } from '../ids/sub-id.ts';
import { InternTable } from './intern-table.ts';
import { type CachedRanking, RankingArena } from './ranking-arena.ts';
import { RecordRing } from './record-ring.ts';
import { WidgetUsage } from './widget-usage.ts';

interface SessionStoreOptions {
  readonly clock: Clock;
  readonly sessionsMax: number;
  readonly sessionTtlMs: number;
  /** Maximum number of pocket fields in a vertical. */
  readonly fieldsMax: number;
}

// Layout of a session record in 32-bit words: the sub_id, three numbers, and the pocket fields.
const tenantWord = int32sPerSubId;
const revisionWord = int32sPerSubId + 1;
const rankingWord = int32sPerSubId + 2;
const fieldsWord = int32sPerSubId + 3;

const noRanking = -1;
/** Position of the 32-bit word that is used as the hash of a sub_id. All four bytes of the hash word are random in every sub_id. */
const hashWord = 4;

/** Memory of the stored sessions, to which `Session` gives access. */
interface SessionMemory {
  readonly records: RecordRing;
  readonly tenants: InternTable<Tenant>;
  readonly rankings: RankingArena;
  /** Widget usage by position of the session's record. The usage is stored in a map, because few sessions have widgets. */
  readonly widgetUsages: Map<number, WidgetUsage>;
  readonly fieldsMax: number;
}

/**
 * Store of live sessions outside the JavaScript heap, because objects on the heap would slow garbage collection
 * (docs/contributing/decisions/sessions.md). A timer deletes expired sessions, the oldest first, because
 * all sessions have the same lifetime. A full store rejects new sessions, and never deletes a live session in favor of a new one.
 */
export class SessionStore {
  readonly #memory: SessionMemory;
  readonly #sessionsMax: number;
  readonly #sessionTtlMs: number;
  readonly #clock: Clock;
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #lookupId = new Int32Array(int32sPerSubId);

  constructor({ clock, sessionsMax, sessionTtlMs, fieldsMax }: SessionStoreOptions) {
    this.#clock = clock;
    this.#sessionsMax = sessionsMax;
    this.#sessionTtlMs = sessionTtlMs;
    this.#memory = {
      records: new RecordRing({
        recordWords: fieldsWord + fieldsMax,
        keyWords: int32sPerSubId,
        hashWord,
        recordsMax: sessionsMax,
      }),
      tenants: new InternTable(),
      rankings: new RankingArena(),
      widgetUsages: new Map(),
      fieldsMax,
    };
    this.#sweepTimer = setInterval(() => this.deleteExpiredSessions(), bounds.sessionSweepIntervalMs);
  }

  /** Number of sessions, including expired sessions that are not deleted yet. */
  get size(): number {
    return this.#memory.records.size;
  }

  /** Finds a session. The session may have expired. `subId` may be any text. */
  get(subId: string): Session | undefined {
    if (!parseSubIdHex(subId, this.#lookupId)) return undefined;
    const position = this.#memory.records.find(this.#lookupId);
    return position < 0 ? undefined : new Session(this.#memory, position);
  }

  /** Deletes a few expired sessions if the store is full. Returns whether the store has room for another session. */
  tryMakeRoom(): boolean {
    if (this.size >= this.#sessionsMax) this.deleteExpiredSessions(bounds.expiredRecordsPerInsert);
    return this.size < this.#sessionsMax;
  }

  /**
   * Adds a session without pocket fields, unless the store already contains the session. The creation time is part of the sub_id. Call
   * `tryMakeRoom` before. Throws a TypeError for an invalid sub_id, and a RangeError if the store is full.
   */
  add(subId: string, tenant: Tenant): void {
    if (!parseSubIdHex(subId, this.#lookupId)) throw new TypeError('invalid sub_id');
    const { records, tenants, fieldsMax } = this.#memory;
    if (records.find(this.#lookupId) >= 0) return;
    const position = records.add(this.#lookupId);
    const words = records.getChunk(position);
    const offset = records.getOffset(position);
    words[offset + tenantWord] = tenants.internValue(tenant);
    words[offset + rankingWord] = noRanking;
    words.fill(absentValue, offset + fieldsWord, offset + fieldsWord + fieldsMax);
  }

  /** Deletes the oldest sessions that have expired, at most `sessionsMax` sessions. */
  deleteExpiredSessions(sessionsMax: number = bounds.expiredSessionsPerSweep): void {
    const { records, tenants, widgetUsages } = this.#memory;
    const expiredMs = this.#clock.wallMs() - this.#sessionTtlMs;
    for (let i = 0; i < sessionsMax && records.size > 0; i++) {
      const position = records.oldestPosition;
      const words = records.getChunk(position);
      const offset = records.getOffset(position);
      if (subIdCreatedMs(words[offset]!, words[offset + 1]!) > expiredMs) return;
      deleteRanking(this.#memory, words, offset);
      tenants.releaseValue(words[offset + tenantWord]!);
      if (widgetUsages.size > 0) widgetUsages.delete(position);
      records.removeOldest();
    }
  }

  /** Stops the deletion of expired sessions. */
  close(): void {
    clearInterval(this.#sweepTimer);
  }
}

function deleteRanking({ rankings }: SessionMemory, words: Int32Array, offset: number): void {
  const ranking = words[offset + rankingWord]!;
  if (ranking === noRanking) return;
  rankings.releaseRanking(ranking);
  words[offset + rankingWord] = noRanking;
}

/**
 * A live session (docs/contract.md#sessions). The store has millions of sessions, so a session contains only data that later requests need;
 * the referrer tag and the metadata are only in the ledger. An object of this class gives access to the record of one session. Each lookup
 * creates a new object.
 *
 * A session expires `sessionTtlMs` after `createdMs`. Callers must check the time, because the store may still contain an expired session.
 *
 * The store may delete a session while code that uses the session awaits a promise. A deleted session has no fields and no ranking, and
 * ignores changes.
 */
export class Session {
  /** Tenant of the session, an object that many sessions share. */
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly #memory: SessionMemory;
  readonly #position: number;
  readonly #words: Int32Array;
  readonly #offset: number;

  constructor(memory: SessionMemory, position: number) {
    const words = memory.records.getChunk(position);
    const offset = memory.records.getOffset(position);
    this.tenant = memory.tenants.get(words[offset + tenantWord]!);
    this.createdMs = subIdCreatedMs(words[offset]!, words[offset + 1]!);
    this.#memory = memory;
    this.#position = position;
    this.#words = words;
    this.#offset = offset;
  }

  /** Copy of the current pocket fields. */
  get pocketFields(): Readonly<FieldVector> {
    const { vertical } = this.tenant;
    if (this.#isDeleted) return emptyFieldVector(vertical);
    const start = this.#offset + fieldsWord;
    const fields: FieldVector = [];
    for (let field = 0; field < vertical.fields.length; field++) fields.push(this.#words[start + field]!);
    return fields;
  }

  /** Revision of the pocket fields: number of calls of `mergeFields`. */
  get fieldsRevision(): number {
    return this.#isDeleted ? 0 : this.#words[this.#offset + revisionWord]!;
  }

  /** Ranking for the current pocket fields, or null if there is no ranking for these fields. */
  get cachedRanking(): CachedRanking | null {
    const ranking = this.#isDeleted ? noRanking : this.#words[this.#offset + rankingWord]!;
    return ranking === noRanking ? null : this.#memory.rankings.readRanking(ranking);
  }

  /** Widget usage, which is created on first access, because most sessions have no widget. */
  get widgetUsage(): WidgetUsage {
    const { widgetUsages } = this.#memory;
    const usage = widgetUsages.get(this.#position) ?? new WidgetUsage();
    if (!this.#isDeleted) widgetUsages.set(this.#position, usage);
    return usage;
  }

  /**
   * Merges field changes (index, value, index, value, ...) into the pocket fields and drops the cached ranking. Returns the new fields, or
   * null if the store has deleted the session. Throws a RangeError, without changing a field, if a field index is too large.
   */
  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null {
    const { fieldsMax } = this.#memory;
    for (let i = 0; i < changes.length; i += 2) {
      if (changes[i]! >>> 0 !== changes[i] || changes[i]! >= fieldsMax)
        throw new RangeError('field index out of range');
    }
    if (this.#isDeleted) return null;
    const start = this.#offset + fieldsWord;
    for (let i = 0; i < changes.length; i += 2) this.#words[start + changes[i]!] = changes[i + 1]!;
    this.#words[this.#offset + revisionWord]!++;
    deleteRanking(this.#memory, this.#words, this.#offset);
    return this.pocketFields;
  }

  /** Caches a ranking that was computed when `fieldsRevision` was `revision`. Ignores the ranking if `fieldsRevision` has changed. */
  cacheRanking(ranked: CachedRanking, revision: number): void {
    if (this.#isDeleted || this.fieldsRevision !== revision) return;
    deleteRanking(this.#memory, this.#words, this.#offset);
    this.#words[this.#offset + rankingWord] = this.#memory.rankings.storeRanking(ranked);
  }

  get #isDeleted(): boolean {
    return this.#position < this.#memory.records.oldestPosition;
  }
}
