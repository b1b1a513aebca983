import type { EventLog } from '../event-log/event-log.ts';
import { type FileEventLog, type FileEventLogOptions, openEventLog } from '../event-log/file-event-log.ts';
import type { LogFiles } from '../event-log/log-files.ts';
import { readOpenLog } from '../event-log/log-reader.ts';
import type { LedgerSubscriber } from './ledger.ts';
import type { LedgerRecord } from './ledger-record.ts';
import { parseLedgerRecord, recordTimeMs } from './parse-ledger-record.ts';

export interface OpenLedgerOptions
  extends Omit<FileEventLogOptions<LedgerRecord>, 'onRecord' | 'readSince' | 'onAppended'> {
  /** Subscribers that receive the recorded events while the ledger is opened, and each new record afterwards. */
  readonly subscribers: readonly LedgerSubscriber[];
  /** Subscribers that receive only the recorded events while the ledger is opened, before `subscribers` receive them. */
  readonly recoveries: readonly LedgerSubscriber[];
}

/**
 * Opens the ledger of a folder and applies its past records to subscribers and recoveries. Skips values that are not valid
 * ledger records.
 *
 * @throws LogDamagedError when a record that was durable cannot be read.
 */
export function openLedger({
  subscribers,
  recoveries,
  ...options
}: OpenLedgerOptions): Promise<FileEventLog<LedgerRecord>> {
  const all = [...recoveries, ...subscribers];
  return openEventLog<LedgerRecord>({
    ...options,
    readSince: { wallMs: Math.min(...all.map(({ replaySinceMs }) => replaySinceMs)), timeMsOf: recordTimeMs },
    onRecord: (_position, value) => {
      const record = parseLedgerRecord(value);
      if (record === null) return;
      for (const each of all) each.apply(record);
    },
    onAppended: (record) => {
      for (const subscriber of subscribers) subscriber.apply(record);
    },
  });
}

/**
 * Visits the valid records that an open ledger had taken at the time of the call, in order: all records from `sinceMs` (Unix
 * milliseconds) on, and some older ones.
 *
 * @throws LogUnavailableError when the ledger cannot be written at present, LogDamagedError when a record cannot be read.
 */
export function readLedgerSince(
  files: LogFiles,
  folder: string,
  ledger: Pick<EventLog<LedgerRecord>, 'appendedPosition' | 'durablePosition' | 'healthy'>,
  sinceMs: number,
  visit: (record: LedgerRecord) => void,
): Promise<void> {
  return readOpenLog(files, folder, ledger, { wallMs: sinceMs, timeMsOf: recordTimeMs }, (value) => {
    const record = parseLedgerRecord(value);
    if (record !== null) visit(record);
  });
}
