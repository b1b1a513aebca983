import { constants } from 'node:os';
import process from 'node:process';

/** Somebody told the command to stop. By then it has put away what it had begun. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message = 'interrupted') {
    super(message);
    this.signal = signal;
  }

  /** As shells tell the end of a program by a signal. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/**
 * Runs long work that Ctrl-C or SIGTERM ends in good order: the work gives way to the event loop now and then, looks at its
 * signal, and rejects with the reason of that, an `Interrupted`. A second Ctrl-C ends the process at once.
 */
export async function runInterruptible<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const stop = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => stop.abort(new InterruptedError(signal));
  process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
  try {
    return await work(stop.signal);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}
