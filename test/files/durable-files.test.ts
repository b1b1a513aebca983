import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import {
  createFolderDurably,
  createPrivateFile,
  createPrivateFolder,
  restrictFolderToOwner,
  writeFileDurably,
} from '../../src/files/durable-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Replaces a function of `node:fs` until the end of the test. */
function mockFs(t: TestContext, name: 'fsyncSync' | 'chmodSync', replacement: (descriptor: number) => void): void {
  t.mock.method(fs, name, replacement);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

/** Returns the inodes of files synced from now on. The sync of `failing.path` fails with `failing.code`. */
function watchSyncs(t: TestContext, failing?: { readonly path: string; readonly code: string }): Set<number> {
  const synced = new Set<number>();
  const { fsyncSync } = fs;
  mockFs(t, 'fsyncSync', (descriptor) => {
    const { ino } = fs.fstatSync(descriptor);
    if (failing !== undefined && fs.statSync(failing.path).ino === ino) {
      throw Object.assign(new Error(`${failing.code}: fsync`), { code: failing.code });
    }
    fsyncSync(descriptor);
    synced.add(ino);
  });
  return synced;
}

for (const [what, existing] of [
  ['a new folder', []],
  ['a folder in an existing one', ['data']],
  ['an existing folder', ['data', 'data/ledger']],
] as const) {
  test(`createFolderDurably syncs the parent folders of ${what}`, (t) => {
    const root = temporaryFolder(t);
    for (const path of existing) fs.mkdirSync(join(root, path));
    const synced = watchSyncs(t);
    const folder = join(root, 'data', 'ledger');
    createFolderDurably(folder);
    for (const parent of [join(root, 'data'), root, dirname(root)]) assert.ok(synced.has(fs.statSync(parent).ino));
  });
}

test('createFolderDurably throws on every call while a parent folder cannot be synced', (t) => {
  const root = temporaryFolder(t);
  watchSyncs(t, { path: root, code: 'EIO' });
  for (let i = 0; i < 2; i++) assert.throws(() => createFolderDurably(join(root, 'ledger')), { code: 'EIO' });
});

test('createFolderDurably accepts an unreadable parent of an existing folder', (t) => {
  const root = temporaryFolder(t);
  const folder = join(root, 'ledger');
  fs.mkdirSync(folder);
  const synced = watchSyncs(t, { path: root, code: 'EACCES' });
  createFolderDurably(folder);
  assert.ok(synced.has(fs.statSync(dirname(root)).ino));
});

test('writeFileDurably replaces the content of a file and leaves no temporary file', (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'file');
  writeFileDurably(path, 'a long first content');
  writeFileDurably(path, Buffer.from('second'));
  assert.equal(fs.readFileSync(path, 'utf8'), 'second');
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(fs.readdirSync(folder), ['file']);
});

const modeOf = (path: string) => fs.statSync(path).mode & 0o7777;

function createFolder(t: TestContext, mode: number): string {
  const folder = temporaryFolder(t);
  fs.chmodSync(folder, mode);
  return folder;
}

test('restrictFolderToOwner removes the permissions of other users, unless the folder has the sticky bit', (t) => {
  for (const [mode, isPrivate, modeAfter] of [
    [0o755, true, 0o700],
    [0o750, true, 0o700],
    [0o777, true, 0o700],
    [0o701, true, 0o700],
    [0o500, true, 0o500],
    [0o1777, false, 0o1777],
  ] as const) {
    const folder = createFolder(t, mode);
    assert.deepEqual([restrictFolderToOwner(folder), modeOf(folder)], [isPrivate, modeAfter]);
  }
});

// These tests replace `chmodSync`, since the user of the tests may be root.
for (const [what, change] of [
  [
    'the folder belongs to another user',
    () => {
      throw Object.assign(new Error('EPERM: chmod'), { code: 'EPERM' });
    },
  ],
  ['the file system ignores the change', () => {}],
] as const) {
  test(`restrictFolderToOwner returns false if ${what}`, (t) => {
    const folder = createFolder(t, 0o777);
    mockFs(t, 'chmodSync', change);
    assert.equal(restrictFolderToOwner(folder), false);
  });
}

test('createPrivateFile creates a private file, and does not change an existing file', (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const path = join(temporaryFolder(t), 'file');
  createPrivateFile(path);
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  fs.writeFileSync(path, 'content');
  createPrivateFile(path);
  assert.equal(fs.readFileSync(path, 'utf8'), 'content');
  assert.throws(() => createPrivateFile(join(path, 'none', 'file')), { code: 'ENOTDIR' });
});

test('createPrivateFolder creates missing folders as private folders, and returns the first missing folder', (t) => {
  const root = temporaryFolder(t);
  assert.equal(createPrivateFolder(join(root, 'a/b/c')), join(root, 'a'));
  for (const path of ['a', 'a/b', 'a/b/c']) assert.equal(fs.statSync(join(root, path)).mode & 0o777, 0o700);
  fs.chmodSync(join(root, 'a'), 0o755);
  assert.equal(createPrivateFolder(join(root, 'a/d')), join(root, 'a/d'));
  assert.equal(createPrivateFolder(join(root, 'a')), null);
  assert.equal(fs.statSync(join(root, 'a')).mode & 0o777, 0o755);
});

test('createPrivateFolder throws if a part of the path is not a folder', (t) => {
  const root = temporaryFolder(t);
  fs.writeFileSync(join(root, 'file'), '');
  fs.symlinkSync(join(root, 'nowhere'), join(root, 'link'));
  assert.throws(() => createPrivateFolder(join(root, 'file')), { code: 'EEXIST' });
  assert.throws(() => createPrivateFolder(join(root, 'link')), { code: 'EEXIST' });
  assert.throws(() => createPrivateFolder(join(root, 'file/below')), { code: 'ENOTDIR' });
  fs.symlinkSync(root, join(root, 'alias'));
  assert.equal(createPrivateFolder(join(root, 'alias')), null);
});

test('createPrivateFolder does not loop forever on a path under /proc', {
  skip: !fs.existsSync('/proc/self'),
}, () => {
  const module = new URL('../../src/files/durable-files.ts', import.meta.url).href;
  const program = `const { createPrivateFolder } = await import('${module}'); try { createPrivateFolder('/proc/nope/data'); } catch ({ code }) { console.log(code); }`;
  // A blocked process ignores all signals but SIGKILL.
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 600_000,
    killSignal: 'SIGKILL',
  });
  assert.deepEqual([stdout, signal], ['ENOENT\n', null]);
});
