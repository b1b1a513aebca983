import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, test } from 'node:test';
import { logFilesOf } from '../../src/events/node-log-files.ts';

for (const [how, syncsWrites] of [
  ['in one call', true],
  ['in two calls', false],
] as const) {
  describe(`files that are written and synced ${how}`, () => {
    test('what is stored stands beside what is written, where it belongs', async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'log-files-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const path = join(folder, 'file');
      const files = logFilesOf(syncsWrites);
      const created = await files.create(path);
      await created.write(Buffer.from('abcdef'), 6, 0);
      await created.store(Buffer.from('XYZ-'), 3, 2);
      await created.store(Buffer.from('end'), 3, 8);
      await created.close();
      assert.equal(readFileSync(path, 'latin1'), 'abXYZf\0\0end');
      const again = await files.openForWriting(path);
      await again.store(Buffer.from('A'), 1, 0);
      await again.truncate(6);
      await again.close();
      assert.equal(readFileSync(path, 'latin1'), 'AbXYZf');
    });

    test('a file that is closed leaves no descriptor behind', { skip: process.platform !== 'linux' }, async (t) => {
      const folder = mkdtempSync(join(tmpdir(), 'log-files-'));
      t.after(() => rmSync(folder, { recursive: true }));
      const open = () => readdirSync('/proc/self/fd').length;
      const before = open();
      const file = await logFilesOf(syncsWrites).create(join(folder, 'file'));
      assert.equal(open(), before + (syncsWrites ? 2 : 1));
      await file.close();
      assert.equal(open(), before);
    });
  });
}

test('a synchronized write is one to the system', { skip: process.platform !== 'linux' }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'log-files-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = await logFilesOf(true).create(join(folder, 'file'));
  const flags = readdirSync('/proc/self/fd')
    .map((descriptor) => flagsOf(descriptor))
    .filter((text) => text !== null);
  await file.close();
  // O_DSYNC, as the kernel tells the flags of a descriptor.
  assert.ok(flags.some((value) => (value & 0o10000) !== 0));
});

function flagsOf(descriptor: string): number | null {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'latin1');
    return Number.parseInt(/^flags:\s+(\d+)$/m.exec(info)?.[1] ?? '0', 8);
  } catch {
    return null;
  }
}
