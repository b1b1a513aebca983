import { parseLedgerRecord } from '../analytics/parse-ledger-record.ts';
import type { LedgerRecord } from '../events/ledger-record.ts';

/** A file may hold anything. */
export function visitValidRecord(value: unknown, visit: (record: LedgerRecord) => void): void {
  const record = parseLedgerRecord(value);
  if (record !== null) visit(record);
}
