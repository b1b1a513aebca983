#!/usr/bin/env node
/**
 * The command `marketplace`, of a checkout and of the installed package: refuses a Node.js that is too old, sizes the heap of those
 * commands that serve or tell how much would be served, and hands over to the command line. Before that it uses nothing new, since
 * an old Node.js has to get as far as the refusal.
 */
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { defaultHeapMegabytes } from './heap-megabytes.ts';

/** As `engines` in package.json has it. */
const oldestNodeVersion = [22, 18] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const args = process.argv.slice(2);
const mainModule = new URL('../src/cli/main.ts', import.meta.url);
const requestedHeapMegabytes = process.env.MARKETPLACE_HEAP_MB || null;
/** With less, Node.js may not even get as far as reading the settings. */
const heapMegabytesMin = 64;

if (major < oldestNodeVersion[0] || (major === oldestNodeVersion[0] && minor < oldestNodeVersion[1])) {
  exitWithError(`this is Node.js ${process.versions.node}; it needs ${oldestNodeVersion.join('.')} or newer`);
} else if (process.execve === undefined) {
  exitWithError(`this is Node.js ${process.versions.node}; of the 23 series it needs 23.11 or newer`);
} else if (
  (args[0] === 'serve' || args[0] === 'check-config') &&
  (requestedHeapMegabytes !== null || !isHeapSizeSet())
) {
  // What may grow with the live sessions is on the JavaScript heap, whose size can only be told to a Node.js that starts. It takes the
  // place of this one, and so has its id, its signals and its files.
  const heap = `--max-old-space-size=${requestedHeapMegabytes === null ? defaultHeapMegabytes() : parseHeapMegabytes(requestedHeapMegabytes)}`;
  process.execve(process.execPath, [process.execPath, ...process.execArgv, heap, fileURLToPath(mainModule), ...args]);
} else {
  await import(mainModule.href);
}

/** Whoever started Node.js has told it already. */
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
