import process from 'node:process';

export interface StopSignal {
  /** Aborted by the first signal. */
  readonly abort: AbortSignal;
  /** Resolves with the first signal. */
  readonly asked: Promise<NodeJS.Signals>;
}

/** Listens for SIGINT and SIGTERM. The second of them ends the process at once, with 1. */
export function stopSignal(): StopSignal {
  const controller = new AbortController();
  const { promise: asked, resolve } = Promise.withResolvers<NodeJS.Signals>();
  const stop = (signal: NodeJS.Signals): void => {
    if (controller.signal.aborted) process.exit(1);
    controller.abort();
    resolve(signal);
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return { abort: controller.signal, asked };
}
