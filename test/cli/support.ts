import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Ran, runMarketplace } from './run-marketplace.ts';

/** Command line with a data folder that is deleted after the test. */
export function marketplaceOnFreshFolder(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'marketplace-cli-'));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  const folder = join(root, 'data');
  const settings = { SVC_DATA_DIR: folder };
  const run = (...args: string[]): Promise<Ran> => runMarketplace(args, settings);
  const runInOwnProcess = (...args: string[]): Promise<Ran> => runMarketplace(args, settings, { ownProcess: true });
  return { folder, run, runInOwnProcess };
}
