import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import { int32sPerSubId, parseSubIdHex } from '../ids/sub-id.ts';
import type { Tenant } from '../verticals/tenant.ts';
import { InternTable } from './intern-table.ts';
import { RankingArena } from './ranking-arena.ts';
import { SessionShard } from './session-shard.ts';
import type { Session, SessionStore } from './session-store.ts';

interface MemorySessionStoreOptions {
  readonly clock: Clock;
  readonly sessionsMax: number;
  readonly sessionTtlMs: number;
  /** Maximum number of pocket fields in a vertical. */
  readonly fieldsMax: number;
  readonly shardCount: number;
  /** Interval, in milliseconds, at which the expired sessions of each shard are deleted. */
  readonly sweepIntervalMs: number;
}

/** Difference between the expected sizes of the largest shard and the smallest shard, divided by the mean size of a shard. */
const shardSizeSpread = 0.3;
/** Number of possible shard hashes. The shard hash of a session is two random bytes of its sub_id. */
const shardHashCount = 2 ** 16;
const shardHashWord = 5;

/**
 * Store of live sessions in many small shards. When a shard is full, its sessions are copied to memory of twice the size. The shards are
 * small, because copying a million sessions at once would take hundreds of milliseconds. The shards receive unequal shares of the sessions,
 * so that the shards do not all grow at the same time. A timer deletes the expired sessions, one shard at a time.
 */
export class MemorySessionStore implements SessionStore {
  readonly #shards: SessionShard[];
  readonly #shardByHash: Uint16Array;
  readonly #sessionsMax: number;
  readonly #sessionTtlMs: number;
  readonly #sweepTimer: NodeJS.Timeout;
  readonly #clock: Clock;
  readonly #lookupId = new Int32Array(int32sPerSubId);
  /** Monotonic time, in milliseconds, at which `#tryMakeRoom` last found no expired session. */
  #lastFailedSweepMs = Number.NEGATIVE_INFINITY;
  #size = 0;
  #nextSweepShard = 0;

  constructor(options: MemorySessionStoreOptions) {
    const { clock, sessionsMax, sessionTtlMs, fieldsMax, shardCount, sweepIntervalMs } = options;
    this.#clock = clock;
    this.#sessionsMax = sessionsMax;
    this.#sessionTtlMs = sessionTtlMs;
    this.#shardByHash = new Uint16Array(shardHashCount);
    const shared = { tenants: new InternTable<Tenant>(), rankings: new RankingArena(), fieldsMax };
    this.#shards = Array.from({ length: shardCount }, (_, shard) => {
      const start = Math.round(cumulativeShare(shard, shardCount) * shardHashCount);
      const end = Math.round(cumulativeShare(shard + 1, shardCount) * shardHashCount);
      this.#shardByHash.fill(shard, start, end);
      return new SessionShard(shared);
    });
    this.#sweepTimer = setInterval(() => this.sweepNextShard(), Math.max(1, Math.floor(sweepIntervalMs / shardCount)));
  }

  get size(): number {
    return this.#size;
  }

  get(subId: string): Session | undefined {
    return parseSubIdHex(subId, this.#lookupId)
      ? this.#shardFor(this.#lookupId)?.get(this.#lookupId, subId)
      : undefined;
  }

  add(subId: string, tenant: Tenant): boolean {
    if (this.#size >= this.#sessionsMax && !this.#tryMakeRoom()) return false;
    if (!parseSubIdHex(subId, this.#lookupId)) throw new TypeError('invalid sub_id');
    const shard = this.#shardFor(this.#lookupId);
    if (shard === undefined) return false;
    if (shard.add(this.#lookupId, tenant)) this.#size++;
    return true;
  }

  delete(subId: string): void {
    if (parseSubIdHex(subId, this.#lookupId) && this.#shardFor(this.#lookupId)?.delete(this.#lookupId)) this.#size--;
  }

  /** Deletes the expired sessions of one shard; the next call continues with the next shard. */
  sweepNextShard(): void {
    const shard = this.#shards[this.#nextSweepShard];
    if (shard === undefined) return;
    this.#size -= shard.deleteSessionsCreatedUntil(this.#clock.wallMs() - this.#sessionTtlMs);
    this.#nextSweepShard = (this.#nextSweepShard + 1) % this.#shards.length;
  }

  /** Clears the store. After `close`, the method `add` returns false. */
  close(): void {
    clearInterval(this.#sweepTimer);
    this.#shards.length = 0;
    this.#size = 0;
  }

  /** Deletes expired sessions to make room for a session. For a short time after a call that found no room, returns false immediately. */
  #tryMakeRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#lastFailedSweepMs < bounds.sessionStoreFullCheckIntervalMs) return false;
    for (let i = 0; i < this.#shards.length; i++) {
      this.sweepNextShard();
      if (this.#size < this.#sessionsMax) return true;
    }
    this.#lastFailedSweepMs = nowMs;
    return false;
  }

  #shardFor(id: Int32Array): SessionShard | undefined {
    return this.#shards[this.#shardByHash[id[shardHashWord]! & (shardHashCount - 1)]!];
  }
}

/** Returns the share of new sessions, from 0 to 1, that go to shards numbered below `shard`. The share of a shard grows with its number. */
function cumulativeShare(shard: number, shardCount: number): number {
  const x = shard / shardCount;
  return x * (1 - shardSizeSpread / 2) + (x * x * shardSizeSpread) / 2;
}
