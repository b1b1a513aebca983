import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toStartError } from '../../src/cli/commands/start-error.ts';
import { loadConfig } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/env.ts';
import { runMarketplace } from './run-marketplace.ts';

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'marketplace-start-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Valid settings of a server, except the given ones. */
function settings(folder: string, wrong: Readonly<Record<string, string>>): Record<string, string> {
  return { SVC_DATA_DIR: join(folder, 'data'), SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_MATCHER_THREADS: '0', ...wrong };
}

async function assertStartFails(settings: Record<string, string>, ...messageParts: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await runMarketplace(['serve'], settings);
  assert.deepEqual([code, stdout], [1, ''], stderr);
  assert.match(stderr, /^marketplace: [^\n]+\n$/);
  for (const part of messageParts) assert(stderr.includes(part), stderr);
}

const wrongPaths: readonly (readonly [what: string, setting: string, path: (folder: string) => string])[] = [
  ['a data folder inside a file', 'SVC_DATA_DIR', () => '/dev/null/x'],
  ['a data folder that is a file', 'SVC_DATA_DIR', (folder) => fileIn(folder)],
  ['a data folder whose lock cannot be opened', 'SVC_DATA_DIR', (folder) => folderWith(folder, 'lock')],
  ['a data folder whose key file is a folder', 'SVC_DATA_DIR', (folder) => folderWith(folder, 'keys.sqlite')],
  ['a secret file in a missing folder', 'SVC_SECRET_FILE', (folder) => join(folder, 'missing', 'secrets.json')],
  ['a secret file inside a file', 'SVC_SECRET_FILE', (folder) => join(fileIn(folder), 'secrets.json')],
  ['a missing catalog', 'SVC_CATALOG', (folder) => join(folder, 'missing.json')],
  ['a catalog that is a folder', 'SVC_CATALOG', (folder) => folder],
  ['a catalog that is not JSON', 'SVC_CATALOG', (folder) => fileIn(folder)],
];

function fileIn(folder: string): string {
  const file = join(folder, 'file');
  writeFileSync(file, 'not JSON');
  return file;
}

function folderWith(folder: string, name: string): string {
  mkdirSync(join(folder, 'other', name), { recursive: true });
  return join(folder, 'other');
}

for (const [what, setting, pathIn] of wrongPaths) {
  test(`${what} fails the start with one line that names ${setting} and the path`, async (t) => {
    const folder = folderFor(t);
    const path = pathIn(folder);
    await assertStartFails(settings(folder, { [setting]: path }), setting, path);
  });
}

for (const setting of ['SVC_PORT', 'SVC_OPS_PORT']) {
  for (const engine of ['uws', 'node']) {
    test(`a port in use fails the start of the ${engine} listener with one line that names ${setting}`, async (t) => {
      const blocker = createServer().listen(0, '127.0.0.1');
      await once(blocker, 'listening');
      t.after(() => blocker.close());
      const port = String((blocker.address() as AddressInfo).port);
      await assertStartFails(
        settings(folderFor(t), { [setting]: port, SVC_LISTENER: engine }),
        `${setting} is "${port}"`,
      );
    });
  }
}

test('an address of another machine fails the start with a line that names the setting', async (t) => {
  await assertStartFails(settings(folderFor(t), { SVC_OPS_HOST: '192.0.2.1' }), 'SVC_OPS_HOST is "192.0.2.1"');
});

// Simulated, because root, which may run the tests, has access to every file.
const values = { SVC_DATA_DIR: '/srv/data', SVC_SECRET_FILE: '/srv/secrets/ours.json' };
for (const [path, setting] of [
  ['/srv', 'SVC_DATA_DIR'],
  ['/srv/data', 'SVC_DATA_DIR'],
  ['/srv/data/ledger/0.log', 'SVC_DATA_DIR'],
  ['/srv/secrets/ours.json', 'SVC_SECRET_FILE'],
  ['/srv/secrets/ours.json.new', 'SVC_SECRET_FILE'],
] as const) {
  for (const code of ['EACCES', 'EROFS']) {
    test(`${code} at ${path} is attributed to ${setting}`, () => {
      const error = Object.assign(new Error(code), { code, path, syscall: 'open' });
      const startError = toStartError(error, loadConfig({ values, misspelled: [], unknown: [] }).config);
      assert(startError instanceof ConfigError);
      assert.equal(startError.setting, setting);
    });
  }
}

for (const [error, setting] of [
  [{ code: 'ENOSPC', path: '/srv/data/journal/0001790000000000', syscall: 'mkdir' }, 'SVC_DATA_DIR'],
  [{ code: 'ENOSPC', path: '/srv/secrets/ours.json.new', syscall: 'write' }, 'SVC_SECRET_FILE'],
  [{ code: 'SQLITE_IOERR_SHMSIZE' }, 'SVC_DATA_DIR'],
  [{ code: 'SQLITE_FULL' }, 'SVC_DATA_DIR'],
] as const) {
  test(`a full disk (${Object.values(error).join(' ')}) is reported and attributed to ${setting}`, () => {
    const startError = toStartError(
      Object.assign(new Error('disk I/O error'), error),
      loadConfig({ values, misspelled: [], unknown: [] }).config,
    );
    const folder = dirname(setting === 'SVC_DATA_DIR' ? '/srv/data/ledger' : values.SVC_SECRET_FILE);
    assert.match(String(startError), new RegExp(`no space left on the device of ${folder}; .*${setting}`));
  });
}

test('an error at any other path is returned unchanged', () => {
  const error = Object.assign(new Error('ENOENT'), { code: 'ENOENT', path: '/srv/database', syscall: 'open' });
  assert.equal(toStartError(error, loadConfig({ values, misspelled: [], unknown: [] }).config), error);
});
