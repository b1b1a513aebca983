import { daysSinceEpoch } from '../../src/domain/calendar.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';

/** Records of the demo history, sorted into the UTC days on which the service would have accepted them. */
export class DemoRecords {
  readonly firstDay: number;
  readonly #endMs: number;
  readonly #days: LedgerRecord[][];

  constructor(firstDay: number, endMs: number) {
    this.firstDay = firstDay;
    this.#endMs = endMs;
    this.#days = Array.from({ length: daysSinceEpoch(endMs) - firstDay + 1 }, () => []);
  }

  get lastDay(): number {
    return this.firstDay + this.#days.length - 1;
  }

  /** Adds a record. Ignores a record after the end of the history. */
  add(record: LedgerRecord): void {
    if (record[1] <= this.#endMs) this.#days[daysSinceEpoch(record[1]) - this.firstDay]!.push(record);
  }

  /** Removes the records of a day and returns them in the order of their times. No record of the day may be added afterwards. */
  takeDay(day: number): LedgerRecord[] {
    const records = this.#days[day - this.firstDay]!;
    this.#days[day - this.firstDay] = [];
    return records.sort(([, one], [, other]) => one - other);
  }
}
