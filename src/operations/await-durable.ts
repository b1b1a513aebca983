import { bounds } from '../bounds.ts';
import { notDurable, type Outcome, succeeded } from '../domain/outcome.ts';
import { type EventLog, LogUnavailableError } from '../event-log/event-log.ts';

/** A record on its way into the ledger. */
interface PendingAppend {
  /** Where it lies, if the ledger took it. */
  readonly position: number;
  /** Settles as `EventLog.append` does. */
  readonly durable: Promise<void>;
}

/**
 * Waits for a record that more than one request may wait for. Also where the first of them was told 503 and the record was
 * written later, whoever asks from then on hears that it is durable.
 */
export async function awaitDurable(ledger: EventLog, { position, durable }: PendingAppend): Promise<Outcome<null>> {
  try {
    await durable;
  } catch (fault) {
    if (!(fault instanceof LogUnavailableError)) throw fault;
    if (!fault.isAppended || ledger.durablePosition < position)
      return notDurable(bounds.retryAfterSeconds, fault.isAppended);
  }
  return succeeded(null);
}
