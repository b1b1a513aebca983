import { bounds } from '../bounds.ts';
import { durabilityFailure, type Outcome, successOutcome } from '../domain/outcome.ts';
import { type AppendedRecord, LogUnavailableError } from '../event-log/event-log.ts';
import type { Ledger } from '../ledger/ledger.ts';

/**
 * Waits until a record is durable. Returns an error if the ledger cannot write the record in time; the record may still become durable
 * later. After an error, the caller may call `awaitDurableRecord` again with the same record.
 */
export async function awaitDurableRecord(
  ledger: Pick<Ledger, 'durablePosition'>,
  { position, durable }: AppendedRecord,
): Promise<Outcome<null>> {
  try {
    await durable;
  } catch (error) {
    if (!(error instanceof LogUnavailableError)) throw error;
    if (ledger.durablePosition < position) return durabilityFailure(bounds.retryAfterSeconds, true);
  }
  return successOutcome(null);
}
