import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { parseSubIdWords, subIdWordCount } from '../ids/sub-id.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { InternTable } from './intern-table.ts';
import { RankingArena } from './ranking-arena.ts';
import { SessionShard } from './session-shard.ts';
import type { Session, SessionStore } from './session-store.ts';

interface MemorySessionStoreOptions {
  readonly clock: Clock;
  readonly sessionsMax: number;
  readonly sessionTtlMs: number;
  /** The most pocket fields that a vertical served has. */
  readonly fieldsMax: number;
  /** How many parts hold the sessions. */
  readonly shardCount: number;
  /** In this time every part is swept of expired sessions once. */
  readonly sweepIntervalMs: number;
}

/** Part sizes differ by up to this share around their mean. */
const shardSizeSpread = 0.3;
/** Which part an id belongs to is decided by two of its random bytes: the last two before the MAC. */
const slotCount = 2 ** 16;
const slotWord = 5;

/**
 * Live sessions, spread over many small parts. A part that is full moves into twice the memory, which would take hundreds
 * of milliseconds if it held a million. The parts get unequal shares, so that they do not all grow in the same second; and
 * what has expired is swept part by part.
 */
export class MemorySessionStore implements SessionStore {
  readonly #shards: SessionShard[];
  readonly #shardBySlot: Uint16Array;
  readonly #sessionsMax: number;
  readonly #sessionTtlMs: number;
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #clock: Clock;
  /** The id being looked for. */
  readonly #lookupId = new Int32Array(subIdWordCount);
  /** When there was no room in any part; monotonic time. */
  #lastFailedSweepMs = Number.NEGATIVE_INFINITY;
  #size = 0;
  #nextSweepShard = 0;

  constructor(options: MemorySessionStoreOptions) {
    const { clock, sessionsMax, sessionTtlMs, fieldsMax, shardCount, sweepIntervalMs } = options;
    this.#clock = clock;
    this.#sessionsMax = sessionsMax;
    this.#sessionTtlMs = sessionTtlMs;
    this.#shardBySlot = new Uint16Array(slotCount);
    const shared = { tenants: new InternTable<Tenant>(), rankings: new RankingArena(), fieldsMax };
    this.#shards = Array.from({ length: shardCount }, (_, part) => {
      const from = Math.round(cumulativeShare(part, shardCount) * slotCount);
      const to = Math.round(cumulativeShare(part + 1, shardCount) * slotCount);
      this.#shardBySlot.fill(part, from, to);
      return new SessionShard(shared);
    });
    this.#sweepTimer = setInterval(() => this.sweepNextShard(), Math.max(1, Math.floor(sweepIntervalMs / shardCount)));
  }

  get size(): number {
    return this.#size;
  }

  get(subId: string): Session | undefined {
    return parseSubIdWords(subId, this.#lookupId)
      ? this.#shardFor(this.#lookupId)?.get(this.#lookupId, subId)
      : undefined;
  }

  add(subId: string, tenant: Tenant): boolean {
    if (this.#size >= this.#sessionsMax && !this.#sweepUntilRoom()) return false;
    if (!parseSubIdWords(subId, this.#lookupId)) throw new TypeError('a session was put in by what is no id');
    const part = this.#shardFor(this.#lookupId);
    if (part === undefined) return false;
    if (part.add(this.#lookupId, tenant)) this.#size++;
    return true;
  }

  delete(subId: string): void {
    if (parseSubIdWords(subId, this.#lookupId) && this.#shardFor(this.#lookupId)?.delete(this.#lookupId)) this.#size--;
  }

  /** Drops the expired sessions of one part, the oldest of which stand first; parts take turns. */
  sweepNextShard(): void {
    const part = this.#shards[this.#nextSweepShard];
    if (part === undefined) return;
    this.#size -= part.deleteCreatedUntil(this.#clock.wallMs() - this.#sessionTtlMs);
    this.#nextSweepShard = (this.#nextSweepShard + 1) % this.#shards.length;
  }

  /** Holds nothing any more, and takes nothing. */
  close(): void {
    clearInterval(this.#sweepTimer);
    this.#shards.length = 0;
    this.#size = 0;
  }

  /**
   * Sweeps part after part until there is room. Where there was none it is not sought again at once: a refusal must stay cheap
   * just when there are many.
   */
  #sweepUntilRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastFailedSweepMs < bounds.sessionStoreFullCheckIntervalMs) return false;
    for (let swept = 0; swept < this.#shards.length; swept++) {
      this.sweepNextShard();
      if (this.#size < this.#sessionsMax) return true;
    }
    this.#lastFailedSweepMs = nowMs;
    return false;
  }

  #shardFor(id: Int32Array): SessionShard | undefined {
    return this.#shards[this.#shardBySlot[id[slotWord]! & (slotCount - 1)]!];
  }
}

/** The share of all ids that belongs to the parts before this one: the first parts are the smallest. */
function cumulativeShare(part: number, parts: number): number {
  const x = part / parts;
  return x * (1 - shardSizeSpread / 2) + (x * x * shardSizeSpread) / 2;
}
