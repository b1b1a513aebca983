import type { Logger } from 'pino';
import type { LogIncident } from '../events/file-event-log.ts';
import type { JournalIncident } from '../journal/file-journal.ts';
import { describeError } from '../logs/describe-fault.ts';

/** Tells the operator what became of an event log, as loudly as it asks for a hand. */
export function logIncident(logger: Logger, name: 'ledger' | 'journal', trouble: LogIncident | JournalIncident): void {
  const message = `${name}: ${trouble.kind}`;
  if ('error' in trouble) logger.error({ fault: describeError(trouble.error) }, message);
  else if (trouble.kind === 'healed' || trouble.kind === 'tended-again') logger.info(message);
  else logger.warn(trouble, message);
}
