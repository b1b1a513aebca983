import { bounds } from '../../src/bounds.ts';
import { decodeSnapshot, encodeSnapshot } from '../../src/budgets/booked-revenue-snapshot.ts';
import { ClickDecider } from '../../src/budgets/click-decider.ts';
import { LedgerBookings } from '../../src/budgets/ledger-bookings.ts';
import type { ReplacedCatalog } from '../../src/catalogs/catalog-store.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { type ClickDecision, toClickRecordItems } from '../../src/clicks/click-decision.ts';
import type { ApiKeyMode } from '../../src/domain/mode.ts';
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
  /** Last snapshot, encoded as in the file. */
  snapshot: string | null = null;
  /** Replaced catalogs by version, as `CatalogStore` stores them. */
  readonly #replaced = new Map<string, ReplacedCatalog>();
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
    const decision = this.decider.decideClick(sub, offerId, this.nowMs, fullMicros);
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
    if (this.ledger.length > 0) this.snapshot = encodeSnapshot(this.bookings.takeSnapshot(this.nowMs));
  }

  /**
   * Simulates a restart with the last snapshot, or without a snapshot. The last `lost` records were not durable. A snapshot is written
   * only after its records are durable.
   */
  restart({ usesSnapshot = true, lost = 0 } = {}): void {
    const snapshot = usesSnapshot && this.snapshot !== null ? decodeSnapshot(this.snapshot) : null;
    const durable = snapshot?.lastRecord.position ?? 0;
    this.ledger.length = Math.min(this.ledger.length, Math.max(this.ledger.length - lost, durable));
    this.bookings = new LedgerBookings(this.nowMs, { snapshot });
    this.#replay();
    if (this.bookings.isConsistentWithLedger) return;
    this.bookings.discardState();
    this.#replay();
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
    this.#replaced.set(this.catalog.version, { compiled: this.catalog, replacedMs: this.nowMs });
    this.catalog = catalog;
    this.bookings.activateCatalog(catalog, this.nowMs);
  }

  /** Restores the catalogs, and applies those records that a ledger passes, if every record has its own segment. */
  #replay(): void {
    const { bookings, nowMs } = this;
    const replaced = [...this.#replaced.values()];
    bookings.restoreCatalogs(
      this.catalog,
      replaced.filter(({ replacedMs }) => nowMs - replacedMs < bounds.replacedCatalogRetentionMs),
    );
    for (const [index, record] of this.ledger.entries()) {
      const isSkipped = record[1] < bookings.replayStartTimeMs && index + 1 < bookings.replayStartPosition;
      if (!isSkipped) bookings.applyLedgerRecord(record, index + 1);
    }
  }
}
