import { constants } from 'node:os';
import process from 'node:process';

/** What signals have asked of a server. */
interface ServeSignals {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly stopSignal: AbortSignal;
  /** Resolves with the first SIGINT or SIGTERM. */
  readonly stopRequested: Promise<NodeJS.Signals>;
  /** Has it end the process at the second SIGINT or SIGTERM, with 1; a third one waits for it no longer. */
  onSecondStop(end: (signal: NodeJS.Signals) => void): void;
  /** Calls it at each SIGHUP from now on, and at once where there was one before; says whether there was. */
  onReload(handle: () => void): boolean;
}

let installedSignals: ServeSignals | null = null;

/**
 * Listens for signals from the first call to the end of the process, for which there is no other default than to end it. A second
 * SIGINT or SIGTERM does so at once, with 1.
 */
export function installServeSignals(): ServeSignals {
  installedSignals ??= createServeSignals();
  return installedSignals;
}

function createServeSignals(): ServeSignals {
  const controller = new AbortController();
  const { promise: stopRequested, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const endNow = (): void => process.exit(1);
  let end: (signal: NodeJS.Signals) => void = endNow;
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      const endBySecond = end;
      end = endNow;
      endBySecond(signal);
      return;
    }
    controller.abort();
    resolve(signal);
  };
  let hungUp = false;
  let handleHangUp = (): void => {
    hungUp = true;
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  process.on('SIGHUP', () => handleHangUp());
  return {
    stopSignal: controller.signal,
    stopRequested,
    onSecondStop: (handle) => {
      end = handle;
    },
    onReload: (handle) => {
      handleHangUp = handle;
      if (hungUp) handle();
      return hungUp;
    },
  };
}

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
