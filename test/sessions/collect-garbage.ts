import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * Frees unreferenced objects. Runs in new turns of the event loop, because references from a turn last until its end. Runs
 * the collection twice, because another thread frees buffers and the second collection waits for that thread.
 */
export async function collectGarbage(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}

/** Returns the memory of array buffers after garbage collection, in bytes. */
export async function memoryBesideHeap(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().arrayBuffers;
}

export async function memoryOfHeap(): Promise<number> {
  await collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** Returns the memory of this thread on and beside the heap after garbage collection, in bytes. */
export async function memoryBytes(): Promise<number> {
  await collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
