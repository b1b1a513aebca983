import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { defaultHeapMegabytes } from '../../bin/heap-megabytes.ts';
import { runMarketplace } from './run-marketplace.ts';

const root = new URL('../../', import.meta.url);

test('MARKETPLACE_HEAP_MB sets the heap of the server', async () => {
  const sessionsWith = async (megabytes: string): Promise<number> => {
    const { stdout } = await runMarketplace(['check-config', '--json'], { MARKETPLACE_HEAP_MB: megabytes });
    return JSON.parse(stdout).settings.SVC_MAX_SESSIONS.value;
  };
  const [few, many] = [await sessionsWith('400'), await sessionsWith('800')];
  assert.ok(many > few * 1.5, `${few} and ${many} sessions`);
});

test('check-config prints the heap size of any origin', async () => {
  const heapWith = async (settings: Readonly<Record<string, string>>) => {
    const { stdout } = await runMarketplace(['check-config', '--json'], settings);
    return JSON.parse(stdout).settings.MARKETPLACE_HEAP_MB;
  };
  assert.deepEqual(await heapWith({ MARKETPLACE_HEAP_MB: '400' }), { value: 400, from: 'environment' });
  assert.deepEqual(await heapWith({}), { value: defaultHeapMegabytes(), from: 'default' });
  const { value } = await heapWith({ NODE_OPTIONS: '--max-old-space-size=300' });
  assert.ok(value >= 300 && value < 400, `${value} MB`);
});

for (const wrong of ['0', '63', '-1', '1.5', 'half', '1 GB', '99999999']) {
  test(`refuses a heap of ${wrong} in one line`, async () => {
    const ran = await runMarketplace(['serve'], { MARKETPLACE_HEAP_MB: wrong });
    const stderr = `marketplace: MARKETPLACE_HEAP_MB is "${wrong}"; it must be an integer number of megabytes, at least 64\n`;
    assert.deepEqual(ran, { code: 1, stdout: '', stderr });
  });
}

test('other commands ignore MARKETPLACE_HEAP_MB', async () => {
  const { code } = await runMarketplace(['--version'], { MARKETPLACE_HEAP_MB: 'half' }, { ownProcess: true });
  assert.equal(code, 0);
});

test('refuses an older Node.js and names the required version', async () => {
  const { engines } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const [major = 0, minor = 0] = /^>=(\d+)\.(\d+)\.0$/.exec(engines.node)!.slice(1).map(Number);
  const runOn = (version: string) => {
    const preload = `data:text/javascript,Object.defineProperty(process, 'versions', { value: { node: '${version}' } })`;
    const launcher = fileURLToPath(new URL('bin/launch.ts', root));
    return runMarketplace(['--import', preload, launcher, '--version'], {}, { command: process.execPath });
  };
  for (const older of [`${major}.${minor - 1}.9`, `${major - 1}.99.0`, '16.20.2']) {
    const stderr = `marketplace: this is Node.js ${older}; it needs ${major}.${minor} or newer\n`;
    assert.deepEqual(await runOn(older), { code: 1, stdout: '', stderr });
  }
  assert.match((await runOn(`${major}.${minor}.0`)).stdout, /^\d/);
});
