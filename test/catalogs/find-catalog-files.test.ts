import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findCatalogFiles } from '../../src/catalogs/find-catalog-files.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

function writeCatalog(folder: string, name: string, vertical: string): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ vertical }));
  return file;
}

test('finds the vertical of a single catalog file', (t) => {
  const file = writeCatalog(temporaryFolder(t), 'offers.json', 'personal-loans');
  assert.deepEqual(findCatalogFiles(file, builtInVerticals), [{ vertical: personalLoans, file }]);
});

test('finds one catalog for each vertical in a folder, and ignores other files', (t) => {
  const folder = temporaryFolder(t);
  const loans = writeCatalog(folder, 'loans.json', 'personal-loans');
  const banking = writeCatalog(folder, 'banking.json', 'banking');
  // Temporary files of vim, Emacs (a dangling link), macOS and others, and the links of a Kubernetes volume.
  for (const name of [
    'README.md',
    '.b.json',
    '.loans.json.swp',
    'loans.json~',
    '#loans.json#',
    '._loans.json',
    '4913',
  ]) {
    writeFileSync(join(folder, name), 'not a catalog');
  }
  symlinkSync('user@host.1:2', join(folder, '.#loans.json'));
  mkdirSync(join(folder, '..2026_11_27'));
  symlinkSync('..2026_11_27', join(folder, '..data'));
  assert.deepEqual(
    findCatalogFiles(folder, builtInVerticals).map(({ vertical, file }) => [vertical.segment, file]),
    [
      ['banking', banking],
      ['personal-loans', loans],
    ],
  );
});

test('rejects a folder without catalogs, and a folder with two catalogs of one vertical', (t) => {
  const folder = temporaryFolder(t);
  assert.throws(() => findCatalogFiles(folder, builtInVerticals), /contains no catalog/);
  const one = writeCatalog(folder, 'one.json', 'personal-loans');
  const two = writeCatalog(folder, 'two.json', 'personal-loans');
  assert.throws(
    () => findCatalogFiles(folder, builtInVerticals),
    new RegExp(`${one} and ${two} are both catalogs of personal-loans`),
  );
});

test('rejects a folder with a file that is no catalog, and names the file and the reason', (t) => {
  for (const [content, reason] of [
    ['', /is not JSON/],
    ['{"vertical":"personal-loans"', /is not JSON/],
    [Buffer.from([0xff]), /must be UTF-8, but line 1 is not/],
    ['{"vertical":"boat-loans"}', /must have the member vertical with one of personal-loans, /],
    ['null', /must have the member vertical/],
    ['[]', /must have the member vertical/],
  ] as const) {
    const folder = temporaryFolder(t);
    writeCatalog(folder, 'a.json', 'personal-loans');
    const file = join(folder, 'b.json');
    writeFileSync(file, content);
    assert.throws(
      () => findCatalogFiles(folder, builtInVerticals),
      ({ message }: Error) => message.startsWith(`the catalog ${file} cannot be used`) && reason.test(message),
    );
  }
});
