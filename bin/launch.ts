#!/usr/bin/env node
/**
 * The command `marketplace`, of a checkout and of the installed package: refuses a Node.js that is too old, sizes the heap of those
 * commands that serve or tell how much would be served, and hands over to the command line. It imports nothing of ours before
 * that and uses no new syntax, since an old Node.js has to get as far as the refusal.
 */
import { totalmem } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/** As `engines` in package.json has it. */
const oldest = [22, 18] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const args = process.argv.slice(2);
const main = new URL('../src/cli/main.ts', import.meta.url);

if (major < oldest[0] || (major === oldest[0] && minor < oldest[1])) {
  refuse(`this is Node.js ${process.versions.node}; it needs ${oldest.join('.')} or newer`);
} else if (args[0] === 'serve' || args[0] === 'check-config') {
  // Live sessions are held on the JavaScript heap, whose size can only be told to a Node.js that starts. It takes the place of
  // this one, and so has its id, its signals and its files.
  const heap = `--max-old-space-size=${heapMegabytes(process.env.MARKETPLACE_HEAP_MB)}`;
  process.execve!(process.execPath, [process.execPath, ...process.execArgv, heap, fileURLToPath(main), ...args]);
} else {
  await import(main.href);
}

function heapMegabytes(wanted: string | undefined): number {
  if (wanted !== undefined && wanted !== '') {
    if (/^[1-9]\d{0,6}$/.test(wanted)) return Number(wanted);
    refuse(`MARKETPLACE_HEAP_MB holds ${JSON.stringify(wanted)}; it may hold a whole number of megabytes`);
  }
  // A container's bound where there is one; otherwise Node.js tells nothing, or more than there is.
  const bytes = Math.min(process.constrainedMemory() || Infinity, totalmem());
  // Half of the memory: the other half is for the page cache under the logs, the worker threads and the system.
  return Math.floor(bytes / 2 ** 20 / 2);
}

function refuse(reason: string): never {
  process.stderr.write(`marketplace: ${reason}\n`);
  process.exit(1);
}
