import type { Listener, ListenerOptions } from './listener.ts';
import { startNodeListener } from './node-listener.ts';
import { NativeEngineUnavailableError, startUwsListener } from './uws-listener.ts';

/** `auto` is uws where its binary loads, else node. */
export type EngineChoice = 'uws' | 'node' | 'auto';

/**
 * Starts the listener asked for. `auto` settles for node:http only when no build of uWebSockets.js can be loaded; `engineReason` of
 * the listener names the cause. An address that cannot be listened on rejects with the system's error whatever the kind.
 */
export async function startListener(kind: EngineChoice, options: ListenerOptions): Promise<Listener> {
  if (kind === 'node') return startNodeListener(options);
  try {
    return await startUwsListener(options);
  } catch (error) {
    if (kind === 'uws' || !(error instanceof NativeEngineUnavailableError)) throw error;
    return startNodeListener(options, error.message);
  }
}
