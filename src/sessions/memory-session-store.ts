import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { KeptRankings } from './kept-rankings.ts';
import type { Session } from './session.ts';
import { SessionPart } from './session-part.ts';
import type { SessionStore } from './session-store.ts';
import { SharedValues } from './shared-values.ts';
import { readSubIdWords, subIdWords } from './sub-id-words.ts';

export interface MemorySessionStoreOptions {
  readonly clock: Clock;
  readonly sessionsMax: number;
  readonly sessionTtlMs: number;
  /** The most pocket fields that a vertical served has. */
  readonly fieldsMax: number;
  /** How many parts hold the sessions. */
  readonly parts: number;
  /** In this time every part is swept of expired sessions once. */
  readonly sweepMs: number;
}

/** Part sizes differ by up to this share around their mean. */
const spread = 0.3;
/** Which part an id belongs to is decided by two of its random bytes: the last two before the MAC. */
const slots = 2 ** 16;
const slotWord = 5;

/**
 * Live sessions, spread over many small parts. A part that is full moves into twice the memory, which would take hundreds
 * of milliseconds if it held a million. The parts get unequal shares, so that they do not all grow in the same second; and
 * what has expired is swept part by part.
 */
export class MemorySessionStore implements SessionStore {
  readonly #parts: SessionPart[];
  readonly #partOfSlot: Uint16Array;
  readonly #sessionsMax: number;
  readonly #sessionTtlMs: number;
  readonly #sweeper: NodeJS.Timeout;
  readonly #clock: Clock;
  /** The id being looked for. */
  readonly #id = new Int32Array(subIdWords);
  /** When there was no room in any part; monotonic time. */
  #missedRoomMs = Number.NEGATIVE_INFINITY;
  #size = 0;
  #sweepNext = 0;

  constructor(options: MemorySessionStoreOptions) {
    const { clock, sessionsMax, sessionTtlMs, fieldsMax, parts, sweepMs } = options;
    this.#clock = clock;
    this.#sessionsMax = sessionsMax;
    this.#sessionTtlMs = sessionTtlMs;
    this.#partOfSlot = new Uint16Array(slots);
    const shared = { tenants: new SharedValues<Tenant>(), rankings: new KeptRankings(), fieldsMax };
    this.#parts = Array.from({ length: parts }, (_, part) => {
      const from = Math.round(shareBelow(part, parts) * slots);
      const to = Math.round(shareBelow(part + 1, parts) * slots);
      this.#partOfSlot.fill(part, from, to);
      return new SessionPart(shared);
    });
    this.#sweeper = setInterval(() => this.sweepNextPart(), Math.max(1, Math.floor(sweepMs / parts)));
  }

  get size(): number {
    return this.#size;
  }

  get(subId: string): Session | undefined {
    return readSubIdWords(subId, this.#id) ? this.#partOf(this.#id)?.get(this.#id, subId) : undefined;
  }

  add(subId: string, tenant: Tenant): boolean {
    if (this.#size >= this.#sessionsMax && !this.#sweepForRoom()) return false;
    if (!readSubIdWords(subId, this.#id)) throw new TypeError('a session was put in by what is no id');
    const part = this.#partOf(this.#id);
    if (part === undefined) return false;
    if (part.add(this.#id, tenant)) this.#size++;
    return true;
  }

  delete(subId: string): void {
    if (readSubIdWords(subId, this.#id) && this.#partOf(this.#id)?.delete(this.#id)) this.#size--;
  }

  /** Drops the expired sessions of one part, the oldest of which stand first; parts take turns. */
  sweepNextPart(): void {
    const part = this.#parts[this.#sweepNext];
    if (part === undefined) return;
    this.#size -= part.dropCreatedUpTo(this.#clock.wallMs() - this.#sessionTtlMs);
    this.#sweepNext = (this.#sweepNext + 1) % this.#parts.length;
  }

  /** Holds nothing any more, and takes nothing. */
  close(): void {
    clearInterval(this.#sweeper);
    this.#parts.length = 0;
    this.#size = 0;
  }

  /**
   * Sweeps part after part until there is room. Where there was none it is not sought again at once: a refusal must stay cheap
   * just when there are many.
   */
  #sweepForRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#missedRoomMs < bounds.sessionRoomSoughtMs) return false;
    for (let swept = 0; swept < this.#parts.length; swept++) {
      this.sweepNextPart();
      if (this.#size < this.#sessionsMax) return true;
    }
    this.#missedRoomMs = nowMs;
    return false;
  }

  #partOf(id: Int32Array): SessionPart | undefined {
    return this.#parts[this.#partOfSlot[id[slotWord]! & (slots - 1)]!];
  }
}

/** The share of all ids that belongs to the parts before this one: the first parts are the smallest. */
function shareBelow(part: number, parts: number): number {
  const x = part / parts;
  return x * (1 - spread / 2) + (x * x * spread) / 2;
}
