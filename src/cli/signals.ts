import { constants } from 'node:os';
import process from 'node:process';

/** Handlers of the signals that control a server. */
interface ServeSignals {
  /** Abort signal that the first SIGINT or SIGTERM aborts. */
  readonly stopSignal: AbortSignal;
  /** Promise that resolves with the first SIGINT or SIGTERM. */
  readonly stopRequested: Promise<NodeJS.Signals>;
  /** Sets the function that ends the process at the second SIGINT or SIGTERM. A third signal exits at once. */
  onSecondStop(end: (signal: NodeJS.Signals) => void): void;
  /** Sets the function to call at each SIGHUP. If a SIGHUP has already arrived, calls the function at once and returns true. */
  onReload(handle: () => void): boolean;
}

let installedSignals: ServeSignals | null = null;

/**
 * Installs the signal handlers, which remain until the process ends. Until `onSecondStop` is called, a second SIGINT or SIGTERM exits at
 * once with code 1.
 */
export function installServeSignals(): ServeSignals {
  installedSignals ??= createServeSignals();
  return installedSignals;
}

function createServeSignals(): ServeSignals {
  const controller = new AbortController();
  const { promise: stopRequested, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const exitNow = (): void => process.exit(1);
  let end: (signal: NodeJS.Signals) => void = exitNow;
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      const endBySecond = end;
      end = exitNow;
      endBySecond(signal);
      return;
    }
    controller.abort();
    resolve(signal);
  };
  let reloadRequested = false;
  let handleReload = (): void => {
    reloadRequested = true;
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.on('SIGHUP', () => handleReload());
  return {
    stopSignal: controller.signal,
    stopRequested,
    onSecondStop: (handle) => {
      end = handle;
    },
    onReload: (handle) => {
      handleReload = handle;
      if (reloadRequested) handle();
      return reloadRequested;
    },
  };
}

/** A signal interrupted the command. The command has already cleaned up. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message = 'interrupted') {
    super(message);
    this.signal = signal;
  }

  /** Exit code that shells report for a program that was ended by the signal. */
  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/**
 * Runs long work that Ctrl-C or SIGTERM interrupts. The work must yield to the event loop, and reject with the reason of its abort
 * signal, which is an `InterruptedError`. A second Ctrl-C ends the process at once.
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
