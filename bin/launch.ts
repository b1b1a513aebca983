#!/usr/bin/env node
/**
 * Entry point of the command `marketplace`, in a checkout and in the installed package. Refuses an old Node.js, sets the heap size for the
 * subcommands `serve` and `check-config`, and runs the command line. This file must not use new features of Node.js, because an old Node.js
 * must be able to run the version check.
 */
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { describeOldNode } from '../src/embedded/node-version.ts';
import { defaultHeapMegabytes } from './heap-megabytes.ts';

const oldNode = describeOldNode();
const args = process.argv.slice(2);
const mainModule = new URL('../src/cli/main.ts', import.meta.url);
const requestedHeapMegabytes = process.env.MARKETPLACE_HEAP_MB || null;
/** Minimum heap size in megabytes. With a smaller heap, Node.js may crash before the service checks its settings. */
const heapMegabytesMin = 64;

if (oldNode !== null) {
  exitWithError(oldNode);
} else if (process.execve === undefined) {
  exitWithError(`this is Node.js ${process.versions.node}; of the 23 series it needs 23.11 or newer`);
} else if (
  (args[0] === 'serve' || args[0] === 'check-config') &&
  (requestedHeapMegabytes !== null || !isHeapSizeSet())
) {
  // Live sessions need a large JavaScript heap, and the heap size can be set only when Node.js starts. `execve` starts a new program in
  // this process, which keeps its process ID, signals and open files.
  const heap = `--max-old-space-size=${requestedHeapMegabytes === null ? defaultHeapMegabytes() : parseHeapMegabytes(requestedHeapMegabytes)}`;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, heap, fileURLToPath(mainModule), ...args]);
} else {
  await import(mainModule.href);
}

function isHeapSizeSet(): boolean {
  return [...process.execArgv, process.env.NODE_OPTIONS ?? ''].some((text) =>
    /--max[-_]old[-_]space[-_]size/.test(text),
  );
}

function parseHeapMegabytes(text: string): number {
  if (/^\d{1,7}$/.test(text) && Number(text) >= heapMegabytesMin) return Number(text);
  exitWithError(
    `MARKETPLACE_HEAP_MB is ${JSON.stringify(text)}; it must be an integer number of megabytes, at least ${heapMegabytesMin}`,
  );
}

function exitWithError(reason: string): never {
  process.stderr.write(`marketplace: ${reason}\n`);
  process.exit(1);
}
