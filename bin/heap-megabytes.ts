import { totalmem } from 'node:os';
import process from 'node:process';

/** Returns the default heap size of a server in megabytes. */
export function defaultHeapMegabytes(): number {
  // `constrainedMemory` returns the memory limit of the container. Without a limit, `constrainedMemory` returns either 0 or a
  // value above the total memory.
  const bytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  // The JavaScript heap gets half of the memory. The page cache, the worker threads and the operating system need the rest of the memory.
  return Math.floor(bytes / 2 ** 20 / 2);
}
