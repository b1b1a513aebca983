import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import { createPrivateFile, createPrivateFolder, restrictFolderToOwner } from '../../src/files/private-files.ts';
import { scratchFolder } from '../event-log/log-fixture.ts';

const modeOf = (path: string) => fs.statSync(path).mode & 0o7777;

function createFolder(t: TestContext, mode: number): string {
  const folder = scratchFolder(t);
  fs.chmodSync(folder, mode);
  return folder;
}

/** Replaces `chmodSync`, since the user of the tests may be root. */
function mockChmod(t: TestContext, change: () => void): void {
  t.mock.method(fs, 'chmodSync', change);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

for (const mode of [0o755, 0o750, 0o777, 0o701]) {
  test(`removes the permissions of others from mode ${mode.toString(8)}`, (t) => {
    const folder = createFolder(t, mode);
    assert.equal(restrictFolderToOwner(folder), true);
    assert.equal(modeOf(folder), 0o700);
  });
}

test('does not change a private folder', (t) => {
  const folder = createFolder(t, 0o500);
  assert.equal(restrictFolderToOwner(folder), true);
  assert.equal(modeOf(folder), 0o500);
});

test('does not change a folder with the sticky bit', (t) => {
  const folder = createFolder(t, 0o1777);
  assert.equal(restrictFolderToOwner(folder), false);
  assert.equal(modeOf(folder), 0o1777);
});

test('returns false if the folder belongs to another user', (t) => {
  const folder = createFolder(t, 0o770);
  mockChmod(t, () => {
    throw Object.assign(new Error('EPERM: chmod'), { code: 'EPERM' });
  });
  assert.equal(restrictFolderToOwner(folder), false);
});

test('returns false if the file system ignores the change', (t) => {
  const folder = createFolder(t, 0o777);
  mockChmod(t, () => {});
  assert.equal(restrictFolderToOwner(folder), false);
});

test('creates a private file, and does not change an existing one', (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const path = join(scratchFolder(t), 'file');
  createPrivateFile(path);
  assert.equal(fs.statSync(path).mode & 0o777, 0o600);
  fs.writeFileSync(path, 'content');
  createPrivateFile(path);
  assert.equal(fs.readFileSync(path, 'utf8'), 'content');
});

test('throws if the file cannot be created', (t) => {
  assert.throws(() => createPrivateFile(join(scratchFolder(t), 'none', 'file')), { code: 'ENOENT' });
});

test('creates private folders and returns the first one created', (t) => {
  const root = scratchFolder(t);
  assert.equal(createPrivateFolder(join(root, 'a/b/c')), join(root, 'a'));
  for (const path of ['a', 'a/b', 'a/b/c']) assert.equal(fs.statSync(join(root, path)).mode & 0o777, 0o700);
  fs.chmodSync(join(root, 'a'), 0o755);
  assert.equal(createPrivateFolder(join(root, 'a/d')), join(root, 'a/d'));
  assert.equal(createPrivateFolder(join(root, 'a')), null);
  assert.equal(fs.statSync(join(root, 'a')).mode & 0o777, 0o755);
});

test('throws if a part of the path is not a folder', (t) => {
  const root = scratchFolder(t);
  fs.writeFileSync(join(root, 'file'), '');
  fs.symlinkSync(join(root, 'nowhere'), join(root, 'link'));
  assert.throws(() => createPrivateFolder(join(root, 'file')), { code: 'EEXIST' });
  assert.throws(() => createPrivateFolder(join(root, 'link')), { code: 'EEXIST' });
  assert.throws(() => createPrivateFolder(join(root, 'file/below')), { code: 'ENOTDIR' });
  fs.symlinkSync(root, join(root, 'alias'));
  assert.equal(createPrivateFolder(join(root, 'alias')), null);
});

test('does not loop on a path under /proc', {
  skip: !fs.existsSync('/proc/self'),
}, () => {
  const module = new URL('../../src/files/private-files.ts', import.meta.url).href;
  const program = `const { createPrivateFolder } = await import('${module}'); try { createPrivateFolder('/proc/nope/data'); } catch ({ code }) { console.log(code); }`;
  // A blocked process ignores all signals but SIGKILL.
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  assert.deepEqual([stdout, signal], ['ENOENT\n', null]);
});
