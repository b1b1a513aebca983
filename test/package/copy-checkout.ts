import { cpSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** What is installed, built, measured or written in a checkout, and its history: a clean clone has none of it. */
const notCloned = /^(node_modules|\.node|\.git|dist|data|test-artefacts|bench\/results|src\/web\/widget\/dist)(\/|$)/;

/** The checkout as a clean clone would be, so that a test that builds in it is not in the way of another. */
export function copyCheckout(folder: string): void {
  cpSync(checkout, folder, {
    recursive: true,
    filter: (path) => !notCloned.test(relative(checkout, path).replaceAll(sep, '/')),
  });
}
