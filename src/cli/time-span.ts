import { recordTimeMs } from '../events/ledger-record.ts';

/** When the first and the last of a row of records happened; null while none of them had a time. */
export class RecordTimeSpan {
  firstMs: number | null = null;
  lastMs: number | null = null;

  include(record: readonly unknown[]): void {
    const ms = recordTimeMs(record);
    if (ms === null) return;
    this.firstMs ??= ms;
    this.lastMs = ms;
  }
}
