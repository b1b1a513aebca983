import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { createOwnedFolder } from '../../../bench/target/owned-resources.ts';

test('deletes a folder when it is removed', async () => {
  const folder = await createOwnedFolder(tmpdir(), 'bench-owned-');
  assert.ok(existsSync(folder.path));
  await folder.remove();
  assert.ok(!existsSync(folder.path));
});

test('does not delete a folder after a call of keep', async () => {
  const folder = await createOwnedFolder(tmpdir(), 'bench-owned-');
  folder.keep();
  await folder.remove();
  assert.ok(existsSync(folder.path));
  rmSync(folder.path, { recursive: true });
});

test('deletes the folder and stops the server if the process is interrupted', () => {
  const modules = new URL('../../../bench/target/', import.meta.url).href;
  const program = `
    const { makeOwnedFolder } = await import('${modules}owned-resources.ts');
    const { startBaselineTarget } = await import('${modules}baseline-target.ts');
    const folder = await makeOwnedFolder('${tmpdir()}', 'bench-owned-');
    const server = await startBaselineTarget('bare', [], folder.path);
    process.stdout.write(folder.path + '\\n' + server.port, () => process.exit(7));
  `;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 30_000,
  });
  assert.equal(status, 7, stderr);
  const [path, port] = stdout.split('\n') as [string, string];
  assert.ok(path.includes('bench-owned-') && !existsSync(path));
  return assert.rejects(fetch(`http://127.0.0.1:${port}/`));
});
