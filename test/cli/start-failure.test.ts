import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { startServer } from '../../src/cli/commands/serve.ts';
import { toStartupError } from '../../src/cli/commands/start-error.ts';
import { loadConfig } from '../../src/config/config.ts';
import { readEnv } from '../../src/config/env.ts';
import { DataMissingError, FolderMissingError } from '../../src/files/data-paths.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { listen } from '../support/listen.ts';
import { createSelfSignedCertificate, writeCertificate } from '../support/self-signed.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { assertFailed, runMarketplace } from './run-marketplace.ts';

type Settings = Readonly<Record<string, string>>;

/** Valid settings of a server, except the given ones. */
function settingsOf(folder: string, wrong: Settings): Settings {
  return { SVC_DATA_DIR: join(folder, 'data'), SVC_PORT: '0', SVC_OPS_PORT: '0', SVC_MATCHER_THREADS: '0', ...wrong };
}

/** Starts a server in this process and returns the message of the error. */
async function startError(settings: Settings): Promise<string> {
  const start = async () => {
    const { config } = loadConfig(readEnv(settings));
    return startServer(config, builtInVerticals, pino({ level: 'silent' }), new AbortController().signal);
  };
  const error = await start().then(() => assert.fail('the server started'), String);
  assert.match(error, /^(CommandLineError|ConfigError|[A-Z]\w+Error): [^\n]+$/);
  return error;
}

function fileIn(folder: string): string {
  const file = join(folder, 'file');
  writeFileSync(file, 'not JSON');
  return file;
}

function folderWith(folder: string, name: string): string {
  mkdirSync(join(folder, 'other', name), { recursive: true });
  return join(folder, 'other');
}

const wrongPaths: readonly (readonly [what: string, setting: string, path: (folder: string) => string])[] = [
  ['a data folder inside a file', 'SVC_DATA_DIR', () => '/dev/null/x'],
  ['a data folder that is a file', 'SVC_DATA_DIR', fileIn],
  ['a data folder whose lock cannot be opened', 'SVC_DATA_DIR', (folder) => folderWith(folder, 'lock')],
  ['a data folder whose key file is a folder', 'SVC_DATA_DIR', (folder) => folderWith(folder, 'keys.sqlite')],
  ['a secret file in a missing folder', 'SVC_SECRET_FILE', (folder) => join(folder, 'missing', 'secrets.json')],
  ['a secret file inside a file', 'SVC_SECRET_FILE', (folder) => join(fileIn(folder), 'secrets.json')],
  ['a missing catalog', 'SVC_CATALOG', (folder) => join(folder, 'missing.json')],
  ['a catalog folder without catalogs', 'SVC_CATALOG', (folder) => folder],
  ['a catalog that is not JSON', 'SVC_CATALOG', fileIn],
];

for (const [what, setting, pathIn] of wrongPaths) {
  test(`${what} fails the start with one line that names ${setting} and the path`, async (t) => {
    const folder = temporaryFolder(t);
    const path = pathIn(folder);
    const error = await startError(settingsOf(folder, { [setting]: path }));
    assert.ok(error.includes(setting) && error.includes(path), error);
  });
}

for (const engine of ['uws', 'node']) {
  test(`the start of ${engine} fails for a port in use or an address of another machine, and names the setting`, async (t) => {
    const port = String(await listen(t, createServer()));
    for (const [setting, value] of [
      ['SVC_PORT', port],
      ['SVC_OPS_PORT', port],
      ['SVC_OPS_HOST', '192.0.2.1'],
    ] as const) {
      const error = await startError(settingsOf(temporaryFolder(t), { [setting]: value, SVC_LISTENER: engine }));
      assert.ok(error.includes(`${setting} is "${value}"`), error);
    }
  });
}

test('at the start, the error for an unusable certificate names the setting and the reason', async (t) => {
  const folder = temporaryFolder(t);
  writeCertificate(folder, createSelfSignedCertificate('one.test'));
  const [missing, certificate] = [join(folder, 'none.pem'), join(folder, 'certificate.pem')];
  for (const [files, line] of [
    [
      { SVC_TLS_CERT: missing, SVC_TLS_KEY: join(folder, 'key.pem') },
      `SVC_TLS_CERT is "${missing}"; it must be a file that can be read (it does not exist)`,
    ],
    [
      { SVC_TLS_CERT: certificate, SVC_TLS_KEY: certificate },
      `SVC_TLS_KEY is "${certificate}"; it must be a private key in PEM without a passphrase`,
    ],
  ] as const) {
    assert.equal(await startError(settingsOf(folder, files)), `ConfigError: ${line}`);
  }
});

test('serve prints one line and exits with code 1 if the start fails', async (t) => {
  const folder = temporaryFolder(t);
  const settings = settingsOf(folder, { SVC_CATALOG: fileIn(folder) });
  assertFailed(
    await runMarketplace(['serve'], settings),
    1,
    /^marketplace: [^\n]*SVC_CATALOG[^\n]* is not JSON[^\n]*\n$/,
  );
});

// These errors are simulated, because the tests may run as root, which can access every file.
const { config } = loadConfig(readEnv({ SVC_DATA_DIR: '/srv/data', SVC_SECRET_FILE: '/srv/secrets/ours.json' }));

test('the error for an inaccessible path names the setting that contains the path', () => {
  const errorAt = (path: string, code: string) =>
    toStartupError(Object.assign(new Error(code), { code, path, syscall: 'open' }), config);
  for (const [path, setting] of [
    ['/srv', 'SVC_DATA_DIR'],
    ['/srv/data', 'SVC_DATA_DIR'],
    ['/srv/data/ledger/0.log', 'SVC_DATA_DIR'],
    ['/srv/secrets/ours.json', 'SVC_SECRET_FILE'],
    ['/srv/secrets/ours.json.new', 'SVC_SECRET_FILE'],
  ] as const) {
    for (const code of ['EACCES', 'EROFS']) {
      assert.match(String(errorAt(path, code)), new RegExp(`^ConfigError: ${setting} is `), path);
    }
  }
  assert.match(String(errorAt('/srv/database', 'ENOENT')), /^Error: ENOENT$/);
});

test('the error for missing data states how to continue', () => {
  const ledger = '/srv/data/ledger';
  for (const error of [new FolderMissingError(ledger, 'restore a backup'), new DataMissingError(ledger, 'is empty')]) {
    assert.equal(toStartupError(error, config), error);
  }
});

test('the error for a full disk names the folder and the setting', () => {
  for (const [error, folder, setting] of [
    [{ code: 'ENOSPC', path: '/srv/data/journal/0001790000000000', syscall: 'mkdir' }, '/srv/data', 'SVC_DATA_DIR'],
    [{ code: 'ENOSPC', path: '/srv/secrets/ours.json.new', syscall: 'write' }, '/srv/secrets', 'SVC_SECRET_FILE'],
    [{ code: 'SQLITE_IOERR_SHMSIZE' }, '/srv/data', 'SVC_DATA_DIR'],
    [{ code: 'SQLITE_FULL' }, '/srv/data', 'SVC_DATA_DIR'],
  ] as const) {
    const message = String(toStartupError(Object.assign(new Error('disk I/O error'), error), config));
    assert.match(message, new RegExp(`no space left on the device of ${folder}; .*${setting}`));
  }
});
