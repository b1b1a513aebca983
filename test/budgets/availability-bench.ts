import { bounds } from '../../src/bounds.ts';
import { ClickDecider } from '../../src/budgets/click-decider.ts';
import { LedgerBookings, type StoredFigures } from '../../src/budgets/ledger-bookings.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { type ReplacedSummary, summarizeCatalog } from '../../src/catalogs/replaced-catalog.ts';
import { type ClickDecision, toClickRecordItems } from '../../src/clicks/click-decision.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
import type { StoredPiece } from '../../src/domain/snapshot-part.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import type { LedgerRecord, OfferClickedRecord } from '../../src/ledger/ledger-record.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { catalogOf, plainBand, plainOffer } from '../matching/loan-fixtures.ts';
import { offerClickedRecord, offersViewedRecord, subIdBytes } from '../support/ledger-records.ts';

export type Budget = NonNullable<LoanOffer['budget']>;

/** Revenue of a click in each of two credit bands. */
export const clickUsd = { low: 0.75, high: 2.5 } as const;
export type Band = keyof typeof clickUsd;

/** Creates a catalog that contains one offer for each id. A click on an offer earns `clickUsd`. */
export function catalogWithOffers(
  offers: Readonly<Record<string, Partial<LoanOffer>>>,
  vertical: Vertical = personalLoans,
  mode: ApiKeyMode = 'live',
): CompiledCatalog {
  const bands = {
    '700-749': plainBand({ confirm_rate: clickUsd.low / 100 }),
    '750-799': plainBand({ confirm_rate: clickUsd.high / 100 }),
  };
  const listed = Object.entries(offers).map(([id, changes]) => plainOffer({ id, payout_usd: 100, bands, ...changes }));
  return compileCatalog(catalogOf(listed), builtInVerticals.withProduct(vertical), { mode });
}

/** Runs the bookings and the availability of offers like the service: appends every record to a ledger, then applies the record. */
export class AvailabilityBench {
  catalog: CompiledCatalog;
  bookings: LedgerBookings;
  nowMs: number;
  ledger: LedgerRecord[] = [];
  /** Last complete snapshot. `start` and `end` are the numbers of records when it was started and completed. */
  #snapshot: { readonly start: number; readonly end: number; readonly pieces: readonly StoredPiece[] } | null = null;
  /** Pieces of the last snapshot since the start. */
  #written: readonly StoredPiece[] = [];
  /** Steps of a snapshot that is not complete, or null. */
  #capture: Generator<void> | null = null;
  /** Replaced catalogs by version, as `CatalogStore` stores them. */
  readonly #replaced = new Map<string, ReplacedSummary>();
  #serial = 0;

  /** @param pairsMax maximum number of session-offer pairs until the first restart */
  constructor(catalog: CompiledCatalog, nowMs: number, pairsMax?: number) {
    this.catalog = catalog;
    this.nowMs = nowMs;
    this.bookings = new LedgerBookings(nowMs, pairsMax === undefined ? {} : { pairsMax });
    this.bookings.activateCatalog(catalog, nowMs);
  }

  get decider(): ClickDecider {
    return new ClickDecider(this.bookings);
  }

  append(record: LedgerRecord): void {
    this.ledger.push(record);
    this.bookings.applyLedgerRecord(record, this.ledger.length);
    this.#capture?.next();
  }

