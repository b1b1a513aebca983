import { bounds } from '../bounds.ts';
import { done, notDurable, type Outcome } from '../domain/outcome.ts';
import { type EventLog, LogUnavailable } from '../events/event-log.ts';

/** A record on its way into the ledger. */
interface Appended {
  /** Where it lies, if the ledger took it. */
  readonly position: number;
  /** Settles as `EventLog.append` does. */
  readonly durable: Promise<void>;
}

/**
 * Waits for a record that more than one request may wait for. Also where the first of them was told 503 and the record was
 * written later, whoever asks from then on hears that it is durable.
 */
export async function whenDurable(ledger: EventLog, { position, durable }: Appended): Promise<Outcome<null>> {
  try {
    await durable;
  } catch (fault) {
    if (!(fault instanceof LogUnavailable)) throw fault;
    if (!fault.taken || ledger.durablePosition < position) return notDurable(bounds.retryAfterSeconds, fault.taken);
  }
  return done(null);
}
