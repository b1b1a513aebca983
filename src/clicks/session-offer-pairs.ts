import { decodeSubId } from '../ids/sub-id.ts';

/** What is known of one session and one offer. */
type PairState = 'none' | 'shown' | 'clicked';

/** 64 random bits that stand for an offer. */
export interface RandomOfferId {
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
export class SessionOfferPairs {
  readonly #pairsMax: number;
  readonly #tablesByMinute = new Map<number, PairTable>();
  #size = 0;
  #completeSinceMs: number;

  constructor(pairsMax: number, completeSinceMs: number) {
    this.#pairsMax = pairsMax;
    this.#completeSinceMs = completeSinceMs;
  }

  get size(): number {
    return this.#size;
  }

  /** Whether all there is to know of a session created then is known; of older ones a part may have been forgotten. */
  isComplete(createdMs: number): boolean {
    return createdMs >= this.#completeSinceMs;
  }

  state(sub: Uint8Array, mark: RandomOfferId): PairState {
    return this.#tablesByMinute.get(minuteOf(sub))?.state(sub, mark) ?? 'none';
  }

  markShown(sub: Uint8Array, mark: RandomOfferId): void {
    this.#addPair(sub, mark, false);
  }

  markClicked(sub: Uint8Array, mark: RandomOfferId): void {
    this.#addPair(sub, mark, true);
  }

  /** Takes in what others know of other offers, a minute's pairs at each step: a few milliseconds at most. */
  *merge(others: SessionOfferPairs): Generator<void> {
    this.#completeSinceMs = Math.max(this.#completeSinceMs, others.#completeSinceMs);
    for (const [minute, table] of others.#tablesByMinute) {
      this.#size += this.#table(minute).merge(table);
      this.#evictToMax();
      yield;
    }
  }

  /** Lets go of the sessions created before that moment, as far as they lie in minutes that are over by then. */
  evictBefore(createdMs: number): void {
    if (createdMs <= this.#completeSinceMs) return;
    const minuteBefore = Math.floor(this.#completeSinceMs / minuteMs);
    this.#completeSinceMs = createdMs;
    if (Math.floor(createdMs / minuteMs) === minuteBefore) return;
    for (const minute of this.#tablesByMinute.keys())
      if ((minute + 1) * minuteMs <= createdMs) this.#evictMinute(minute);
  }

  #addPair(sub: Uint8Array, mark: RandomOfferId, clicked: boolean): void {
    this.#size += this.#table(minuteOf(sub)).add(highWordOf(sub, mark), lowWordOf(sub, mark), clicked);
    if (this.#size > this.#pairsMax) this.#evictToMax();
  }

  #table(minute: number): PairTable {
    let table = this.#tablesByMinute.get(minute);
    if (table === undefined) {
      table = new PairTable();
      this.#tablesByMinute.set(minute, table);
    }
    return table;
  }

  #evictToMax(): void {
    while (this.#size > this.#pairsMax) {
      const oldest = Math.min(...this.#tablesByMinute.keys());
      this.#completeSinceMs = Math.max(this.#completeSinceMs, (oldest + 1) * minuteMs);
      this.#evictMinute(oldest);
    }
  }

  #evictMinute(minute: number): void {
    this.#size -= this.#table(minute).size;
    this.#tablesByMinute.delete(minute);
  }
}

function minuteOf(sub: Uint8Array): number {
  return Math.floor(decodeSubId(sub).createdMs / minuteMs);
}

/** Where the random bits of a sub_id begin. */
const randomAt = 14;
const initialSlots = 64;

/**
 * A hash table with open addressing. An entry is two words, the lowest bit of the second telling whether the pair was
 * clicked; two zeros are an empty place.
 */
class PairTable {
  size = 0;
  #words = new Uint32Array(2 * initialSlots);

  state(sub: Uint8Array, mark: RandomOfferId): PairState {
    const at = this.#find(highWordOf(sub, mark), lowWordOf(sub, mark));
    if (this.#isEmpty(at)) return 'none';
    return (this.#words[at + 1]! & 1) === 1 ? 'clicked' : 'shown';
  }

  /** Returns how many pairs that adds: 1 or 0. */
  add(high: number, low: number, clicked: boolean): number {
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
  merge(other: PairTable): number {
    const words = other.#words;
    let added = 0;
    // At once, since entries in the order of a larger table would crowd at the beginning of a smaller one.
    while ((this.size + other.size) * 3 > this.#words.length) this.#grow();
    for (let at = 0; at < words.length; at += 2) {
      const [high, low] = [words[at]!, words[at + 1]!];
      if (high !== 0 || low !== 0) added += this.add(high, (low & ~1) >>> 0, (low & 1) === 1);
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
function highWordOf(sub: Uint8Array, { high }: RandomOfferId): number {
  return (readWord(sub, randomAt) ^ high) >>> 0 || 1;
}

function lowWordOf(sub: Uint8Array, { low }: RandomOfferId): number {
  return ((readWord(sub, randomAt + 4) ^ low) & ~1) >>> 0;
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