  /** Creates a session with a view of all offers or of these offers. Returns its sub_id. */
  session(offerIds: readonly string[] = this.catalog.offers.map(({ id }) => id), { mode } = this.catalog): Buffer {
    const vertical = this.catalog.vertical.number;
    const sub = subIdBytes({ createdMs: this.nowMs, serial: ++this.#serial, vertical, mode });
    this.append(offersViewedRecord(sub, offerIds, this.nowMs));
    return sub;
  }

  click(sub: Buffer, offerId: string, band: Band = 'low'): ClickDecision {
    return this.clickWorth(sub, offerId, clickUsd[band] * 1_000_000);
  }

  clickWorth(sub: Buffer, offerId: string, fullMicros: number): ClickDecision {
    return this.clickWith(this.decider, sub, offerId, fullMicros);
  }

  clickWith(decider: ClickDecider, sub: Buffer, offerId: string, fullMicros: number): ClickDecision {
    const decision = decider.decideClick(sub, offerId, this.nowMs, fullMicros);
    const valueMicros = decision.hasValue ? fullMicros : 0;
    const click = offerClickedRecord(sub, offerId, { wallMs: this.nowMs, valueMicros });
    this.append([...click, ...toClickRecordItems(decision)] as unknown as OfferClickedRecord);
    return decision;
  }

  /** Clicks an offer in a new session. Returns whether the click booked revenue. */
  clickOnce(offerId: string, band: Band = 'low'): boolean | null | undefined {
    return this.click(this.session(), offerId, band).isBooked;
  }

  /** Returns the ids of the unavailable offers with their reasons. */
  hidden(): Record<string, readonly string[]> {
    const { bookings } = this;
    const { count } = bookings.unavailableOffers(this.catalog, this.nowMs);
    const hidden = this.catalog.offers.flatMap(({ id }, index) => {
      const reasons = bookings.listUnavailabilityReasons(this.catalog, index);
      return reasons.length === 0 ? [] : [[id, reasons] as const];
    });
    if (hidden.length !== count) throw new Error(`${count} unavailable offers, but ${hidden.length} with reasons`);
    return Object.fromEntries(hidden);
  }

  saveSnapshot(): void {
    for (const _ of this.#captureSteps());
  }

  /** Starts a snapshot. After each record, the snapshot is continued by one step. */
  startSnapshot(): void {
    this.#capture = this.#captureSteps();
    this.#capture.next();
  }

  /** Captures a snapshot like `SnapshotWriter`: pieces of the last snapshot that did not change are not captured again. */
  *#captureSteps(): Generator<void> {
    const { ledger } = this;
    const end = {
      get lastAppendedPosition() {
        return ledger.length;
      },
    };
    const start = ledger.length;
    const pieces: StoredPiece[] = [];
    for (const { id, chunks } of this.bookings.capture(end, this.nowMs)) {
      const captured: Buffer[] = [];
      const earlier = this.#written.find((piece) => piece.id === id);
      for (const chunk of earlier === undefined ? chunks() : []) {
        captured.push(Buffer.from(chunk));
        yield;
      }
      pieces.push(earlier ?? { id, bytes: Buffer.concat(captured) });
      yield;
    }
    this.#snapshot = { start, end: ledger.length, pieces };
    this.#written = pieces;
  }

  /**
   * Simulates a restart with the last snapshot, or without a snapshot. The last `lost` records were not durable. A snapshot is written
   * only after its records are durable.
   */
  async restart({ usesSnapshot = true, lost = 0 } = {}): Promise<void> {
    const durable = this.#snapshot?.end ?? 0;
    this.ledger.length = Math.min(this.ledger.length, Math.max(this.ledger.length - lost, durable));
    this.#capture = null;
    this.#written = [];
    this.bookings = new LedgerBookings(this.nowMs);
    let start = 0;
    if (usesSnapshot && this.#snapshot !== null) start = this.#restoreSnapshot(this.#snapshot);
    if (!this.bookings.isRestored) this.#restoreCatalogs();
    this.bookings.prepareCatalog(this.catalog);
    for (const [index, record] of this.ledger.entries()) {
      const isNeeded = record[1] >= this.bookings.replayStartTimeMs || (this.bookings.isRestored && index >= start);
      if (isNeeded) this.bookings.applyLedgerRecord(record, index + 1);
    }
    if (!this.bookings.isRestored) return;
    const { vertical, mode } = this.catalog;
    for (const { offers } of [...this.#listReplacedCatalogs().map(({ summary }) => summary), this.catalog]) {
      const catalog = { vertical, mode, offers };
      await this.bookings.loadPastClicks(catalog, this.nowMs, async (sinceMs, visit) => {
        for (const [index, record] of this.ledger.entries()) if (record[1] >= sinceMs) visit(record, index + 1);
      });
    }
    this.#restoreCatalogs();
  }

  #restoreSnapshot({ start, pieces }: { readonly start: number; readonly pieces: readonly StoredPiece[] }): number {
    try {
      this.bookings.restore(pieces);
      return start;
    } catch (error) {
      if ((error as Error).message !== 'the clock was set back') throw error;
      return 0;
    }
  }

  /** Returns the figures of all offers in a new snapshot, by vertical and mode. */
  listFigures() {
    const pieces = [...this.bookings.capture({ lastAppendedPosition: this.ledger.length }, this.nowMs)];
    const text = Buffer.concat([...pieces.at(-1)!.chunks()]).toString();
    const lines: StoredFigures[] = text
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line));
    const keys = [...new Set(lines.map(([key]) => key))];
    return keys.map((key) => {
      const ofVertical = lines.filter((line) => line[0] === key);
      const bookings = ofVertical.flatMap(([, , list]) => list);
      return { key, bookings, clickCounts: ofVertical.flatMap(([, , , counts]) => counts ?? []) };
    });
  }

  /** Replaces the catalog. Calls `during` while the past clicks are read from the ledger. */
  async reload(catalog: CompiledCatalog, during = () => {}): Promise<void> {
    if (catalog.version === this.catalog.version) return;
    await this.bookings.loadPastClicks(catalog, this.nowMs, async (sinceMs, visit) => {
      const history = [...this.ledger];
      during();
      for (const [index, record] of history.entries()) if (record[1] >= sinceMs) visit(record, index + 1);
    });
    this.#replaced.delete(catalog.version);
    const { version, vertical, mode } = this.catalog;
    this.#replaced.set(version, { summary: summarizeCatalog(this.catalog, vertical, mode), replacedMs: this.nowMs });
    this.catalog = catalog;
    this.bookings.activateCatalog(catalog, this.nowMs);
  }

  #restoreCatalogs(): void {
    this.bookings.restoreCatalogs(this.catalog, this.#listReplacedCatalogs());
  }

  #listReplacedCatalogs(): ReplacedSummary[] {
    const sinceMs = this.nowMs - bounds.replacedCatalogRetentionMs;
    return [...this.#replaced.values()].filter(({ replacedMs }) => replacedMs > sinceMs);
  }
}
