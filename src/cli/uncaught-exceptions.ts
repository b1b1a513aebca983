import process from 'node:process';
import type { Logger } from 'pino';
import { bounds } from '../bounds.ts';
import { describeError } from '../logging/describe-error.ts';

/**
 * Exits with code 1 after an uncaught exception, because the state of the process may be inconsistent. Before the process exits, the
 * exception is logged and `close` is called with a short timeout. `close` writes events that are still buffered, such as views;
 * acknowledged events are already on disk.
 */
export function exitOnUncaughtException(logger: Logger, close: () => Promise<void>): void {
  let exiting = false;
  const exit = (): never => process.exit(1);
  process.on('uncaughtException', (error: unknown, origin) => {
    // Exits at once after a second exception, which the logger throws if the reader of the log has closed the pipe.
    if (exiting) exit();
    exiting = true;
    setTimeout(exit, bounds.crashCloseTimeoutMs);
    logger.fatal({ origin, err: describeError(error) }, 'uncaught exception; shutting down');
    close().then(exit, exit);
  });
}
