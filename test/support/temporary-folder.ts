import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import type { TestContext } from 'node:test';
import { runAfterTest } from './run-after-test.ts';

const removals: (() => void)[] = [];
process.on('exit', () => {
  for (const remove of removals) remove();
});

/** Creates a folder. Deletes it after the test, when the services in it have stopped; without a test, when the process exits. */
export function temporaryFolder(t?: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-test-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (t === undefined) removals.push(remove);
  else runAfterTest(t, remove);
  return folder;
}
