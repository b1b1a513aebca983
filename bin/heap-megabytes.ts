import { totalmem } from 'node:os';
import process from 'node:process';

/** Default size of the JavaScript heap of a server, in megabytes. */
export function defaultHeapMegabytes(): number {
  // The memory limit of the container. Without one, Node.js returns 0 or more than the total memory.
  const bytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  // Half of the memory: the other half is for the page cache under the logs, the worker threads and the system.
  return Math.floor(bytes / 2 ** 20 / 2);
}
