import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { createPrivateFolder } from '../../src/files/private-files.ts';
import { scratchFolder } from '../event-log/log-fixture.ts';

test('makes a folder and what leads to it for nobody else to look into, and tells the first that was missing', (t) => {
  const root = scratchFolder(t);
  assert.equal(createPrivateFolder(join(root, 'a/b/c')), join(root, 'a'));
  for (const made of ['a', 'a/b', 'a/b/c']) assert.equal(statSync(join(root, made)).mode & 0o777, 0o700);
  chmodSync(join(root, 'a'), 0o755);
  assert.equal(createPrivateFolder(join(root, 'a/d')), join(root, 'a/d'));
  assert.equal(createPrivateFolder(join(root, 'a')), null);
  assert.equal(statSync(join(root, 'a')).mode & 0o777, 0o755);
});

test('throws where something else has the name, or a file leads there', (t) => {
  const root = scratchFolder(t);
  writeFileSync(join(root, 'file'), '');
  symlinkSync(join(root, 'nowhere'), join(root, 'link'));
  assert.throws(() => createPrivateFolder(join(root, 'file')), { code: 'EEXIST' });
  assert.throws(() => createPrivateFolder(join(root, 'link')), { code: 'EEXIST' });
  assert.throws(() => createPrivateFolder(join(root, 'file/below')), { code: 'ENOTDIR' });
  symlinkSync(root, join(root, 'alias'));
  assert.equal(createPrivateFolder(join(root, 'alias')), null);
});

test('a file system that denies its own folders is no reason to try for ever', {
  skip: !existsSync('/proc/self'),
}, () => {
  const module = new URL('../../src/files/private-files.ts', import.meta.url).href;
  const program = `const { makePrivateFolder } = await import('${module}'); try { makePrivateFolder('/proc/nope/data'); } catch ({ code }) { console.log(code); }`;
  // Killed, since it would be deaf to anything else.
  const { stdout, signal } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
    killSignal: 'SIGKILL',
  });
  assert.deepEqual([stdout, signal], ['ENOENT\n', null]);
});
