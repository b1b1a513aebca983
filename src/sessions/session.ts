import { bounds } from '../bounds.ts';
import { emptyFieldVector, type FieldVector } from '../domain/field-vector.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Vertical } from '../domain/vertical.ts';
import { int32sPerSubId, subIdCreatedMs, subIdTenant } from '../ids/sub-id.ts';
import type { CachedRanking, RankingArena } from './ranking-arena.ts';
import type { RecordRing } from './record-ring.ts';
import { WidgetUsage } from './widget-usage.ts';

// Layout of a session record in 32-bit words: the sub_id, two numbers, and the pocket fields.
const revisionWord = int32sPerSubId;
export const rankingWord = int32sPerSubId + 1;
export const fieldsWord = int32sPerSubId + 2;

export const noRanking = -1;

/** Memory of the stored sessions, to which `Session` gives access. */
export interface SessionMemory {
  readonly records: RecordRing;
  /** Verticals by number. */
  readonly verticals: readonly (Vertical | undefined)[];
  readonly rankings: RankingArena;
  /** Widget usage by position of the session's record. The usage is stored in a map, because few sessions have widgets. */
  readonly widgetUsages: Map<number, WidgetUsage>;
  readonly fieldsMax: number;
  /** Number of the last change of the sessions in a block of `bounds.sessionsPerPieceMax` positions, by block number. */
  readonly lastChanges: Map<number, number>;
  changeCount: number;
}

export function blockOf(position: number): number {
  return Math.floor(position / bounds.sessionsPerPieceMax);
}

function markChanged(memory: SessionMemory, position: number): void {
  memory.lastChanges.set(blockOf(position), ++memory.changeCount);
}

export function findOrAddWidgetUsage(memory: SessionMemory, position: number): WidgetUsage {
  return getOrAdd(memory.widgetUsages, position, () => new WidgetUsage(() => markChanged(memory, position)));
}

export function deleteRanking({ rankings }: SessionMemory, words: Int32Array, offset: number): void {
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
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly #memory: SessionMemory;
  readonly #position: number;
  readonly #words: Int32Array;
  readonly #offset: number;

  constructor(memory: SessionMemory, position: number) {
    const words = memory.records.getChunk(position);
    const offset = memory.records.getOffset(position);
    this.tenant = subIdTenant(words[offset + 2]!, words[offset + 3]!, memory.verticals)!;
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
    return this.#isDeleted ? new WidgetUsage() : findOrAddWidgetUsage(this.#memory, this.#position);
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
    markChanged(this.#memory, this.#position);
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
