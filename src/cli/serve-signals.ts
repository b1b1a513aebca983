import process from 'node:process';

/** What signals have asked of a server. */
export interface ServeSignals {
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly stopping: AbortSignal;
  /** Resolves with the first SIGINT or SIGTERM. */
  readonly stopAsked: Promise<NodeJS.Signals>;
  /** Has it end the process at the second SIGINT or SIGTERM, with 1; a third one waits for it no longer. */
  onSecond(end: (signal: NodeJS.Signals) => void): void;
  /** Calls it at each SIGHUP from now on, and at once where there was one before; says whether there was. */
  onHangUp(handle: () => void): boolean;
}

let listening: ServeSignals | null = null;

/**
 * Listens for signals from the first call to the end of the process, for which there is no other default than to end it. A second
 * SIGINT or SIGTERM does so at once, with 1.
 */
export function serveSignals(): ServeSignals {
  listening ??= listen();
  return listening;
}

function listen(): ServeSignals {
  const controller = new AbortController();
  const { promise: stopAsked, resolve } = Promise.withResolvers<NodeJS.Signals>();
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
    stopping: controller.signal,
    stopAsked,
    onSecond: (handle) => {
      end = handle;
    },
    onHangUp: (handle) => {
      handleHangUp = handle;
      if (hungUp) handle();
      return hungUp;
    },
  };
}
