import { LRUCache } from 'lru-cache';
import { bounds } from '../bounds.ts';
import { toDayNumber } from '../domain/calendar.ts';
import { decodeSubId } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import { type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';

/** Offsets of the sub_id bytes that select a cell in each row of the count-min sketch: random bytes (14 to 23) and the MAC (from 24). */
const rowOffsets = [14, 17, 20, 24];

/**
 * Counts the recorded clicks of each session up to a maximum, in a fixed amount of memory. Uses a count-min sketch with conservative
 * update: each session has one cell in each of four rows, chosen by random bytes of the sub_id, and the count of the session is the
 * smallest of the four cells. Several sessions may share a cell, so the count of a session may be too high, but never too low.
 *
 * In a simulation (2^20 cells per row, at most 64 clicks per session, 130 million recorded clicks in a day), every
 * session could record all clicks up to its maximum.
 *
 * Sessions created on the same UTC day share one count-min sketch. Clicks are recorded for 24 hours after the creation of their session, so
 * the count-min sketches of two days are enough. The count-min sketch of a day is replaced two days later.
 */
class SessionClickSketch {
  readonly #max: number;
  readonly #mask: number;
  readonly #sketches = [new Uint8Array(0), new Uint8Array(0)];
  readonly #days = [-1, -1];
  readonly #cells = rowOffsets.map(() => 0);

  /**
   * @param max maximum number of recorded clicks per session, up to 255
   * @param rowCells number of one-byte cells per row: a power of two, up to 2^24
   */
  constructor(max: number, rowCells: number) {
    this.#max = max;
    this.#mask = rowCells - 1;
  }

  /** Counts a click and returns true, or returns false if the session has reached its maximum. */
  tryCountClick(sub: Uint8Array): boolean {
    const cells = this.#cells;
    const sketch = this.#sketchForSessionDay(sub);
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

  #sketchForSessionDay(sub: Uint8Array): Uint8Array {
    const day = toDayNumber(decodeSubId(sub).createdMs);
    const index = day & 1;
    // If the clock was set back to an earlier day, new sessions use the counts of the later day, so that the counts do not restart.
    if (day > this.#days[index]!) {
      this.#days[index] = day;
      this.#sketches[index] = new Uint8Array(rowOffsets.length * (this.#mask + 1));
    }
    return this.#sketches[index]!;
  }
}

/**
 * Limits the recorded clicks (docs/contract.md#recorded-clicks) to `clicksRecordedPerSessionMax` per session and to
 * `clicksRecordedPerLinkMax` per link (session and offer), so that one link cannot fill the ledger. A click above a limit is redirected but
 * not recorded.
 *
 * The limit per session also applies after a restart. Because of the limit per offer, repeated clicks on one offer cannot use up the
 * session's limit. If there are more than `clickCountersMax` links, the counts of the least recently clicked links are dropped.
 */
export class ClickRecordLimiter implements LedgerSubscriber {
  /** The limiter needs no replay of ledger records. The limiter counts the clicks that are replayed for other ledger subscribers. */
  readonly replayStartMs = Number.POSITIVE_INFINITY;
  readonly #perLinkMax: number;
  readonly #clicksPerLink: LRUCache<string, number>;
  readonly #clicksPerSession: SessionClickSketch;

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
    return true;
  }

  /** Counts a click that was recorded before a restart. While the service runs, clicks are counted before they are recorded. */
  applyLedgerRecord(record: LedgerRecord): void {
    if (record[0] === ledgerRecordKind.offerClicked) this.#clicksPerSession.tryCountClick(record[2]);
  }
}

type ClickLimits = Readonly<
  Record<'clicksRecordedPerLinkMax' | 'clickCountersMax' | 'clicksRecordedPerSessionMax' | 'sessionClickCells', number>
>;
