import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import {
  type CapturedPiece,
  type LedgerEnd,
  OutdatedPartError,
  type SnapshotPart,
  type StoredPiece,
  toBytes,
} from '../domain/snapshot-part.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';

/** Offsets in a sub_id, one per row of a count-min sketch: the three bytes at an offset select the cell of the session in that row. */
const rowOffsets = [14, 17, 20, 24];

/**
 * Counts the recorded clicks of each session up to a maximum, in a fixed amount of memory. The counts are stored in a count-min sketch with
 * conservative update. The sketch has four rows. A session has one cell in each row, and the smallest of these four cells is the count of
 * the session. Several sessions may share a cell of the sketch, so the count of a session may be too high, but never too low.
 *
 * In a simulation with 130 million clicks on one day and 2^20 cells per row of the sketch, every session could record 64 clicks.
 *
 * Each UTC day has its own count-min sketch, for the sessions created on that day. Clicks are recorded for at most 24 hours after the
 * creation of their session, so two count-min sketches are needed: for today and for yesterday. More are stored, because the wall clock may
 * be wrong by several days for some time before it is set back.
 */
class SessionClickSketch {
  readonly #max: number;
  readonly #mask: number;
  /** Sketches by day. If there are too many, the sketch of the day that was not needed for the longest time is deleted. */
  readonly #sketches = new LRUCache<number, Uint8Array>({ max: bounds.countedDaysStoredMax });
  #lastDay = -1;
  #lastSketch: Uint8Array = new Uint8Array(0);
  readonly #cells = rowOffsets.map(() => 0);

  /**
   * @param max maximum number of recorded clicks per session, up to 255
   * @param rowCells number of one-byte cells in each row of the count-min sketch: a power of two, up to 2^24
   */
  constructor(max: number, rowCells: number) {
    this.#max = max;
    this.#mask = rowCells - 1;
  }

  /** Counts a click of a session and returns true, or returns false if the session already has the maximum number of recorded clicks. */
  tryCountClick(sub: Uint8Array): boolean {
    const cells = this.#cells;
    const sketch = this.#getCountersOfDay(sub);
    let count = this.#max;
    for (let row = 0; row < cells.length; row++) {
      const offset = rowOffsets[row]!;
      const hash = (sub[offset]! << 16) | (sub[offset + 1]! << 8) | sub[offset + 2]!;
      const cell = row * (this.#mask + 1) + (hash & this.#mask);
      cells[row] = cell;
      count = Math.min(count, sketch[cell]!);
    }
    if (count === this.#max) return false;
    for (const cell of cells) if (sketch[cell] === count) sketch[cell]++;
    return true;
  }

  /** Lists the sketches by day. The sketch of the day that was needed last is at the end. */
  listSketches(): (readonly [day: number, sketch: Uint8Array])[] {
    return [...this.#sketches.keys()].reverse().map((day) => [day, this.#sketches.peek(day)!]);
  }

  restoreSketch(day: number, sketch: Uint8Array): void {
    if (sketch.length !== rowOffsets.length * (this.#mask + 1))
      throw new OutdatedPartError('the sketch has another size');
    this.#sketches.set(day, sketch);
  }

  #getCountersOfDay(sub: Uint8Array): Uint8Array {
    const day = daysSinceEpoch(decodeSubId(sub).createdMs);
    if (day === this.#lastDay) return this.#lastSketch;
    const sketch = this.#sketches.get(day) ?? new Uint8Array(rowOffsets.length * (this.#mask + 1));
    this.#sketches.set(day, sketch);
    this.#lastDay = day;
    this.#lastSketch = sketch;
    return sketch;
  }
}

/**
 * Limits the number of recorded clicks per session and per link, so that one link cannot fill the ledger
 * (docs/contract.md#recorded-clicks). A link consists of a session and an offer. A click above either limit is redirected but not recorded.
 *
 * After a restart, the counts per session are restored from the ledger, and the counts per link start at 0. The limit per link is lower
 * than the limit per session, so that repeated clicks on one offer cannot use up the limit of the session. If there are more than
 * `clickCountersMax` links, the counts of the least recently clicked links are dropped.
 */
export class ClickRecordLimiter implements LedgerSubscriber, SnapshotPart {
  readonly name = 'clicks';
  /** Time from which ledger records must be replayed, in Unix milliseconds; infinity if `restore` has restored the counts. */
  replayStartTimeMs = Number.POSITIVE_INFINITY;
  readonly #perLinkMax: number;
  readonly #clicksPerLink: LRUCache<string, number>;
  readonly #clicksPerSession: SessionClickSketch;
  /** Number of clicks counted since the start, which identifies the content of a snapshot. */
  #changes = 0;
  /** Position of the last ledger record that the restored counts contain. */
  #restoredPosition = 0;

  constructor({
    clicksRecordedPerLinkMax,
    clickCountersMax,
    clicksRecordedPerSessionMax,
    sessionClickCells,
  }: ClickLimits = bounds) {
    this.#perLinkMax = clicksRecordedPerLinkMax;
    this.#clicksPerLink = new LRUCache({ max: clickCountersMax });
    this.#clicksPerSession = new SessionClickSketch(clicksRecordedPerSessionMax, sessionClickCells);
  }

  /** Counts a click and returns whether to record it. `sub` contains the 32 bytes of `subId`. */
  tryCountClick(subId: string, sub: Uint8Array, offerId: string): boolean {
    const link = subId + offerId;
    const count = this.#clicksPerLink.get(link) ?? 0;
    if (count >= this.#perLinkMax || !this.#clicksPerSession.tryCountClick(sub)) return false;
    this.#clicksPerLink.set(link, count + 1);
    this.#changes++;
    return true;
  }

  /** Counts a click that was recorded before a restart. New clicks are counted by `tryCountClick`. */
  applyLedgerRecord(record: LedgerRecord, position: number): void {
    if (record[0] !== ledgerRecordKind.offerClicked || position <= this.#restoredPosition) return;
    this.#clicksPerSession.tryCountClick(record[2]);
    this.#changes++;
  }

  /** Copies the sketches of all days in one turn of the event loop, so that each click is counted once. */
  *capture(ledger: LedgerEnd): Generator<CapturedPiece> {
    yield {
      id: `${this.#changes}`,
      chunks: () => {
        const sketches = this.#clicksPerSession.listSketches();
        const days = sketches.map(([day]) => day);
        return [
          toBytes(Float64Array.of(ledger.lastAppendedPosition, days.length, ...days)),
          ...sketches.map(([, sketch]) => sketch.slice()),
        ];
      },
    };
  }

  restore(pieces: Iterable<StoredPiece>): void {
    const [{ bytes }] = [...pieces] as [StoredPiece];
    const [position, count] = [bytes.readDoubleLE(0), bytes.readDoubleLE(8)];
    const sketchesStart = 8 * (2 + count);
    const length = (bytes.length - sketchesStart) / count;
    for (let i = 0; i < count; i++) {
      const start = sketchesStart + i * length;
      this.#clicksPerSession.restoreSketch(bytes.readDoubleLE(16 + 8 * i), bytes.subarray(start, start + length));
    }
    this.#restoredPosition = position;
  }
}

type ClickLimits = Readonly<
  Record<'clicksRecordedPerLinkMax' | 'clickCountersMax' | 'clicksRecordedPerSessionMax' | 'sessionClickCells', number>
>;
