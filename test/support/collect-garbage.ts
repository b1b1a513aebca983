import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * Frees what nobody refers to any more. What was looked at in a turn of the event loop is kept to its end; and buffers are
 * freed on another thread, which the next collection waits for.
 */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

/** What buffers and typed arrays take of it that are in use. */
export async function memoryBesideHeap(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

export async function memoryOfHeap(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}
