import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runMarketplace } from './run-marketplace.ts';

const scripts = fileURLToPath(new URL('../../bin', import.meta.url));

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-links-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes a shell script that prints a line and exits with a code. */
function writeCommand(folder: string, name: string, output: string, code = 0): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\necho ${output}\nexit ${code}\n`, { mode: 0o755 });
}

test('bin/marketplace runs through a link to a link from another folder', async (t) => {
  const folder = folderFor(t);
  symlinkSync(join(scripts, 'marketplace'), join(folder, 'first'));
  symlinkSync('first', join(folder, 'second'));
  const { code, stdout, stderr } = await runMarketplace(['--version'], {}, { command: './second', folder });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('bin/with-node uses the Node.js of the project through a link if the installed one is too old', async (t) => {
  const folder = folderFor(t);
  mkdirSync(join(folder, 'project', 'bin'), { recursive: true });
  copyFileSync(join(scripts, 'with-node'), join(folder, 'project', 'bin', 'with-node'));
  writeCommand(join(folder, 'project', '.node', 'node_modules', '.bin'), 'node', 'v22.99.0');
  writeCommand(join(folder, 'machine'), 'node', 'v18.0.0');
  writeCommand(join(folder, 'machine'), 'npm', 'nothing is installed by a test', 1);
  symlinkSync(join(folder, 'project', 'bin', 'with-node'), join(folder, 'link'));
  const path = `${join(folder, 'machine')}:${process.env.PATH}`;
  const ran = await runMarketplace(['node', '--version'], { PATH: path }, { command: './link', folder });
  assert.deepEqual(ran, { code: 0, stdout: 'v22.99.0\n', stderr: '' });
});
