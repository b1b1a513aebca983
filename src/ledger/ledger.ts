import type { EventLog } from '../event-log/event-log.ts';
import type { LedgerRecord } from './ledger-record.ts';

/** Port of the ledger: the event log that sessions, views, clicks, revenue and widget events are recorded in. */
export type Ledger = EventLog<LedgerRecord>;

/** State that is derived from the ledger's records. */
export interface LedgerSubscriber {
  /** Time in Unix milliseconds from which on the subscriber needs the recorded events when the service starts. */
  readonly replaySinceMs: number;
  /**
   * Applies a record. Records come in ledger order: first those of the past, then each new record before the `append` that
   * takes it returns. The bytes in a record are reused after the call. Must not throw.
   */
  apply(record: LedgerRecord): void;
}
