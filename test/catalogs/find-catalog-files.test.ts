import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { findCatalogFiles } from '../../src/catalogs/find-catalog-files.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';

function createFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalogs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

function writeCatalog(folder: string, name: string, vertical: string): string {
  const file = join(folder, name);
  writeFileSync(file, JSON.stringify({ vertical }));
  return file;
}

test('finds the vertical of a single catalog file', (t) => {
  const file = writeCatalog(createFolder(t), 'offers.json', 'personal-loans');
  assert.deepEqual(findCatalogFiles(file), [{ vertical: personalLoans, file }]);
});

test('finds one catalog for each vertical in a folder, and ignores other files', (t) => {
  const folder = createFolder(t);
  const loans = writeCatalog(folder, 'loans.json', 'personal-loans');
  const banking = writeCatalog(folder, 'banking.json', 'banking');
  writeFileSync(join(folder, 'README.md'), 'not a catalog');
  assert.deepEqual(
    findCatalogFiles(folder).map(({ vertical, file }) => [vertical.segment, file]),
    [
      ['banking', banking],
      ['personal-loans', loans],
    ],
  );
});

test('rejects a folder without catalogs, and a folder with two catalogs of one vertical', (t) => {
  const folder = createFolder(t);
  assert.throws(() => findCatalogFiles(folder), /contains no catalog/);
  const one = writeCatalog(folder, 'one.json', 'personal-loans');
  const two = writeCatalog(folder, 'two.json', 'personal-loans');
  assert.throws(() => findCatalogFiles(folder), new RegExp(`${one} and ${two} are both catalogs of personal-loans`));
});
