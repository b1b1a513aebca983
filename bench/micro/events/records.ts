import type { LedgerRecord } from '../../../src/events/ledger-record.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from '../../../test/support/ledger-records.ts';

/** Sessions, views of five offers and clicks in turn, each of another session. */
export function randomRecords(count: number): LedgerRecord[] {
  return Array.from({ length: count }, (_, serial) => {
    const sub = subOf({ createdMs: 1_760_000_000_000 + serial, serial });
    const offers = Array.from({ length: 5 }, (_each, place) => `lender-offer-${(serial + place) % 60}`);
    if (serial % 3 === 0) return createdRecord(sub, { tag: 'bench_variant-a', device: 1 });
    return serial % 3 === 1 ? viewedRecord(sub, offers) : clickedRecord(sub, offers[0]!);
  });
}
