import { cpSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

export const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** Files that a clean clone does not have, and the history. */
const excludedPaths =
  /^(node_modules|\.node|\.git|dist|data|test-artefacts|bench\/results|src\/web\/widget\/dist)(\/|$)/;

/** Copies the checkout without untracked files, so that tests can build in the copy at the same time. */
export function copyCheckout(folder: string): void {
  cpSync(checkout, folder, {
    recursive: true,
    filter: (path) => !excludedPaths.test(relative(checkout, path).replaceAll(sep, '/')),
  });
}
