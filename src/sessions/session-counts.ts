import { bounds } from '../bounds.ts';
import { dayStartMs, daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import {
  type CapturedPiece,
  type LedgerEnd,
  OutdatedPartError,
  type SnapshotPart,
  type StoredPiece,
  toBytes,
  toTypedArray,
} from '../domain/snapshot-part.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';

/** Number of sessions by API key, in an array with an item for each key number, because all numbers up to the newest key are in use. */
class KeyCounts {
  #counts = new Uint32Array(64);

  add(keyNumber: number, count: number): void {
    if (keyNumber >= this.#counts.length) {
      const grown = new Uint32Array(2 * Math.max(keyNumber, this.#counts.length));
      grown.set(this.#counts);
      this.#counts = grown;
    }
    this.#counts[keyNumber]! += count;
  }

  /** Returns the numbers of the keys with sessions, and then their numbers of sessions in the same order. */
  encode(): Float64Array {
    let keys = 0;
    for (const count of this.#counts) if (count > 0) keys++;
    const encoded = new Float64Array(2 * keys);
    for (let keyNumber = 0, at = 0; at < keys; keyNumber++) {
      const count = this.#counts[keyNumber]!;
      if (count === 0) continue;
      encoded[at] = keyNumber;
      encoded[keys + at++] = count;
    }
    return encoded;
  }
}

/**
 * Number of sessions that each API key created, by UTC day, for the limit of sessions per day after a restart
 * (docs/contract.md#sessions-per-day). The authenticator's own counts also contain requests whose session is not in the ledger yet.
 */
export class SessionCounts implements LedgerSubscriber, SnapshotPart {
  readonly name = 'session-counts';
  readonly #today: number;
  readonly #clock: Clock;
  readonly #days = new Map<number, KeyCounts>();
  /** First UTC day that is counted. */
  #firstDay: number;
  /** First UTC day since which all counts are stored. */
  #completeSinceDay: number;
  #lastDay = -1;
  #lastCounts = new KeyCounts();
  /** Number of counted sessions since the start, which identifies the content of a snapshot. */
  #changes = 0;
  /** Position of the last ledger record that the restored counts contain; null if nothing was restored. */
  #restoredPosition: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#today = daysSinceEpoch(clock.wallMs());
    this.#firstDay = this.#today;
    this.#completeSinceDay = this.#today;
  }

  /** Start of the current UTC day, with a margin for a wall clock that was set back. */
  get replayStartTimeMs(): number {
    if (this.#restoredPosition !== null) return Number.POSITIVE_INFINITY;
    return dayStartMs(this.#today) - bounds.clockSetBackMsMax;
  }

  applyLedgerRecord(record: LedgerRecord, position: number): void {
    if (record[0] !== ledgerRecordKind.sessionCreated) return;
    const day = daysSinceEpoch(record[1]);
    if (day < this.#firstDay || position <= (this.#restoredPosition ?? 0)) return;
    this.#changes++;
    this.#findOrAddDay(day).add(record[4], 1);
  }

  /**
   * Lists the counts of the day of the start and of later days, which exist if the clock was ahead. The day of the start is the last one,
   * because a counter deletes the day that was not counted for the longest time.
   */
  *listCounts(): Generator<{ readonly keyNumber: number; readonly day: number; readonly count: number }> {
    const days = [...this.#days].filter(([day]) => day >= this.#today).sort(([one], [other]) => other - one);
    for (const [day, keyCounts] of days) {
      const encoded = keyCounts.encode();
      const keys = encoded.length / 2;
      for (let key = 0; key < keys; key++) yield { keyNumber: encoded[key]!, day, count: encoded[keys + key]! };
    }
  }

  *capture(ledger: LedgerEnd): Generator<CapturedPiece> {
    yield { id: `${this.#changes}`, chunks: () => [toBytes(this.#encode(ledger.lastAppendedPosition))] };
  }

  restore(pieces: Iterable<StoredPiece>): void {
    const [{ bytes }] = [...pieces] as [StoredPiece];
    const numbers = toTypedArray(Float64Array, bytes);
    const [position, completeSinceDay, days] = numbers as unknown as [number, number, number];
    if (completeSinceDay > this.#today) throw new OutdatedPartError('the counts of the day are not complete');
    this.#restoredPosition = position;
    this.#firstDay = completeSinceDay;
    this.#completeSinceDay = completeSinceDay;
    let at = 3;
    for (let i = 0; i < days; i++) {
      const [day, length] = [numbers[at]!, numbers[at + 1]!];
      const counts = this.#findOrAddDay(day);
      at += 2;
      for (let key = at; key < at + length; key++) counts.add(numbers[key]!, numbers[key + length]!);
      at += 2 * length;
    }
  }

  #encode(position: number): Float64Array {
    const parts: ArrayLike<number>[] = [[position, this.#completeSinceDay, this.#days.size]];
    for (const [day, counts] of this.#days) {
      const encoded = counts.encode();
      parts.push([day, encoded.length / 2], encoded);
    }
    const numbers = new Float64Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const part of parts) {
      numbers.set(part, at);
      at += part.length;
    }
    return numbers;
  }

  #findOrAddDay(day: number): KeyCounts {
    if (day === this.#lastDay) return this.#lastCounts;
    const counts = getOrAdd(this.#days, day, () => new KeyCounts());
    this.#lastDay = day;
    this.#lastCounts = counts;
    if (this.#days.size > bounds.countedDaysStoredMax) this.#deleteDay(day);
    return counts;
  }

  /** Deletes the counts of an old day, or of the latest day, which was counted while the clock was ahead. */
  #deleteDay(keptDay: number): void {
    const days = [...this.#days.keys()].filter((day) => day !== keptDay);
    const earliest = Math.min(...days);
    const isOld = earliest < daysSinceEpoch(this.#clock.wallMs()) - 1;
    const deleted = isOld ? earliest : Math.max(...days);
    this.#days.delete(deleted);
    this.#completeSinceDay = Math.max(this.#completeSinceDay, deleted + 1);
  }
}
