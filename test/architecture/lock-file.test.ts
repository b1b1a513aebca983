import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  readonly version?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));

test('the lock file knows the packages of every platform, or a clean install is refused', () => {
  const packages: Readonly<Record<string, LockedPackage>> = read('package-lock.json').packages;
  const missing = Object.values(packages)
    .flatMap(({ optionalDependencies = {} }) => Object.entries(optionalDependencies))
    .filter(([name, wanted]) => {
      const { version } = packages[`node_modules/${name}`] ?? {};
      return version === undefined || (/^\d/.test(wanted) && version !== wanted);
    })
    .map(([name]) => name);
  assert.deepEqual(missing, []);
});

test('every package is pinned to one version', () => {
  const { dependencies, devDependencies } = read('package.json');
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    assert.match(version as string, /^(npm:@uwsjs\/core@)?\d+\.\d+\.\d+$/, name);
  }
});
