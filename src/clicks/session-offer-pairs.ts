import { decodeSubId } from '../ids/sub-id.ts';

type PairState = 'none' | 'shown' | 'clicked';

/** 64 random bits that identify an offer. */
export interface OfferKeyBits {
  readonly high: number;
  readonly low: number;
}

const minuteMs = 60 * 1000;

/**
 * Set of (session, offer) pairs: the offers that were shown to each session, with one bit for a counted click. A session-offer pair takes
 * only eight bytes outside the JavaScript heap, because there can be millions of pairs.
 *
 * A pair is identified by a 63-bit number computed from the sub_id and `OfferKeyBits`. In a set of four million pairs, the probability that
 * two pairs have the same number is one in a million. Each hash table contains the sessions created in one minute. The tables are small, so
 * that growing a table is fast. The oldest hash table is evicted when clicks in its sessions no longer count, or when the set has too many
 * pairs.
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

  /** Returns true if the set contains all session-offer pairs of the sessions created at `createdMs` or later. */
  hasAllPairsSince(createdMs: number): boolean {
    return createdMs >= this.#completeSinceMs;
  }

  getPairState(sub: Uint8Array, offerId: OfferKeyBits): PairState {
    return this.#tablesByMinute.get(minuteOf(sub))?.getPairState(sub, offerId) ?? 'none';
  }

  markShown(sub: Uint8Array, offerId: OfferKeyBits): void {
    this.#addPair(sub, offerId, false);
  }

  markClicked(sub: Uint8Array, offerId: OfferKeyBits): void {
    this.#addPair(sub, offerId, true);
  }

  /** Adds the session-offer pairs of another set, one minute at a time, so that the caller can yield to the event loop in between. */
  *addAllPairs(others: SessionOfferPairs): Generator<void> {
    this.#completeSinceMs = Math.max(this.#completeSinceMs, others.#completeSinceMs);
    for (const [minute, table] of others.#tablesByMinute) {
      this.#size += this.#findOrCreatePairTable(minute).addAllPairs(table);
      this.#evictExcessPairs();
      yield;
    }
  }

  /** Evicts the session-offer pairs of all sessions created before the minute that contains `createdMs`. */
  evictOldPairs(createdMs: number): void {
    if (createdMs <= this.#completeSinceMs) return;
    const minuteBefore = Math.floor(this.#completeSinceMs / minuteMs);
    this.#completeSinceMs = createdMs;
    if (Math.floor(createdMs / minuteMs) === minuteBefore) return;
    for (const minute of this.#tablesByMinute.keys())
      if ((minute + 1) * minuteMs <= createdMs) this.#evictPairTable(minute);
  }

  #addPair(sub: Uint8Array, offerId: OfferKeyBits, clicked: boolean): void {
    this.#size += this.#findOrCreatePairTable(minuteOf(sub)).add(
      highWordOf(sub, offerId),
      lowWordOf(sub, offerId),
      clicked,
    );
    if (this.#size > this.#pairsMax) this.#evictExcessPairs();
  }

  #findOrCreatePairTable(minute: number): PairTable {
    let table = this.#tablesByMinute.get(minute);
    if (table === undefined) {
      table = new PairTable();
      this.#tablesByMinute.set(minute, table);
    }
    return table;
  }

  #evictExcessPairs(): void {
    while (this.#size > this.#pairsMax) {
      const oldest = Math.min(...this.#tablesByMinute.keys());
      this.#completeSinceMs = Math.max(this.#completeSinceMs, (oldest + 1) * minuteMs);
      this.#evictPairTable(oldest);
    }
  }

  #evictPairTable(minute: number): void {
    this.#size -= this.#findOrCreatePairTable(minute).size;
    this.#tablesByMinute.delete(minute);
  }
}

function minuteOf(sub: Uint8Array): number {
  return Math.floor(decodeSubId(sub).createdMs / minuteMs);
}

/** Position of the random bytes in a sub_id. */
const randomOffset = 14;
const initialSlots = 64;

/** Hash table with open addressing. A pair takes two 32-bit words; the last bit is 1 after a counted click. Empty slots are 0. */
class PairTable {
  size = 0;
  #words = new Uint32Array(2 * initialSlots);

  getPairState(sub: Uint8Array, offerId: OfferKeyBits): PairState {
    const index = this.#find(highWordOf(sub, offerId), lowWordOf(sub, offerId));
    if (this.#isEmpty(index)) return 'none';
    return (this.#words[index + 1]! & 1) === 1 ? 'clicked' : 'shown';
  }

  /** Adds a pair. Returns the number of added pairs: 1, or 0 if the table already contains the pair. */
  add(high: number, low: number, clicked: boolean): number {
    const at = this.#find(high, low);
    const isNew = this.#isEmpty(at);
    if (isNew) {
      this.#words[at] = high;
      this.#words[at + 1] = low;
      this.size++;
    }
    if (clicked) this.#words[at + 1]! |= 1;
    if (this.size * 3 > this.#words.length) this.#growTable();
    return isNew ? 1 : 0;
  }

  addAllPairs(other: PairTable): number {
    const words = other.#words;
    let added = 0;
    // Grows the table to its final size first, because searching for an empty slot in a nearly full table is slow.
    while ((this.size + other.size) * 3 > this.#words.length) this.#growTable();
    for (let at = 0; at < words.length; at += 2) {
      const [high, low] = [words[at]!, words[at + 1]!];
      if (high !== 0 || low !== 0) added += this.add(high, (low & ~1) >>> 0, (low & 1) === 1);
    }
    return added;
  }

  /** Returns the index of the pair, or the index of an empty slot if the table does not contain the pair. */
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

  #growTable(): void {
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

/** Returns the first 32-bit word of a session-offer pair. The value 0 is replaced by 1, because 0 marks an empty slot of the hash table. */
function highWordOf(sub: Uint8Array, { high }: OfferKeyBits): number {
  return (readWord(sub, randomOffset) ^ high) >>> 0 || 1;
}

function lowWordOf(sub: Uint8Array, { low }: OfferKeyBits): number {
  return ((readWord(sub, randomOffset + 4) ^ low) & ~1) >>> 0;
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
