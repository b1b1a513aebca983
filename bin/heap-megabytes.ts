import { totalmem } from 'node:os';
import process from 'node:process';

/** Returns the default size of the JavaScript heap of a server in megabytes. */
export function defaultHeapMegabytes(): number {
  // `constrainedMemory` returns the memory limit of the container; without a limit, 0 or more than the total memory.
  const bytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  // The heap uses half of the memory. The page cache of the logs, the worker threads and the system use the other half.
  return Math.floor(bytes / 2 ** 20 / 2);
}
