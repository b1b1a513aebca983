import type { HttpEngineSetting } from '../../config/service-settings.ts';
import type { Listener, ListenerOptions } from './listener.ts';
import { startNodeListener } from './node-listener.ts';
import { NativeEngineUnavailableError } from './uws-engine.ts';
import { startUwsListener } from './uws-listener.ts';

/**
 * Starts a listener with the chosen HTTP engine. `auto` selects uWebSockets.js, or node:http if uWebSockets.js cannot be loaded. If
 * uWebSockets.js cannot be loaded, `engineReason` of the listener contains the load error. Rejects with the system error (`EADDRINUSE`,
 * `EACCES`, ...) if the address cannot be used.
 */
export async function startListener(choice: HttpEngineSetting, options: ListenerOptions): Promise<Listener> {
  if (choice === 'node') return startNodeListener(options);
  try {
    return await startUwsListener(options);
  } catch (error) {
    if (choice === 'uws' || !(error instanceof NativeEngineUnavailableError)) throw error;
    return startNodeListener(options, error.message);
  }
}
