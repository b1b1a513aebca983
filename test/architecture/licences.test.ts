import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
}

/**
 * Licences under which a package may be part of an installation: they ask for their text and a notice to be kept, which lie in each
 * package's own folder, and for nothing about our code.
 */
const allowed = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT']);

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');
const packages: Readonly<Record<string, LockedPackage>> = JSON.parse(read('package-lock.json')).packages;
const installed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);

test('every dependency has a permissive licence', () => {
  const others = installed
    .filter(([, { license }]) => license === undefined || !allowed.has(license))
    .map(([path, { license = 'no licence' }]) => `${path}: ${license}`);
  assert.deepEqual(others, []);
  assert.ok(installed.length >= 12, `${installed.length} packages`);
});

test('the project names its licence and contains its text', () => {
  assert.equal(JSON.parse(read('package.json')).license, 'Apache-2.0');
  assert.match(read('LICENSE'), /^\s+Apache License\n\s+Version 2\.0, January 2004\n/);
});
