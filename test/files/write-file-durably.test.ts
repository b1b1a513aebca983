import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { writeFileDurably } from '../../src/files/durable-files.ts';

it('replaces the whole content of a file and leaves nothing beside it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'durable-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  writeFileDurably(path, 'a long first content');
  writeFileDurably(path, Buffer.from('second'));
  assert.equal(readFileSync(path, 'utf8'), 'second');
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ['file']);
});
