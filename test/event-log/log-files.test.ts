import assert from 'node:assert/strict';
import fs, { readdirSync, readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import process from 'node:process';
import { describe, type TestContext, test } from 'node:test';
import { createNodeFileSystem } from '../../src/event-log/log-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

for (const [how, syncsWrites] of [
  ['in one call', true],
  ['in two calls', false],
] as const) {
  describe(`log files that are written and synced ${how}`, () => {
    test('synced and unsynced writes to one file change exactly the requested bytes', async (t) => {
      const path = join(temporaryFolder(t), 'file');
      const files = createNodeFileSystem(syncsWrites);
      const created = await files.createFile(path);
      await created.write(Buffer.from('abcdef'), 6, 0);
      await created.writeAndSync(Buffer.from('XYZ-'), 3, 2);
      await created.writeAndSync(Buffer.from('end'), 3, 8);
      await created.close();
      assert.equal(readFileSync(path, 'latin1'), 'abXYZf\0\0end');
      const again = await files.openForWriting(path);
      await again.writeAndSync(Buffer.from('A'), 1, 0);
      await again.truncate(6);
      await again.close();
      assert.equal(readFileSync(path, 'latin1'), 'AbXYZf');
    });

    test('closing a file closes all of its descriptors', { skip: process.platform !== 'linux' }, async (t) => {
      const folder = temporaryFolder(t);
      const open = () => readdirSync('/proc/self/fd').length;
      const before = open();
      const file = await createNodeFileSystem(syncsWrites).createFile(join(folder, 'file'));
      assert.equal(open(), before + (syncsWrites ? 2 : 1));
      await file.close();
      assert.equal(open(), before);
    });
  });
}

/** Makes modules use the mocked functions of `fs` until the end of the test. */
function applyMocks(t: TestContext): void {
  syncBuiltinESMExports();
  t.after(() => {
    t.mock.restoreAll();
    syncBuiltinESMExports();
  });
}

/** Records all further writes and syncs, and whether each write used a descriptor with O_DSYNC. */
function watchCalls(t: TestContext): string[] {
  const calls: string[] = [];
  const { write, fdatasync } = fs;
  t.mock.method(fs, 'write', ((descriptor: number, ...rest: unknown[]) => {
    calls.push(syncsItsWrites(descriptor) ? 'synchronized write' : 'write');
    return (write as (...all: unknown[]) => void)(descriptor, ...rest);
  }) as typeof fs.write);
  t.mock.method(fs, 'fdatasync', (descriptor: number, done: fs.NoParamCallback) => {
    calls.push('fdatasync');
    fdatasync(descriptor, done);
  });
  applyMocks(t);
  return calls;
}

/** Whether a descriptor was opened with O_DSYNC, according to the kernel. */
function syncsItsWrites(descriptor: number): boolean {
  const info = fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
  return (Number.parseInt(/^flags:\s+(\d+)$/m.exec(info)![1]!, 8) & fs.constants.O_DSYNC) !== 0;
}

// Without this check, only a power cut would show a missing sync.
for (const [syncsWrites, stored] of [
  [true, ['synchronized write']],
  [false, ['write', 'fdatasync']],
] as const) {
  const how = stored.join(' and ');
  test(`writeAndSync syncs data to the disk by ${how}`, { skip: process.platform !== 'linux' }, async (t) => {
    const path = join(temporaryFolder(t), 'file');
    const file = await createNodeFileSystem(syncsWrites).createFile(path);
    const calls = watchCalls(t);
    await file.writeAndSync(Buffer.from('stored'), 6, 0);
    assert.deepEqual(calls.splice(0), stored);
    await file.write(Buffer.from('written'), 7, 6);
    assert.deepEqual(calls.splice(0), ['write']);
    await file.close();
    const again = await createNodeFileSystem(syncsWrites).openForWriting(path);
    await again.writeAndSync(Buffer.from('stored'), 6, 0);
    assert.deepEqual(calls, ['write', 'fdatasync']);
    await again.close();
  });
}

test('close closes both file descriptors, even after an error', { skip: process.platform !== 'linux' }, async (t) => {
  const file = await createNodeFileSystem(true).createFile(join(temporaryFolder(t), 'file'));
  const { close } = fs;
  const closed: number[] = [];
  t.mock.method(fs, 'close', (descriptor: number, done: fs.NoParamCallback) => {
    closed.push(descriptor);
    close(descriptor, () => done(Object.assign(new Error('EIO: close'), { code: 'EIO' })));
  });
  applyMocks(t);
  await assert.rejects(file.close(), { code: 'EIO' });
  assert.equal(closed.length, 2);
});
