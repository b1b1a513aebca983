import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolderDurably } from '../../src/files/durable-files.ts';
import { scratchFolder } from '../event-log/log-fixture.ts';

/**
 * Which files are synced from now on, by inode: nothing else shows it but a power cut. One of them may fail, since whoever
 * runs the tests may be allowed to open everything.
 */
function watchSyncs(t: TestContext, failing?: { readonly path: string; readonly code: string }): Set<number> {
  const synced = new Set<number>();
  const { fsyncSync } = fs;
  t.mock.method(fs, 'fsyncSync', (descriptor: number) => {
    const { ino } = fs.fstatSync(descriptor);
    if (failing !== undefined && fs.statSync(failing.path).ino === ino) {
      throw Object.assign(new Error(`${failing.code}: fsync`), { code: failing.code });
    }
    fsyncSync(descriptor);
    synced.add(ino);
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
    createFolderDurably(folder);
    for (const parent of [join(root, 'data'), root, dirname(root)]) assert.ok(synced.has(fs.statSync(parent).ino));
  });
}

test('a folder whose name cannot be synced is no place for a log, and does not become one by trying again', (t) => {
  const root = scratchFolder(t);
  watchSyncs(t, { path: root, code: 'EIO' });
  for (let i = 0; i < 2; i++) assert.throws(() => createFolderDurably(join(root, 'ledger')), { code: 'EIO' });
});

test('a folder that was there may lie in one that we are not let into', (t) => {
  const root = scratchFolder(t);
  const folder = join(root, 'ledger');
  fs.mkdirSync(folder);
  const synced = watchSyncs(t, { path: root, code: 'EACCES' });
  createFolderDurably(folder);
  assert.ok(synced.has(fs.statSync(dirname(root)).ino));
});
