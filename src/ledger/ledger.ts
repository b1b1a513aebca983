import type { EventLog } from '../event-log/event-log.ts';
import type { LedgerRecord } from './ledger-record.ts';

/** Port of the ledger: the event log of sessions, views, clicks, confirmations and widget events. */
export type Ledger = EventLog<LedgerRecord>;

/** State that is derived from the ledger's records. */
export interface LedgerSubscriber {
  /** Time, in Unix milliseconds, from which the subscriber needs recorded events when the service starts. */
  readonly replaySinceMs: number;
  /**
   * Applies a record. Records are applied in ledger order: first the stored records, then each new record before the call of `append`
   * returns. The bytes of a record are reused after the call. Must not throw.
   */
  apply(record: LedgerRecord): void;
}
