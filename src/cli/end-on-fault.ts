import process from 'node:process';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { describeError } from '../logs/describe-fault.ts';

/**
 * What nobody caught leaves the process in a state that nobody knows, so it ends, with 1: a line in the log, then `close`,
 * which gets a moment. It is not needed for what was acknowledged, which is on disk already, but for what follows
 * without anybody waiting, such as views.
 */
export function exitOnUncaughtException(logger: Logger, close: () => Promise<void>): void {
  let ending = false;
  const end = (): never => process.exit(1);
  process.on('uncaughtException', (fault: unknown, origin) => {
    // Also when the log itself is what fails, such as a pipe that nobody reads any more.
    if (ending) end();
    ending = true;
    setTimeout(end, bounds.crashCloseTimeoutMs);
    logger.fatal({ origin, fault: describeError(fault) }, 'uncaught exception; the service ends');
    close().then(end, end);
  });
}
