import { constants } from 'node:os';
import process from 'node:process';

interface ServeSignals {
  /** Abort signal that is aborted by the first SIGINT or SIGTERM. */
  readonly stopSignal: AbortSignal;
  /** Promise that resolves to the signal name when the process receives the first SIGINT or SIGTERM. */
  readonly stopRequested: Promise<NodeJS.Signals>;
  /** Sets the function to call at the second SIGINT or SIGTERM. A third SIGINT or SIGTERM ends the process immediately with code 1. */
  onSecondStopSignal(end: (signal: NodeJS.Signals) => void): void;
  /** Sets the function to call at each SIGHUP. If a SIGHUP has already arrived, calls the function immediately and returns true. */
  onReloadSignal(handle: () => void): boolean;
}

let installedSignals: ServeSignals | null = null;

/**
 * Installs the signal handlers of a server. The handlers are never removed. A second SIGINT or SIGTERM ends the process with exit code 1 if
 * `onSecondStopSignal` was not called.
 */
export function installSignalHandlers(): ServeSignals {
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
    onSecondStopSignal: (handle) => {
      end = handle;
    },
    onReloadSignal: (handle) => {
      handleReload = handle;
      if (reloadRequested) handle();
      return reloadRequested;
    },
  };
}

/** Thrown by a command that a signal interrupted, after the command has cleaned up. */
export class InterruptedError extends Error {
  override readonly name = 'Interrupted';
  readonly signal: NodeJS.Signals;

  constructor(signal: NodeJS.Signals, message = 'interrupted') {
    super(message);
    this.signal = signal;
  }

  get exitCode(): number {
    return 128 + constants.signals[this.signal];
  }
}

/**
 * Runs a long operation that Ctrl-C or SIGTERM can interrupt. At the first signal, `work` must reject with `signal.reason`, an
 * `InterruptedError`; a second Ctrl-C ends the process immediately. `work` must yield to the event loop, which handles the signals.
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
