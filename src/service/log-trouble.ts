import type { Logger } from 'pino';
import type { LogTrouble } from '../events/file-event-log.ts';
import type { JournalTrouble } from '../journal/file-journal.ts';
import { describeFault } from '../logs/describe-fault.ts';

/** Tells the operator what became of an event log, as loudly as it asks for a hand. */
export function logTrouble(logger: Logger, name: 'ledger' | 'journal', trouble: LogTrouble | JournalTrouble): void {
  const message = `${name}: ${trouble.kind}`;
  if ('error' in trouble) logger.error({ fault: describeFault(trouble.error) }, message);
  else if (trouble.kind === 'healed' || trouble.kind === 'tended-again') logger.info(message);
  else logger.warn(trouble, message);
}
