import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { type OfferClickedRecord, parseLedgerRecord } from '../../src/ledger/ledger-record.ts';

/** Passes the clicks in the ledger of a stopped server to `visit`, in order. */
export async function visitLedgerClicks(folder: string, visit: (click: OfferClickedRecord) => void): Promise<void> {
  const log = await openEventLog({
    folder,
    durability: 'write',
    onRecord: (_position, value) => {
      const record = parseLedgerRecord(value);
      if (record?.[0] === 3) visit(record);
    },
  });
  await log.close();
}
