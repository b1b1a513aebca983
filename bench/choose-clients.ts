import { autocannonClient } from './load/autocannon-client.ts';
import type { LoadClient } from './load/load-client.ts';
import { findWrkClient } from './load/wrk-client.ts';

export interface LoadClients {
  readonly client: LoadClient;
  readonly crossCheck: LoadClient | undefined;
}

/**
 * autocannon, which comes with the project, and wrk beside it where that is on PATH: written in C, it still has something
 * to give where a client in JavaScript has not. Whoever names a client gets that one alone. Throws when it is missing.
 */
export async function chooseLoadClients(named: LoadClient['name'] | undefined, path: string): Promise<LoadClients> {
  if (named === 'autocannon') return { client: autocannonClient, crossCheck: undefined };
  const wrk = await findWrkClient(path);
  if (named === undefined) return { client: autocannonClient, crossCheck: wrk ?? undefined };
  if (wrk === null) throw new Error('wrk is not on PATH');
  return { client: wrk, crossCheck: undefined };
}
