import { fileURLToPath } from 'node:url';
import { runOwned } from '../target/child-process.ts';
import type { LoadClient, LoadResult } from './load-client.ts';

const script = fileURLToPath(new URL('./autocannon-process.ts', import.meta.url));

/** autocannon in a process of its own, so that its work is not done on a core of ours and its CPU time can be told. */
export const autocannonClient: LoadClient = {
  name: 'autocannon',
  run: async (plan) => {
    const output = await runOwned(process.execPath, [script, JSON.stringify(plan)], {
      timeoutMs: (plan.seconds + 60) * 1000,
    });
    return JSON.parse(output) as LoadResult;
  },
};
