import { dataFiles } from '../../src/analytics/analytics-files.ts';
import { openEventLog } from '../../src/events/file-event-log.ts';
import type { LedgerRecord } from '../../src/events/ledger-record.ts';

/** Adds records to the ledger of a data folder that no service has open. */
export async function appendToLedger(dataDir: string, records: readonly LedgerRecord[]): Promise<void> {
  const log = await openEventLog({ folder: dataFiles(dataDir).ledgerFolder, shard: 0, durability: 'write' });
  for (const record of records) await log.append(record);
  await log.close();
}
