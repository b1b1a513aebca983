import { formatIsoTimestamp, msPerDay } from '../../src/domain/calendar.ts';
import { microsPerUsd } from '../../src/domain/money.ts';
import { formatSubId } from '../../src/ids/sub-id.ts';
import type { ConfirmationRow } from '../../src/index.ts';
import {
  ledgerRecordKind,
  type RevenueConfirmedRecord,
  type RevenueReversedRecord,
  reversalReasons,
} from '../../src/ledger/ledger-record.ts';

type Fault = (row: ConfirmationRow, endMs: number) => object;

const inFuture: Fault = (row, endMs) => ({ ...row, occurred_at: formatIsoTimestamp(endMs + msPerDay) });

/** Mistakes of lenders, the first one most often. Each changes a valid row so that the service rejects the row. */
const faults: readonly Fault[] = [
  inFuture,
  (row) => ({ ...row, currency: 'EUR' }),
  (row) => ({ ...row, amount: 0 }),
  inFuture,
  (row) => ({ ...row, svc_offer_id: 'unknown-offer' }),
  inFuture,
];

/** Returns the rows of a lender's file: payouts and reversals that it has not reported yet, one of them twice, and rows with a fault. */
export function createConfirmationFile(
  records: readonly (RevenueConfirmedRecord | RevenueReversedRecord)[],
  endMs: number,
): readonly ConfirmationRow[] {
  const rows = records.map(toRow);
  const faultCount = Math.min(faults.length, Math.floor(rows.length / 2));
  const valid = rows.slice(0, rows.length - faultCount);
  const faulty = rows.slice(valid.length).map((row, at) => faults[at]!(row, endMs) as ConfirmationRow);
  return [...valid, ...valid.slice(0, 1), ...faulty];
}

function toRow(record: RevenueConfirmedRecord | RevenueReversedRecord): ConfirmationRow {
  const [kind, , sub, offerId, , txid, amountMicros, occurredMs] = record;
  const row = {
    sub_id: formatSubId(sub),
    svc_offer_id: offerId,
    txid,
    status: kind === ledgerRecordKind.revenueConfirmed ? 'funded' : 'reversed',
    amount: amountMicros / microsPerUsd,
    occurred_at: formatIsoTimestamp(occurredMs),
  } as const;
  const reason = kind === ledgerRecordKind.revenueReversed ? record[8] : undefined;
  return reason === undefined ? row : { ...row, reason: reversalReasons[reason]! };
}
