import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runChild } from '../target/owned-resources.ts';
import { autocannonClient } from './autocannon-client.ts';
import type { LoadClient, LoadResult } from './load-client.ts';

const wrkScript = fileURLToPath(new URL('../wrk/prepared.lua', import.meta.url));

/** Finds wrk on PATH. The client wrk uses a tenth of the CPU time of a JavaScript client. */
export async function findWrkClient(path: string): Promise<LoadClient | null> {
  for (const folder of path.split(delimiter)) {
    const command = join(folder, 'wrk');
    if (await isExecutable(command)) return wrkClient(command);
  }
  return null;
}

function wrkClient(command: string): LoadClient {
  return {
    name: 'wrk',
    run: async (plan) => {
      const seconds = Math.max(1, Math.ceil(plan.seconds));
      const output = await runChild(
        command,
        [
          ...['--threads', '1', '--connections', String(plan.connections), '--duration', `${seconds}s`],
          ...['--timeout', '10s', '--script', wrkScript, `http://127.0.0.1:${plan.port}`],
          ...[plan.requestsFile, plan.singleUse ? 'once' : 'repeat'],
        ],
        { timeoutMs: (seconds + 60) * 1000 },
      );
      const line = output.split('\n').find((text) => text.startsWith('{'));
      if (line === undefined) throw new Error(`no result in the output of wrk: ${output}`);
      return { ...(JSON.parse(line) as Omit<LoadResult, 'clientThreads'>), clientThreads: 1 };
    },
  };
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface LoadClients {
  readonly client: LoadClient;
  readonly crossCheck: LoadClient | undefined;
}

/** Returns autocannon, and wrk if it is on PATH. With a name, returns only that client, or throws if it is not installed. */
export async function chooseLoadClients(named: LoadClient['name'] | undefined, path: string): Promise<LoadClients> {
  if (named === 'autocannon') return { client: autocannonClient, crossCheck: undefined };
  const wrk = await findWrkClient(path);
  if (named === undefined) return { client: autocannonClient, crossCheck: wrk ?? undefined };
  if (wrk === null) throw new Error('wrk is not on PATH');
  return { client: wrk, crossCheck: undefined };
}
