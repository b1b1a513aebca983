import { type LedgerRecord, ledgerRecordKind } from '../ledger/ledger-record.ts';

/** Kinds of revenue that the metrics count. */
export const revenueKinds = ['booked', 'confirmed', 'reversed'] as const;
export type RevenueKind = (typeof revenueKinds)[number];

/** Revenue of one vertical and mode in the ledger records that were applied since the last reset, in micro-dollars. */
export class RevenueTotals {
  readonly #micros: Record<RevenueKind, number> = { booked: 0, confirmed: 0, reversed: 0 };

  get micros(): Readonly<Record<RevenueKind, number>> {
    return this.#micros;
  }

  reset(): void {
    Object.assign(this.#micros, { booked: 0, confirmed: 0, reversed: 0 });
  }

  /**
   * Adds the revenue of a record.
   *
   * @param changesBookings whether the record changed the bookings of an offer; false for a repeated click
   */
  addRecord(record: LedgerRecord, changesBookings: boolean): void {
    switch (record[0]) {
      case ledgerRecordKind.offerClicked: {
        const [, , , , , , valueMicros, isBooked, , confirmsRevenue = false] = record;
        if (!changesBookings || isBooked === false) return;
        this.#micros.booked += valueMicros;
        if (confirmsRevenue) this.#micros.confirmed += valueMicros;
        return;
      }
      case ledgerRecordKind.revenueConfirmed: {
        const [, , , , , , amountMicros, , , restoredClickMicros] = record;
        this.#micros.confirmed += amountMicros;
        if (changesBookings) this.#micros.booked += restoredClickMicros ?? 0;
        return;
      }
      case ledgerRecordKind.revenueReversed:
        this.#micros.reversed += record[6];
        return;
    }
  }
}
