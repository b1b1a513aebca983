import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { settingNames } from '../../src/config/env.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { runMarketplace } from './run-marketplace.ts';
import { createKey } from './sample-data-folder.ts';

test('prints every setting with its value, and whether the value is the default', async () => {
  const { code, stdout, stderr } = await runMarketplace(['check-config'], { SVC_PORT: '8181' });
  assert.deepEqual([code, stderr], [0, '']);
  const rows = stdout.trimEnd().split('\n').slice(1);
  assert.deepEqual(
    rows.map((row) => row.split(' ')[0]),
    [...settingNames],
  );
  assert(rows.some((row) => /^SVC_PORT +8181 +environment$/.test(row)));
  // The output includes defaults that depend on another setting.
  assert(rows.some((row) => /^SVC_TLS_MIN_VERSION +1\.2 +default$/.test(row)));
  assert(rows.some((row) => /^SVC_CATALOG +\(example catalogs\) +default$/.test(row)));
  assert(rows.some((row) => /^SVC_CLICK_URL +http:\/\/127\.0\.0\.1:8181 +default$/.test(row)));
});

test('prints settings and warnings as JSON', async () => {
  const variables = { SVC_MATCHER_THREADS: '0', SVC_CORS_ORIGINS: 'https://a.example', SVC_DURABILITY: 'write' };
  const { stdout, stderr } = await runMarketplace(['check-config', '--json'], variables);
  const { settings, warnings } = JSON.parse(stdout);
  assert.deepEqual(Object.keys(settings), [...settingNames]);
  assert.deepEqual(settings.SVC_MATCHER_THREADS, { value: 0, from: 'environment' });
  assert.deepEqual(settings.SVC_CORS_ORIGINS, { value: ['https://a.example'], from: 'environment' });
  assert.deepEqual(settings.SVC_RETENTION_DAYS, { value: null, from: 'default' });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /^SVC_DURABILITY /);
  assert.equal(stderr, '');
});

test('warns about unknown variables and risky settings', async () => {
  const { code, stderr } = await runMarketplace(['check-config'], { SVC_FLAVOUR: '1', SVC_HOST: '0.0.0.0' });
  assert.equal(code, 0);
  assert.match(stderr, /^marketplace: warning: SVC_FLAVOUR .*\nmarketplace: warning: .*SVC_PUBLIC_URL\.\n$/);
});

test('the keys commands ignore invalid settings that these commands do not use', async () => {
  const { code } = await runMarketplace(['keys', 'list'], { SVC_PORT: '99999', SVC_DATA_DIR: '/nonexistent/folder' });
  assert.equal(code, 0);
});

test('warns about live keys that get offers of an example catalog, and changes no file of the data folder', async (t) => {
  const settings = { SVC_DATA_DIR: temporaryFolder(t) };
  const warningsWith = async (others = {}) => {
    const files = readdirSync(settings.SVC_DATA_DIR);
    const { stdout } = await runMarketplace(['check-config', '--json'], { ...settings, ...others });
    assert.deepEqual(readdirSync(settings.SVC_DATA_DIR), files);
    return JSON.parse(stdout).warnings;
  };
  const warning = (verticals: string) => [
    `SVC_CATALOG names no catalog of yours, so live API keys for ${verticals} get made-up example offers.`,
  ];
  assert.deepEqual(await warningsWith(), []);
  await createKey(settings.SVC_DATA_DIR, 'banking', 'test');
  assert.deepEqual(await warningsWith(), []);
  const { id } = await createKey(settings.SVC_DATA_DIR, 'banking');
  await createKey(settings.SVC_DATA_DIR, 'mortgage');
  assert.deepEqual(await warningsWith(), warning('mortgage, banking'));
  const bankingFile = builtInVerticals.exampleCatalogFile(
    builtInVerticals.verticals.find(({ segment }) => segment === 'banking')!,
  );
  assert.deepEqual(await warningsWith({ SVC_CATALOG: bankingFile }), warning('banking'));
  assert.deepEqual(await warningsWith({ SVC_CATALOG: '/etc/offers.json' }), []);
  await runMarketplace(['keys', 'revoke', id], settings);
  assert.deepEqual(await warningsWith(), warning('mortgage'));
});
