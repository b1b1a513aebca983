import assert from 'node:assert/strict';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { type TestContext, test } from 'node:test';
import { restrictFolderToOwner } from '../../src/files/private-files.ts';
import { scratchFolder } from '../event-log/log-fixture.ts';

const modeOf = (path: string) => fs.statSync(path).mode & 0o7777;

function folderOf(t: TestContext, mode: number): string {
  const folder = scratchFolder(t);
  fs.chmodSync(folder, mode);
  return folder;
}

/** Whoever runs the tests may be allowed to change everything, and their file system may have permissions. */
function changeModesBy(t: TestContext, change: () => void): void {
  t.mock.method(fs, 'chmodSync', change);
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

for (const mode of [0o755, 0o750, 0o777, 0o701]) {
  test(`a folder of mode ${mode.toString(8)} is closed`, (t) => {
    const folder = folderOf(t, mode);
    assert.equal(restrictFolderToOwner(folder), true);
    assert.equal(modeOf(folder), 0o700);
  });
}

test('a closed folder stays as it is', (t) => {
  const folder = folderOf(t, 0o500);
  assert.equal(restrictFolderToOwner(folder), true);
  assert.equal(modeOf(folder), 0o500);
});

test('a folder that is shared on purpose stays open', (t) => {
  const folder = folderOf(t, 0o1777);
  assert.equal(restrictFolderToOwner(folder), false);
  assert.equal(modeOf(folder), 0o1777);
});

test('a folder of somebody else stays open', (t) => {
  const folder = folderOf(t, 0o770);
  changeModesBy(t, () => {
    throw Object.assign(new Error('EPERM: chmod'), { code: 'EPERM' });
  });
  assert.equal(restrictFolderToOwner(folder), false);
});

test('a file system that takes the change and does not make it is found out', (t) => {
  const folder = folderOf(t, 0o777);
  changeModesBy(t, () => {});
  assert.equal(restrictFolderToOwner(folder), false);
});
