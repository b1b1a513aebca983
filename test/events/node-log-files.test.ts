import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { nodeLogFiles } from '../../src/events/node-log-files.ts';
import { scratchFolder } from './log-fixture.ts';

/** Which files are synced from now on, by inode: nothing else shows it but a power cut. */
function watchSyncs(t: TestContext): Set<number> {
  const synced = new Set<number>();
  const { fsyncSync } = fs;
  t.mock.method(fs, 'fsyncSync', (descriptor: number) => {
    fsyncSync(descriptor);
    synced.add(fs.fstatSync(descriptor).ino);
  });
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
  return synced;
}

for (const [what, made] of [
  ['a new folder', []],
  ['a folder that lies in a new one of somebody else', ['data']],
  ['a folder made by a process that died before it could', ['data', 'data/ledger']],
] as const) {
  test(`the names of ${what} and of what leads to it are synced`, (t) => {
    const root = scratchFolder(t);
    for (const path of made) fs.mkdirSync(join(root, path));
    const synced = watchSyncs(t);
    const folder = join(root, 'data', 'ledger');
    nodeLogFiles.makeFolder(folder);
    for (const parent of [join(root, 'data'), root, dirname(root)]) assert.ok(synced.has(fs.statSync(parent).ino));
  });
}
