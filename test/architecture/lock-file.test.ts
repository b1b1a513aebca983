import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

const packages: Readonly<Record<string, LockedPackage>> = read('package-lock.json').packages;

test('the lock file contains the packages of every platform', () => {
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

test('every package has a hash, except for the binaries of platforms that docs/contributing/decisions/packaging.md names', () => {
  const binaries = /^(.+\/)?node_modules\/@(uwsjs|biomejs)\/[a-z0-9-]+$/;
  const unchecked = Object.entries(packages)
    .filter(([path, { integrity = '' }]) => path !== '' && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    .filter(([path, { optional, os, cpu }]) => {
      const tested = os?.includes('linux') && cpu?.includes('x64') && !path.endsWith('-musl');
      return !binaries.test(path) || optional !== true || os === undefined || cpu === undefined || tested;
    })
    .map(([path]) => path);
  assert.deepEqual(unchecked, []);
});

test('every package is pinned to one version', () => {
  const { dependencies, devDependencies } = read('package.json');
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    assert.match(version as string, /^(npm:@uwsjs\/core@)?\d+\.\d+\.\d+$/, name);
  }
});
