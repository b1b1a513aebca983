import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { decodeSnapshot, encodeSnapshot } from '../../src/clicks/booked-revenue-snapshot.ts';
import { type ClickDecision, toClickRecordItems } from '../../src/clicks/click-decision.ts';
import { OfferAvailability } from '../../src/clicks/offer-availability.ts';
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
): CompiledCatalog {
  const bands = {
    '700-749': plainBand({ confirm_rate: clickUsd.low / 100 }),
    '750-799': plainBand({ confirm_rate: clickUsd.high / 100 }),
  };
  const listed = Object.entries(offers).map(([id, changes]) => plainOffer({ id, payout_usd: 100, bands, ...changes }));
  return compileCatalog(catalogOf(listed), builtInVerticals.withProduct(vertical), { mode: 'live' });
}

/** Runs the availability of offers like the service: appends every record to a ledger, then applies the record. */
export class AvailabilityBench {
  catalog: CompiledCatalog;
  availability: OfferAvailability;
  nowMs: number;
  ledger: LedgerRecord[] = [];
  /** Last snapshot, encoded as in the file. */
  snapshot: string | null = null;
  #serial = 0;

  constructor(catalog: CompiledCatalog, nowMs: number) {
    this.catalog = catalog;
    this.nowMs = nowMs;
    this.availability = new OfferAvailability(nowMs);
    this.availability.activateCatalog(catalog, nowMs);
  }

  append(record: LedgerRecord): void {
    this.ledger.push(record);
    this.availability.applyLedgerRecord(record, this.ledger.length);
  }

  /** Creates a session with a view of all offers or of these offers. Returns its sub_id. */
  session(offerIds: readonly string[] = this.catalog.offers.map(({ id }) => id)): Buffer {
    const sub = subIdBytes({ createdMs: this.nowMs, serial: ++this.#serial, vertical: this.catalog.vertical.number });
    this.append(offersViewedRecord(sub, offerIds, this.nowMs));
    return sub;
  }

  click(sub: Buffer, offerId: string, band: Band = 'low'): ClickDecision {
    const fullMicros = clickUsd[band] * 1_000_000;
    const decision = this.availability.decideClick(sub, offerId, this.nowMs, fullMicros);
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
    const { count } = this.availability.unavailableOffers(this.catalog, this.nowMs);
    const hidden = this.catalog.offers.flatMap(({ id }, index) => {
      const reasons = this.availability.listUnavailabilityReasons(this.catalog, index);
      return reasons.length === 0 ? [] : [[id, reasons] as const];
    });
    if (hidden.length !== count) throw new Error(`${count} unavailable offers, but ${hidden.length} with reasons`);
    return Object.fromEntries(hidden);
  }

  saveSnapshot(): void {
    if (this.ledger.length > 0) this.snapshot = encodeSnapshot(this.availability.takeSnapshot(this.nowMs));
  }

  /**
   * Simulates a restart with the last snapshot, or without a snapshot. The last `lost` records were not durable. A snapshot is written
   * only after its records are durable.
   */
  restart({ usesSnapshot = true, lost = 0 } = {}): void {
    const durable = usesSnapshot && this.snapshot !== null ? decodeSnapshot(this.snapshot)!.lastRecord.position : 0;
    this.ledger.length = Math.min(this.ledger.length, Math.max(this.ledger.length - lost, durable));
    const snapshot = usesSnapshot && this.snapshot !== null ? decodeSnapshot(this.snapshot) : null;
    this.availability = new OfferAvailability(this.nowMs, { snapshot });
    this.availability.activateCatalog(this.catalog, 0);
    this.#replay();
    if (this.availability.isConsistentWithLedger) return;
    this.availability.discardState();
    this.availability.activateCatalog(this.catalog, 0);
    this.#replay();
  }

  async reload(catalog: CompiledCatalog): Promise<void> {
    await this.availability.loadPastClicks(catalog, this.nowMs, async (sinceMs, visit) => {
      for (const [index, record] of this.ledger.entries()) if (record[1] >= sinceMs) visit(record, index + 1);
    });
    this.catalog = catalog;
    this.availability.activateCatalog(catalog, this.nowMs);
  }

  /** Passes those records that a ledger passes, if every record has its own segment. */
  #replay(): void {
    const { availability } = this;
    for (const [index, record] of this.ledger.entries()) {
      const isSkipped = record[1] < availability.replayStartTimeMs && index + 1 < availability.replayStartPosition;
      if (!isSkipped) availability.applyLedgerRecord(record, index + 1);
    }
  }
}
