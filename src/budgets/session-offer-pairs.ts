import { getOrAdd } from '../domain/get-or-add.ts';
import { type CapturedPiece, type LedgerEnd, toBytes, toTypedArray } from '../domain/snapshot-part.ts';
import { subIdCreatedMs } from '../ids/sub-id.ts';

/**
 * `too_fast`: the click of the session came too soon after the first answer that showed the offer, so the click booked no revenue. A later
 * click can still book revenue.
 */
export type SessionOfferPairState = 'none' | 'shown' | 'too_fast' | 'clicked';

const storedStates = ['shown', 'too_fast', 'clicked'] as const satisfies readonly SessionOfferPairState[];
type StoredState = (typeof storedStates)[number];

/** 64 random bits that identify an offer. */
export interface OfferKeyBits {
  readonly high: number;
  readonly low: number;
}

const minuteMs = 60 * 1000;
/** Number of tables in a piece of a snapshot. */
const minutesPerPiece = 15;

/** Key of the pair that counts the offers on which the clicks of a session booked revenue; used in place of the key of an offer. */
const bookedOffersKey: OfferKeyBits = { high: 0x6f66_6665, low: 0x7273_0000 };

/** Value of a pair for which the time of the first answer is unknown. */
const unknownShownMs = 0xffff_ffff;

/**
 * Set of (session, offer) pairs: the offers that were shown to each session, with the time of the first answer and the state of the clicks.
 * A session-offer pair takes only twelve bytes outside the JavaScript heap, because there can be millions of pairs.
 *
 * A pair is identified by a 62-bit number computed from the sub_id and `OfferKeyBits`. In a set of four million pairs, the probability that
 * two of the pairs have the same number is 0.000002. Each hash table contains the sessions created in one minute. The tables are small, so
 * that growing a table is fast. The oldest hash table is evicted when clicks in its sessions no longer count, or when the set has too many
 * pairs.
 */
export class SessionOfferPairs {
  readonly #pairsMax: number;
  readonly #tablesByMinute = new Map<number, PairTable>();
  #size = 0;
  #completeSinceMs: number;
  /** Number of changes, which identifies the content of tables in a snapshot. */
  #changes = 0;

  constructor(pairsMax: number, completeSinceMs: number) {
    this.#pairsMax = pairsMax;
    this.#completeSinceMs = completeSinceMs;
  }

  get size(): number {
    return this.#size;
  }

  get completeSinceMs(): number {
    return this.#completeSinceMs;
  }

  /** Returns true if the set contains all session-offer pairs of the sessions created at `createdMs` or later. */
  hasAllPairsSince(createdMs: number): boolean {
    return createdMs >= this.#completeSinceMs;
  }

  getPairState(sub: Uint8Array, offerId: OfferKeyBits): SessionOfferPairState {
    return this.#tablesByMinute.get(minuteOf(sub))?.getPairState(sub, offerId) ?? 'none';
  }

  /** Adds a pair. `shownMs` is the time of an answer with the offer. Does not change the time of a pair that is already in the set. */
  markShown(sub: Uint8Array, offerId: OfferKeyBits, shownMs: number): void {
    const sinceCreationMs = Math.min(Math.max(0, shownMs - createdMsOf(sub)), unknownShownMs - 1);
    this.#addPair(sub, offerId, 'shown', sinceCreationMs);
  }

  /** Returns the time of the first answer that showed the offer to the session, or null if the set does not contain the time. */
  getFirstShownMs(sub: Uint8Array, offerId: OfferKeyBits): number | null {
    const sinceCreationMs = this.#tablesByMinute.get(minuteOf(sub))?.getPairValue(sub, offerId) ?? unknownShownMs;
    return sinceCreationMs === unknownShownMs ? null : createdMsOf(sub) + sinceCreationMs;
  }

  markClickedTooFast(sub: Uint8Array, offerId: OfferKeyBits): void {
    this.#addPair(sub, offerId, 'too_fast', unknownShownMs);
  }

  markClicked(sub: Uint8Array, offerId: OfferKeyBits): void {
    this.#addPair(sub, offerId, 'clicked', unknownShownMs);
  }

  /** Returns the number of offers on which clicks of the session booked revenue; 0 if the session was evicted. */
  getBookedOfferCountOfSession(sub: Uint8Array): number {
    return this.#tablesByMinute.get(minuteOf(sub))?.getPairValue(sub, bookedOffersKey) ?? 0;
  }

