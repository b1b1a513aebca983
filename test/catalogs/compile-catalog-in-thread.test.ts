import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateCatalog } from '../../bench/catalogs/generate-catalog.ts';
import { bounds } from '../../src/bounds.ts';
import { compileCatalogInThread } from '../../src/catalogs/compile-catalog-in-thread.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';

test('compiles the largest catalog and reports one that needs too much memory as invalid', async (t) => {
  const archiveFolder = mkdtempSync(join(tmpdir(), 'catalog-thread-'));
  t.after(() => rmSync(archiveFolder, { recursive: true }));
  const catalog = generateCatalog({ seed: 3, offers: bounds.catalogOffersMax, vertical: personalLoans });
  const job = {
    source: { text: JSON.stringify(catalog) },
    vertical: personalLoans,
    mode: 'live',
    currentVersion: '',
    archiveFolder,
  } as const;
  const stop = new AbortController().signal;
  assert.equal((await compileCatalogInThread(job, stop)).kind, 'compiled');
  assert.deepEqual(await compileCatalogInThread(job, stop, 32), {
    kind: 'invalid',
    errors: ['catalog: needs more than 32 MB of memory'],
  });
});
