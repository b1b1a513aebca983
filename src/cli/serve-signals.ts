import process from 'node:process';

/** What signals have asked of a server. */
export interface ServeSignals {
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
