import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { absentValue } from '../domain/field-vector.ts';
import type { Vertical } from '../domain/vertical.ts';
import { int32sPerSubId, parseSubIdHex, subIdCreatedMs, subIdTenant } from '../ids/sub-id.ts';
import { RankingArena } from './ranking-arena.ts';
import { RecordRing } from './record-ring.ts';
import {
  blockOf,
  deleteRanking,
  fieldsWord,
  findOrAddWidgetUsage,
  noRanking,
  rankingWord,
  Session,
  type SessionMemory,
} from './session.ts';

/** Sessions at adjacent positions that were created in the same quarter of an hour, for a snapshot. */
export interface SessionRange {
  /** End of the quarter of an hour, in Unix milliseconds. */
  readonly endMs: number;
  readonly from: number;
  readonly to: number;
  /** Number of the last change of a session in or near this range. */
  readonly change: number;
}

interface SessionStoreOptions {
  readonly clock: Clock;
  readonly sessionsMax: number;
  readonly sessionTtlMs: number;
  /** Verticals whose sessions are stored. */
  readonly verticals: readonly Vertical[];
}

/** Position of the 32-bit word that is used as the hash of a sub_id. All four bytes of the hash word are random in every sub_id. */
const hashWord = 4;

/**
 * Store of live sessions outside the JavaScript heap, because objects on the heap would slow garbage collection
 * (docs/contributing/decisions/sessions.md). A timer deletes expired sessions, oldest first, because all sessions have the same lifetime. A full
 * store rejects new sessions, and never deletes a live one.
 */
export class SessionStore {
  readonly #memory: SessionMemory;
  readonly #sessionsMax: number;
  readonly #sessionTtlMs: number;
  readonly #clock: Clock;
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #lookupId = new Int32Array(int32sPerSubId);
  #encodingBuffer = new Int32Array(0);
  /** Creation time of the newest session that may be missing because it expired or was not restored, in Unix milliseconds. */
  #missingUpToMs: number;

  constructor({ clock, sessionsMax, sessionTtlMs, verticals }: SessionStoreOptions) {
    const fieldsMax = Math.max(...verticals.map(({ fields }) => fields.length));
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
      verticals: indexByNumber(verticals),
      rankings: new RankingArena(),
      widgetUsages: new Map(),
      fieldsMax,
      lastChanges: new Map(),
      changeCount: 0,
    };
    this.#missingUpToMs = clock.wallMs() - sessionTtlMs;
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
   * Adds a session without pocket fields, which the store must not contain. The creation time and the tenant are part of the sub_id. Call
   * `tryMakeRoom` before. Throws a TypeError for a sub_id that is invalid or of another vertical, and a RangeError if the store is full.
   */
  add(subId: string): void {
    const { records, verticals, fieldsMax } = this.#memory;
    const id = this.#lookupId;
    if (!parseSubIdHex(subId, id) || subIdTenant(id[2]!, id[3]!, verticals) === null) {
      throw new TypeError('invalid sub_id');
    }
    const position = records.add(id);
    const words = records.getChunk(position);
    const offset = records.getOffset(position);
    words[offset + rankingWord] = noRanking;
    words.fill(absentValue, offset + fieldsWord, offset + fieldsWord + fieldsMax);
  }

