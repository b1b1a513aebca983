import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { FolderInUseError, lockFolder } from '../../src/files/folder-lock.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const child = fileURLToPath(new URL('hold-lock.ts', import.meta.url));

test('a second lock of a folder in one process fails with an error that contains the path', (t) => {
  const folder = temporaryFolder(t);
  const lock = lockFolder(folder);
  lockFolder(temporaryFolder(t)).release();
  assert.throws(
    () => lockFolder(folder),
    (error) => error instanceof FolderInUseError && error.message.includes(folder),
  );
  lock.release();
  lock.release();
  lockFolder(folder).release();
});

test('rejects a folder that another process has locked, until that process is killed', async (t) => {
  const folder = temporaryFolder(t);
  const holder = spawn(process.execPath, [child, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  assert.throws(() => lockFolder(folder), FolderInUseError);
  holder.kill('SIGKILL');
  await once(holder, 'exit');
  lockFolder(folder).release();
});

test('a rejected lock attempt does not release the lock of the first process', async (t) => {
  const folder = temporaryFolder(t);
  const lock = lockFolder(folder);
  t.after(() => lock.release());
  assert.throws(() => lockFolder(folder), FolderInUseError);
  const other = spawn(process.execPath, [child, folder], { stdio: 'pipe' });
  t.after(() => other.kill('SIGKILL'));
  const said = await Promise.race([once(other.stdout, 'data'), once(other.stderr, 'data')]);
  assert.match(String(said[0]), /FolderInUseError|is in use by another/);
});

test('rejects a folder that another thread has locked, until that thread ends', async (t) => {
  const folder = temporaryFolder(t);
  const holder = new Worker(child, { argv: [folder], stdout: true });
  t.after(() => holder.terminate());
  await once(holder.stdout, 'data');
  assert.throws(() => lockFolder(folder), FolderInUseError);
  await holder.terminate();
  lockFolder(folder).release();
});

test('locking a missing folder throws an error other than FolderInUseError', (t) => {
  assert.throws(
    () => lockFolder(`${temporaryFolder(t)}/missing`),
    (error) => error instanceof Error && !(error instanceof FolderInUseError),
  );
});
