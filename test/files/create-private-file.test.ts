import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { createPrivateFile } from '../../src/files/private-files.ts';
import { scratchFolder } from '../event-log/log-fixture.ts';

test('a file is created for its owner alone, and what is there keeps its content', (t) => {
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const path = join(scratchFolder(t), 'file');
  createPrivateFile(path);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  writeFileSync(path, 'content');
  createPrivateFile(path);
  assert.equal(readFileSync(path, 'utf8'), 'content');
});

test('what hinders the creation is told', (t) => {
  assert.throws(() => createPrivateFile(join(scratchFolder(t), 'none', 'file')), { code: 'ENOENT' });
});
