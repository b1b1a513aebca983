import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defaultHeapMegabytes } from '../../bin/heap-megabytes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runMarketplace } from './run-marketplace.ts';

const root = new URL('../../', import.meta.url);

test('MARKETPLACE_HEAP_MB sets the heap size of the server, and check-config prints the heap size and its source', async () => {
  const settingsWith = async (settings: Readonly<Record<string, string>>) => {
    const { stdout } = await runMarketplace(['check-config', '--json'], settings, { ownProcess: true });
    return JSON.parse(stdout).settings;
  };
  const few = await settingsWith({ MARKETPLACE_HEAP_MB: '400' });
  const many = await settingsWith({ MARKETPLACE_HEAP_MB: '800' });
  assert.ok(many.SVC_MAX_SESSIONS.value > few.SVC_MAX_SESSIONS.value * 1.5);
  assert.deepEqual(few.MARKETPLACE_HEAP_MB, { value: 400, from: 'environment' });
  const byDefault = await settingsWith({});
  assert.deepEqual(byDefault.MARKETPLACE_HEAP_MB, { value: defaultHeapMegabytes(), from: 'default' });
  const { value } = (await settingsWith({ NODE_OPTIONS: '--max-old-space-size=300' })).MARKETPLACE_HEAP_MB;
  assert.ok(value >= 300 && value < 400, `${value} MB`);
});

test('serve reports an invalid heap size in one line', async () => {
  for (const wrong of ['63', '1.5', '1 GB', '99999999']) {
    const ran = await runMarketplace(['serve'], { MARKETPLACE_HEAP_MB: wrong });
    const stderr = `marketplace: MARKETPLACE_HEAP_MB is "${wrong}"; it must be an integer number of megabytes, at least 64\n`;
    assert.deepEqual(ran, { code: 1, stdout: '', stderr });
  }
});

test('commands other than serve and check-config ignore MARKETPLACE_HEAP_MB', async () => {
  const { code } = await runMarketplace(['--version'], { MARKETPLACE_HEAP_MB: 'half' }, { ownProcess: true });
  assert.equal(code, 0);
});

test('if the Node.js version is too old, the launcher fails and names the required version', async () => {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const [major = 0, minor = 0] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node)!.slice(1).map(Number);
  const runOn = (version: string) => {
    const preload = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
    const launcher = fileURLToPath(new URL('bin/launch.ts', root));
    return runMarketplace(['--import', preload, launcher, '--version'], {}, { command: process.execPath });
  };
  for (const older of [`${major}.${minor - 1}.9`, `${major - 1}.99.0`, '16.20.2']) {
    const stderr = `marketplace: Node.js ${major}.${minor} or newer is required; this is Node.js ${older}\n`;
    assert.deepEqual(await runOn(older), { code: 1, stdout: '', stderr });
  }
  assert.match((await runOn(`${major}.${minor}.0`)).stdout, /^\d/);
});

const scripts = fileURLToPath(new URL('../../bin', import.meta.url));

/** Writes a shell script that prints a line and exits with a code. */
function writeCommand(folder: string, name: string, output: string, code = 0): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\necho ${output}\nexit ${code}\n`, { mode: 0o755 });
}

test('bin/install-test-tools installs nothing without root, and fails only if Chromium is missing', async (t) => {
  const folder = temporaryFolder(t);
  writeCommand(folder, 'id', '1000');
  writeCommand(folder, 'jq', '');
  const runWith = (chromium: string) => {
    const settings = { PATH: folder, CHROMIUM_PATH: chromium };
    return runMarketplace([join(scripts, 'install-test-tools')], settings, { command: '/bin/sh', folder });
  };
  assert.deepEqual(await runWith(join(folder, 'jq')), { code: 0, stdout: '', stderr: '' });
  const without = await runWith(join(folder, 'missing'));
  assert.equal(without.code, 1);
  assert.match(without.stderr, /^install-test-tools: missing: chromium; run 'apt-get install .* chromium' as root/);
  rmSync(join(folder, 'jq'));
  const withoutJq = await runWith(join(folder, 'id'));
  assert.equal(withoutJq.code, 0);
  assert.match(withoutJq.stderr, /^install-test-tools: missing: jq;/);
});

test('bin/marketplace runs through a symbolic link to a symbolic link in another folder', async (t) => {
  const folder = temporaryFolder(t);
  symlinkSync(join(scripts, 'marketplace'), join(folder, 'first'));
  symlinkSync('first', join(folder, 'second'));
  const { code, stdout, stderr } = await runMarketplace(['--version'], {}, { command: './second', folder });
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /^\d+\.\d+\.\d+\n$/);
});

test('bin/with-node, run through a link, uses the Node.js of the project if the installed version is too old', async (t) => {
  const folder = temporaryFolder(t);
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
