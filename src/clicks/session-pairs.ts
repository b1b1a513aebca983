import { decodeSubId } from '../sessions/sub-id.ts';

/** What is known of one session and one offer. */
export type PairState = 'none' | 'shown' | 'clicked';

/** 64 random bits that stand for an offer. */
export interface OfferMark {
  readonly high: number;
  readonly low: number;
}

const minuteMs = 60 * 1000;

/**
 * Which offers were shown to which sessions, and clicked: eight bytes for a pair, outside the heap, since there are as many
 * of them as views of those offers in a day.
 *
 * A pair is known by 63 bits: random ones of the session's id against those of the offer. That two of four million pairs
 * share them has a chance of one in a million. Pairs lie by the minute in which their session was created, so that no table is
 * so large that its growing is felt, and go a minute at a time: when no click of such a session counts any more, or when there
 * are too many.
 */
export class SessionPairs {
  readonly #pairsMax: number;
  readonly #minutes = new Map<number, PairTable>();
  #size = 0;
  #knownSinceMs: number;

  constructor(pairsMax: number, knownSinceMs: number) {
    this.#pairsMax = pairsMax;
    this.#knownSinceMs = knownSinceMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether all there is to know of a session created then is known; of older ones a part may have been forgotten. */
  knows(createdMs: number): boolean {
    return createdMs >= this.#knownSinceMs;
  }

  state(sub: Uint8Array, mark: OfferMark): PairState {
    return this.#minutes.get(minuteOf(sub))?.state(sub, mark) ?? 'none';
  }

  show(sub: Uint8Array, mark: OfferMark): void {
    this.#put(sub, mark, false);
  }

  click(sub: Uint8Array, mark: OfferMark): void {
    this.#put(sub, mark, true);
  }

  /** Takes in what others know of other offers, a minute's pairs at each step: a few milliseconds at most. */
  *takeIn(others: SessionPairs): Generator<void> {
    this.#knownSinceMs = Math.max(this.#knownSinceMs, others.#knownSinceMs);
    for (const [minute, table] of others.#minutes) {
      this.#size += this.#table(minute).takeIn(table);
      this.#keepToMax();
      yield;
    }
  }

  /** Lets go of the sessions created before that moment, as far as they lie in minutes that are over by then. */
  forgetBefore(createdMs: number): void {
    if (createdMs <= this.#knownSinceMs) return;
    const minuteBefore = Math.floor(this.#knownSinceMs / minuteMs);
    this.#knownSinceMs = createdMs;
    if (Math.floor(createdMs / minuteMs) === minuteBefore) return;
    for (const minute of this.#minutes.keys()) if ((minute + 1) * minuteMs <= createdMs) this.#drop(minute);
  }

  #put(sub: Uint8Array, mark: OfferMark, clicked: boolean): void {
    this.#size += this.#table(minuteOf(sub)).put(highOf(sub, mark), lowOf(sub, mark), clicked);
    if (this.#size > this.#pairsMax) this.#keepToMax();
  }

  #table(minute: number): PairTable {
    let table = this.#minutes.get(minute);
    if (table === undefined) {
      table = new PairTable();
      this.#minutes.set(minute, table);
    }
    return table;
  }

  #keepToMax(): void {
    while (this.#size > this.#pairsMax) {
      const oldest = Math.min(...this.#minutes.keys());
      this.#knownSinceMs = Math.max(this.#knownSinceMs, (oldest + 1) * minuteMs);
      this.#drop(oldest);
    }
  }

  #drop(minute: number): void {
    this.#size -= this.#table(minute).size;
    this.#minutes.delete(minute);
  }
}

function minuteOf(sub: Uint8Array): number {
  return Math.floor(decodeSubId(sub).createdMs / minuteMs);
}

/** Where the random bits of a sub_id begin. */
const randomAt = 14;
const firstSlots = 64;

/**
 * A hash table with open addressing. An entry is two words, the lowest bit of the second telling whether the pair was
 * clicked; two zeros are an empty place.
 */
class PairTable {
  size = 0;
  #words = new Uint32Array(2 * firstSlots);

  state(sub: Uint8Array, mark: OfferMark): PairState {
    const at = this.#find(highOf(sub, mark), lowOf(sub, mark));
    if (this.#isEmpty(at)) return 'none';
    return (this.#words[at + 1]! & 1) === 1 ? 'clicked' : 'shown';
  }

  /** Returns how many pairs that adds: 1 or 0. */
  put(high: number, low: number, clicked: boolean): number {
    const at = this.#find(high, low);
    const isNew = this.#isEmpty(at);
    if (isNew) {
      this.#words[at] = high;
      this.#words[at + 1] = low;
      this.size++;
    }
    if (clicked) this.#words[at + 1]! |= 1;
    if (this.size * 3 > this.#words.length) this.#grow();
    return isNew ? 1 : 0;
  }

  /** Returns how many pairs that adds. */
  takeIn(other: PairTable): number {
    const words = other.#words;
    let added = 0;
    // At once, since entries in the order of a larger table would crowd at the beginning of a smaller one.
    while ((this.size + other.size) * 3 > this.#words.length) this.#grow();
    for (let at = 0; at < words.length; at += 2) {
      const [high, low] = [words[at]!, words[at + 1]!];
      if (high !== 0 || low !== 0) added += this.put(high, (low & ~1) >>> 0, (low & 1) === 1);
    }
    return added;
  }

  /** Place of the pair, or the empty one where it would be. */
  #find(high: number, low: number): number {
    const words = this.#words;
    const last = words.length - 2;
    for (let at = (high << 1) & last; ; at = (at + 2) & last) {
      if (words[at] === high && (words[at + 1]! & ~1) >>> 0 === low) return at;
      if (this.#isEmpty(at)) return at;
    }
  }

  #isEmpty(at: number): boolean {
    return this.#words[at] === 0 && this.#words[at + 1] === 0;
  }

  /** Twice as large when two thirds are taken. */
  #grow(): void {
    const old = this.#words;
    this.#words = new Uint32Array(old.length * 2);
    for (let at = 0; at < old.length; at += 2) {
      const [high, low] = [old[at]!, old[at + 1]!];
      if (high === 0 && low === 0) continue;
      const to = this.#find(high, (low & ~1) >>> 0);
      this.#words[to] = high;
      this.#words[to + 1] = low;
    }
  }
}

/** Never 0, so that no entry looks empty. */
function highOf(sub: Uint8Array, { high }: OfferMark): number {
  return (word(sub, randomAt) ^ high) >>> 0 || 1;
}

function lowOf(sub: Uint8Array, { low }: OfferMark): number {
  return ((word(sub, randomAt + 4) ^ low) & ~1) >>> 0;
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
