import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
import type { Session } from './session.ts';
import type { SessionStore } from './session-store.ts';
import { subIdLength } from './sub-id.ts';

export interface MemorySessionStoreOptions {
  readonly clock: Clock;
  readonly sessionsMax: number;
  readonly sessionTtlMs: number;
  /** How many small maps hold the sessions. */
  readonly parts: number;
  /** In this time every part is swept of expired sessions once. */
  readonly sweepMs: number;
}

/** Part sizes differ by up to this share around their mean. */
const spread = 0.3;
/** Which part an id belongs to is decided by two of its random bytes. */
const slots = 2 ** 16;
/** Where the last two of the random bytes stand in the text of an id: before the 16 digits of the MAC. */
const slotDigits = subIdLength - 16 - 4;

/**
 * Live sessions, spread over many small maps. A map that doubles its table holds up everything else meanwhile: hundreds of
 * milliseconds at millions of entries (and there is an end at 16.7 million), one at some thousands. The parts get unequal
 * shares, so that their tables do not all double in the same second; and what has expired is swept part by part.
 *
 * A part needs no recency: all sessions live equally long and none is evicted, so the order of coming is the order of
 * going, and a plain map keeps it (docs/decisions/sessions-in-maps.md).
 */
export class MemorySessionStore implements SessionStore {
  readonly #parts: readonly Map<string, Session>[];
  readonly #partOfSlot: Uint16Array;
  readonly #sessionsMax: number;
  readonly #sessionTtlMs: number;
  readonly #sweeper: NodeJS.Timeout;
  readonly #clock: Clock;
  #soughtRoomMs = Number.NEGATIVE_INFINITY;
  #size = 0;
  #sweepNext = 0;

  constructor(options: MemorySessionStoreOptions) {
    const { clock, sessionsMax, sessionTtlMs, parts, sweepMs } = options;
    this.#clock = clock;
    this.#sessionsMax = sessionsMax;
    this.#sessionTtlMs = sessionTtlMs;
    this.#partOfSlot = new Uint16Array(slots);
    this.#parts = Array.from({ length: parts }, (_, part) => {
      const from = Math.round(shareBelow(part, parts) * slots);
      const to = Math.round(shareBelow(part + 1, parts) * slots);
      this.#partOfSlot.fill(part, from, to);
      return new Map<string, Session>();
    });
    this.#sweeper = setInterval(() => this.sweepNextPart(), Math.max(1, Math.floor(sweepMs / parts)));
  }

  get size(): number {
    return this.#size;
  }

  get(subId: string): Session | undefined {
    return this.#partOf(subId).get(subId);
  }

  add(subId: string, session: Session): boolean {
    if (this.#size >= this.#sessionsMax && !this.#sweepForRoom()) return false;
    this.#partOf(subId).set(subId, session);
    this.#size++;
    return true;
  }

  delete(subId: string): void {
    if (this.#partOf(subId).delete(subId)) this.#size--;
  }

  /** Drops the expired sessions of one part, the oldest of which stand first; parts take turns. */
  sweepNextPart(): void {
    const part = this.#parts[this.#sweepNext]!;
    const oldestLiveMs = this.#clock.wallMs() - this.#sessionTtlMs;
    for (const [subId, { createdMs }] of part) {
      if (createdMs > oldestLiveMs) break;
      part.delete(subId);
      this.#size--;
    }
    this.#sweepNext = (this.#sweepNext + 1) % this.#parts.length;
  }

  close(): void {
    clearInterval(this.#sweeper);
    for (const part of this.#parts) part.clear();
    this.#size = 0;
  }

  /** Sweeps part after part until there is room, but not again at once: a refusal must stay cheap just when there are many. */
  #sweepForRoom(): boolean {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#soughtRoomMs < bounds.sessionRoomSoughtMs) return false;
    this.#soughtRoomMs = nowMs;
    for (let swept = 0; swept < this.#parts.length; swept++) {
      this.sweepNextPart();
      if (this.#size < this.#sessionsMax) return true;
    }
    return false;
  }

  #partOf(subId: string): Map<string, Session> {
    const slot =
      (hexDigit(subId, slotDigits) << 12) |
      (hexDigit(subId, slotDigits + 1) << 8) |
      (hexDigit(subId, slotDigits + 2) << 4) |
      hexDigit(subId, slotDigits + 3);
    return this.#parts[this.#partOfSlot[slot]!]!;
  }
}

/** The share of all ids that belongs to the parts before this one: the first parts are the smallest. */
function shareBelow(part: number, parts: number): number {
  const x = part / parts;
  return x * (1 - spread / 2) + (x * x * spread) / 2;
}

/** Value of one lower-case hex digit; of anything else, some number in the same range: an id need not be genuine to be asked for. */
function hexDigit(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return (code < 58 ? code - 48 : code - 87) & 15;
}