  /** Deletes the oldest sessions that have expired, at most `sessionsMax` sessions. */
  deleteExpiredSessions(sessionsMax: number = bounds.expiredSessionsPerSweep): void {
    const { records, widgetUsages, lastChanges } = this.#memory;
    const expiredMs = this.#clock.wallMs() - this.#sessionTtlMs;
    for (let i = 0; i < sessionsMax && records.size > 0; i++) {
      const position = records.oldestPosition;
      const words = records.getChunk(position);
      const offset = records.getOffset(position);
      if (subIdCreatedMs(words[offset]!, words[offset + 1]!) > expiredMs) return;
      deleteRanking(this.#memory, words, offset);
      if (widgetUsages.size > 0) widgetUsages.delete(position);
      records.removeOldest();
      this.#missingUpToMs = Math.max(this.#missingUpToMs, expiredMs);
      if (blockOf(position + 1) > blockOf(position)) lastChanges.delete(blockOf(position));
    }
  }

  /**
   * Creation time after which all sessions are stored, in Unix milliseconds. If the wall clock is set back, expired sessions that were
   * deleted may be live again.
   */
  get completeSinceMs(): number {
    return this.#missingUpToMs;
  }

  /** Call this method for a session that is not restored because the store is full. */
  noteMissingSession(createdMs: number): void {
    this.#missingUpToMs = Math.max(this.#missingUpToMs, createdMs);
  }

  /** Lists the sessions that exist now in ranges, oldest first. Finding the next range takes less than a millisecond. */
  *listRanges(): Generator<SessionRange> {
    const { records, lastChanges } = this.#memory;
    const end = records.endPosition;
    for (let from = records.oldestPosition; from < end; ) {
      const endMs = this.#endOfQuarter(from);
      const blockEnd = Math.min(end, (blockOf(from) + 1) * bounds.sessionsPerPieceMax);
      let to = from + 1;
      while (to < blockEnd && this.#endOfQuarter(to) === endMs) to++;
      yield { endMs, from, to, change: lastChanges.get(blockOf(from)) ?? 0 };
      // Sessions may have expired meanwhile.
      from = Math.max(to, records.oldestPosition);
    }
  }

  #endOfQuarter(position: number): number {
    const words = this.#memory.records.getChunk(position);
    const offset = this.#memory.records.getOffset(position);
    const createdMs = subIdCreatedMs(words[offset]!, words[offset + 1]!);
    return (Math.floor(createdMs / bounds.journalRotationIntervalMs) + 1) * bounds.journalRotationIntervalMs;
  }

  /**
   * Encodes the sessions at these positions, without those that were deleted: the numbers of sessions and widget usages, sub_id and pocket
   * fields of each session, and for each widget usage the index of its session, the numbers of digests, and the digests. The next call may
   * overwrite the result.
   */
  encodeSessions(from: number, to: number): Int32Array {
    const { records, widgetUsages, fieldsMax } = this.#memory;
    const first = Math.max(from, records.oldestPosition);
    const usages: number[] = [];
    let usageCount = 0;
    const count = Math.max(0, to - first);
    const sessions = this.#reuseEncodingBuffer(2 + count * (int32sPerSubId + fieldsMax));
    for (let position = first, at = 2; position < to; position++) {
      const words = records.getChunk(position);
      const offset = records.getOffset(position);
      for (let word = 0; word < int32sPerSubId; word++) sessions[at++] = words[offset + word]!;
      for (let field = 0; field < fieldsMax; field++) sessions[at++] = words[offset + fieldsWord + field]!;
      const usage = widgetUsages.size === 0 ? undefined : widgetUsages.get(position);
      if (usage === undefined) continue;
      const { loads, events } = usage.digests;
      usages.push(position - first, loads.length, events.length, ...loads, ...events);
      usageCount++;
    }
    sessions.set([count, usageCount]);
    if (usageCount === 0) return sessions;
    const encoded = new Int32Array(sessions.length + usages.length);
    encoded.set(sessions);
    encoded.set(usages, sessions.length);
    return encoded;
  }

  /** A new buffer for each chunk of a snapshot would cause garbage collections, which delay requests. */
  #reuseEncodingBuffer(length: number): Int32Array {
    if (this.#encodingBuffer.length < length) this.#encodingBuffer = new Int32Array(length);
    return this.#encodingBuffer.subarray(0, length);
  }

  /** Adds the live sessions that `encodeSessions` encoded, with the same number of fields. The store must not contain them. */
  restoreSessions(encoded: Int32Array): void {
    const { records, verticals, fieldsMax } = this.#memory;
    const expiredMs = this.#clock.wallMs() - this.#sessionTtlMs;
    const [count, usageCount] = encoded as unknown as [number, number];
    const positions = new Float64Array(count).fill(-1);
    let at = 2;
    for (let i = 0; i < count; i++, at += int32sPerSubId + fieldsMax) {
      const createdMs = subIdCreatedMs(encoded[at]!, encoded[at + 1]!);
      if (createdMs <= expiredMs) continue;
      if (!this.tryMakeRoom()) {
        this.noteMissingSession(createdMs);
        continue;
      }
      if (subIdTenant(encoded[at + 2]!, encoded[at + 3]!, verticals) === null) continue;
      for (let word = 0; word < int32sPerSubId; word++) this.#lookupId[word] = encoded[at + word]!;
      const position = records.add(this.#lookupId);
      const words = records.getChunk(position);
      const offset = records.getOffset(position);
      words[offset + rankingWord] = noRanking;
      const fields = at + int32sPerSubId;
      for (let field = 0; field < fieldsMax; field++) words[offset + fieldsWord + field] = encoded[fields + field]!;
      positions[i] = position;
    }
    for (let i = 0; i < usageCount; i++) {
      const [index, loads, events] = encoded.subarray(at, at + 3) as unknown as [number, number, number];
      const loadsEnd = at + 3 + loads;
      const position = positions[index]!;
      if (position >= 0) {
        const usage = findOrAddWidgetUsage(this.#memory, position);
        usage.restoreDigests(encoded.subarray(at + 3, loadsEnd), encoded.subarray(loadsEnd, loadsEnd + events));
      }
      at = loadsEnd + events;
    }
  }

  /** Removes all sessions. */
  clear(): void {
    const { records, widgetUsages } = this.#memory;
    for (let position = records.oldestPosition; position < records.endPosition; position++) {
      deleteRanking(this.#memory, records.getChunk(position), records.getOffset(position));
    }
    widgetUsages.clear();
    records.clear();
  }

  /** Stops the deletion of expired sessions. */
  close(): void {
    clearInterval(this.#sweepTimer);
  }
}

function indexByNumber(verticals: readonly Vertical[]): (Vertical | undefined)[] {
  const indexed: (Vertical | undefined)[] = [];
  for (const vertical of verticals) indexed[vertical.number] = vertical;
  return indexed;
}
