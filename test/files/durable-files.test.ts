import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createFolderDurably, writeFileDurably } from '../../src/files/durable-files.ts';
import { scratchFolder } from '../event-log/log-fixture.ts';

/** Returns the inodes of files synced from now on. The sync of `failing.path` fails with `failing.code`. */
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

for (const [what, existing] of [
  ['a new folder', []],
  ['a folder in an existing one', ['data']],
  ['an existing folder', ['data', 'data/ledger']],
] as const) {
  test(`createFolderDurably syncs the names of ${what} and its parents`, (t) => {
    const root = scratchFolder(t);
    for (const path of existing) fs.mkdirSync(join(root, path));
    const synced = watchSyncs(t);
    const folder = join(root, 'data', 'ledger');
    createFolderDurably(folder);
    for (const parent of [join(root, 'data'), root, dirname(root)]) assert.ok(synced.has(fs.statSync(parent).ino));
  });
}

test('createFolderDurably throws each time if a name cannot be synced', (t) => {
  const root = scratchFolder(t);
  watchSyncs(t, { path: root, code: 'EIO' });
  for (let i = 0; i < 2; i++) assert.throws(() => createFolderDurably(join(root, 'ledger')), { code: 'EIO' });
});

test('createFolderDurably accepts an unreadable parent of an existing folder', (t) => {
  const root = scratchFolder(t);
  const folder = join(root, 'ledger');
  fs.mkdirSync(folder);
  const synced = watchSyncs(t, { path: root, code: 'EACCES' });
  createFolderDurably(folder);
  assert.ok(synced.has(fs.statSync(dirname(root)).ino));
});

test('writeFileDurably replaces the content of a file and leaves no temporary file', (t) => {
  const folder = scratchFolder(t);
  const path = join(folder, 'file');
  writeFileDurably(path, 'a long first content');
  writeFileDurably(path, Buffer.from('second'));
  assert.equal(fs.readFileSync(path, 'utf8'), 'second');
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(folder), ['file']);
});