  incrementBookedOfferCount(sub: Uint8Array): void {
    this.#addPair(sub, bookedOffersKey, 'shown', 0);
    const table = this.#tablesByMinute.get(minuteOf(sub));
    if (table === undefined) return;
    table.incrementPairValue(sub, bookedOffersKey);
    table.lastChange = ++this.#changes;
  }

  /** Whether a snapshot from which the pairs were restored contains the ledger record of a session at this position. */
  hasRestoredRecord(sub: Uint8Array, position: number): boolean {
    return position <= (this.#tablesByMinute.get(minuteOf(sub))?.restoredPosition ?? 0);
  }

  /**
   * Captures the tables for a snapshot, in pieces for the sessions of a quarter of an hour. A chunk contains one table, with the position of
   * the last ledger record that the table contains.
   */
  *capture(ledger: LedgerEnd): Generator<CapturedPiece> {
    const quarters = new Map<number, number[]>();
    for (const minute of this.#tablesByMinute.keys()) {
      getOrAdd(quarters, Math.floor(minute / minutesPerPiece), () => []).push(minute);
    }
    for (const [quarter, minutes] of quarters) {
      const tables = minutes.flatMap((minute) => this.#tablesByMinute.get(minute) ?? []);
      const change = tables.reduce((last, { lastChange }) => Math.max(last, lastChange), 0);
      yield { id: `pairs-${quarter}-${change}`, chunks: () => this.#encodeTables(minutes, ledger) };
    }
  }

  *#encodeTables(minutes: readonly number[], ledger: LedgerEnd): Generator<Uint8Array> {
    for (const minute of minutes) {
      const words = this.#tablesByMinute.get(minute)?.copyWords();
      if (words === undefined) continue;
      yield Buffer.concat([
        toBytes(Float64Array.of(minute, ledger.lastAppendedPosition, words.length)),
        toBytes(words),
      ]);
    }
  }

  /** Restores the tables of a piece. */
  restoreTables(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const [minute, position, length] = [0, 8, 16].map((offset) => bytes.readDoubleLE(at + offset)) as [
        number,
        number,
        number,
      ];
      const end = at + 24 + 4 * length;
      const table = new PairTable(toTypedArray(Uint32Array, bytes.subarray(at + 24, end)));
      table.restoredPosition = position;
      this.#tablesByMinute.set(minute, table);
      this.#size += table.size;
      at = end;
    }
    this.#evictExcessPairs();
  }

  /** Adds the session-offer pairs of another set, one minute at a time, so that the caller can yield to the event loop in between. */
  *addAllPairs(others: SessionOfferPairs): Generator<void> {
    this.#completeSinceMs = Math.max(this.#completeSinceMs, others.#completeSinceMs);
    for (const [minute, table] of others.#tablesByMinute) {
      const target = this.#findOrCreatePairTable(minute);
      this.#size += target.addAllPairs(table);
      target.lastChange = ++this.#changes;
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

  #addPair(sub: Uint8Array, offerId: OfferKeyBits, state: StoredState, value: number): void {
    const low = lowWordOf(sub, offerId) | storedStates.indexOf(state);
    const table = this.#findOrCreatePairTable(minuteOf(sub));
    const added = table.add(highWordOf(sub, offerId), low >>> 0, value);
    this.#size += Math.max(0, added);
    if (added !== unchanged) table.lastChange = ++this.#changes;
    if (this.#size > this.#pairsMax) this.#evictExcessPairs();
  }

  #findOrCreatePairTable(minute: number): PairTable {
    return getOrAdd(this.#tablesByMinute, minute, () => new PairTable());
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
  return Math.floor(createdMsOf(sub) / minuteMs);
}

function createdMsOf(sub: Uint8Array): number {
  return subIdCreatedMs(readWord(sub, 0), readWord(sub, 4));
}

/** Position of the random bytes in a sub_id. */
const randomOffset = 14;
const initialSlots = 64;
const wordsPerPair = 3;
/** Bits of a pair's second word that contain the index of its state in `storedStates`. */
const stateMask = 3;
/** Result of `PairTable.add` if the table already contained the pair. */
const unchanged = -1;

/**
 * Hash table with open addressing. A pair takes three 32-bit words: two words with its key and state, and one word with its value. The
 * value is the time of the first answer, in milliseconds since the creation of the session, or a count of offers (`bookedOffersKey`). The
 * first word of an empty slot is 0.
 */
class PairTable {
  size = 0;
  /** Number of the last change, see `SessionOfferPairs`. */
  lastChange = 0;
  /** Position of the last ledger record that the table contained when it was captured for the snapshot. */
  restoredPosition = 0;
  #slots: number;
  #words: Uint32Array;

  /** @param words result of `copyWords` of another table */
  constructor(words = new Uint32Array(wordsPerPair * initialSlots)) {
    this.#words = words;
    this.#slots = words.length / wordsPerPair;
    for (let at = 0; at < words.length; at += wordsPerPair) if (words[at] !== 0) this.size++;
  }

  copyWords(): Uint32Array {
    return this.#words.slice();
  }

  getPairState(sub: Uint8Array, offerId: OfferKeyBits): SessionOfferPairState {
    const at = this.#find(highWordOf(sub, offerId), lowWordOf(sub, offerId));
    return this.#words[at] === 0 ? 'none' : storedStates[this.#words[at + 1]! & stateMask]!;
  }

  /** Returns the value of a pair, or null if the table does not contain the pair. */
  getPairValue(sub: Uint8Array, offerId: OfferKeyBits): number | null {
    const at = this.#find(highWordOf(sub, offerId), lowWordOf(sub, offerId));
    return this.#words[at] === 0 ? null : this.#words[at + 2]!;
  }

  /** Increments the value of a pair. The table must contain the pair. */
  incrementPairValue(sub: Uint8Array, offerId: OfferKeyBits): void {
    this.#words[this.#find(highWordOf(sub, offerId), lowWordOf(sub, offerId)) + 2]!++;
  }

  /**
   * Adds a pair, or changes the state of a pair to a later state. Does not change the value of a pair that is already in the table. Returns
   * the number of added pairs (1 or 0), or `unchanged`.
   */
  add(high: number, lowAndState: number, value: number): number {
    const at = this.#find(high, (lowAndState & ~stateMask) >>> 0);
    const words = this.#words;
    if (words[at] !== 0) {
      if ((lowAndState & stateMask) <= (words[at + 1]! & stateMask)) return unchanged;
      words[at + 1] = lowAndState;
      return 0;
    }
    words[at] = high;
    words[at + 1] = lowAndState;
    words[at + 2] = value;
    this.size++;
    if (this.size * 3 > this.#slots * 2) this.#growTable();
    return 1;
  }

  addAllPairs(other: PairTable): number {
    const words = other.#words;
    let added = 0;
    // Grows the table to its final size first, because searching for an empty slot in a nearly full table is slow.
    while ((this.size + other.size) * 3 > this.#slots * 2) this.#growTable();
    for (let at = 0; at < words.length; at += wordsPerPair) {
      if (words[at] !== 0) added += Math.max(0, this.add(words[at]!, words[at + 1]!, words[at + 2]!));
    }
    return added;
  }

  /** Returns the index of the pair's first word, or the index of an empty slot if the table does not contain the pair. */
  #find(high: number, low: number): number {
    const words = this.#words;
    const lastSlot = this.#slots - 1;
    for (let slot = high & lastSlot; ; slot = (slot + 1) & lastSlot) {
      const at = slot * wordsPerPair;
      if (words[at] === 0 || (words[at] === high && (words[at + 1]! & ~stateMask) >>> 0 === low)) return at;
    }
  }

  #growTable(): void {
    const old = this.#words;
    this.#slots *= 2;
    this.#words = new Uint32Array(wordsPerPair * this.#slots);
    for (let at = 0; at < old.length; at += wordsPerPair) {
      if (old[at] === 0) continue;
      const to = this.#find(old[at]!, (old[at + 1]! & ~stateMask) >>> 0);
      for (let word = 0; word < wordsPerPair; word++) this.#words[to + word] = old[at + word]!;
    }
  }
}

/** Returns the first 32-bit word of a session-offer pair. The value 0 is replaced by 1, because 0 marks an empty slot of the hash table. */
function highWordOf(sub: Uint8Array, { high }: OfferKeyBits): number {
  return (readWord(sub, randomOffset) ^ high) >>> 0 || 1;
}

function lowWordOf(sub: Uint8Array, { low }: OfferKeyBits): number {
  return ((readWord(sub, randomOffset + 4) ^ low) & ~stateMask) >>> 0;
}

function readWord(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
