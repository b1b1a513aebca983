import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

const packages: Readonly<Record<string, LockedPackage>> = JSON.parse(read('package-lock.json')).packages;

test('the lock file contains the optional packages of every platform', () => {
  const missing = Object.entries(packages)
    .flatMap(([path, { optionalDependencies = {} }]) =>
      Object.entries(optionalDependencies).map(([name, wanted]) => [path, name, wanted] as const),
    )
    .filter(([path, name, wanted]) => {
      const { version } = packages[`${path}/node_modules/${name}`] ?? packages[`node_modules/${name}`] ?? {};
      return version === undefined || (/^\d/.test(wanted) && version !== wanted);
    })
    .map(([, name]) => name);
  assert.deepEqual(missing, []);
});

/**
 * Binaries of the HTTP engine without a hash: the registry used for development does not serve them
 * (docs/contributing/decisions/packaging.md#lock-file). The platform that runs the tests is not in this list.
 */
const binariesWithoutHash = [
  ...['darwin-arm64', 'darwin-x64', 'linux-arm64', 'win32-x64'].flatMap((platform) => [
    ...[18, 20, 22, 23, 24, 26].map((node) => `node_modules/@uwsjs/${platform}-${node}`),
    `node_modules/uWebSockets.js-glibc-2.38/node_modules/@uwsjs/${platform}-22`,
  ]),
  ...[18, 20, 22, 23].map((node) => `node_modules/@uwsjs/linux-arm-${node}`),
];

test('every package has a hash, except the documented binaries of the HTTP engine for other platforms', () => {
  const unchecked = Object.entries(packages)
    .filter(([path, { integrity = '' }]) => path !== '' && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    .map(([path]) => path);
  assert.deepEqual(unchecked.sort(), binariesWithoutHash.sort());
  for (const path of unchecked) assert.equal(packages[path]!.optional, true, path);
});

test('no package names a registry or comes from elsewhere', () => {
  const located = Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined);
  assert.deepEqual(
    located.map(([path]) => path),
    [],
  );
});

test('every package is pinned to one version', () => {
  const { dependencies, devDependencies } = JSON.parse(read('package.json'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    assert.match(version as string, /^(npm:@uwsjs\/core@)?\d+\.\d+\.\d+$/, name);
  }
});

/**
 * Licences that an installed package may have. These licences require only that their text and a copyright notice are included, as
 * in the folder of each package, and have no conditions for the code of this project.
 */
const allowed = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']);

test('every dependency has a permissive licence', () => {
  const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const others = installed
    .filter(([, { license }]) => license === undefined || !allowed.has(license))
    .map(([path, { license = 'no licence' }]) => `${path}: ${license}`);
  assert.deepEqual(others, []);
  assert.ok(installed.length >= 12, `${installed.length} packages`);
});

test('package.json names the licence, and LICENSE contains its text', () => {
  assert.equal(JSON.parse(read('package.json')).license, 'Apache-2.0');
  assert.match(read('LICENSE'), /^\s+Apache License\n\s+Version 2\.0, January 2004\n/);
});
