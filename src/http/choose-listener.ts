import type { Listener, ListenerOptions } from './listener.ts';
import { startNodeListener } from './node-listener.ts';
import { NativeEngineUnavailable, startUwsListener } from './uws-listener.ts';

/** `auto` is uws where its binary loads, else node. */
export type ListenerKind = 'uws' | 'node' | 'auto';

/**
 * Starts the listener asked for. `onFallback` hears, once and before the listener starts, why `auto` had to settle for
 * node:http. Only a binary that cannot be loaded is a reason for that; an address that cannot be listened on rejects with
 * the system's error whatever the kind.
 */
export async function startListener(
  kind: ListenerKind,
  options: ListenerOptions,
  onFallback: (reason: string) => void,
): Promise<Listener> {
  if (kind === 'node') return startNodeListener(options);
  try {
    return await startUwsListener(options);
  } catch (error) {
    if (kind === 'uws' || !(error instanceof NativeEngineUnavailable)) throw error;
    onFallback(error.message);
    return startNodeListener(options);
  }
}
