import { openEventLog } from '../../src/event-log/file-event-log.ts';
import { dataPaths } from '../../src/files/data-paths.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';

/** Appends records to the ledger of a data folder. No service may use the folder at the same time. */
export async function appendToLedger(dataDir: string, records: readonly LedgerRecord[]): Promise<void> {
  const log = await openEventLog({ folder: dataPaths(dataDir).ledgerFolder, durability: 'write' });
  for (const record of records) await log.append(record)!.durable;
  await log.close();
}
