import { totalmem } from 'node:os';
import process from 'node:process';

/** The JavaScript heap of a server that is told nothing else. */
export function defaultHeapMegabytes(): number {
  // A container's bound where there is one; otherwise Node.js tells nothing, or more than there is.
  const bytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  // Half of the memory: the other half is for the page cache under the logs, the worker threads and the system.
  return Math.floor(bytes / 2 ** 20 / 2);
}
