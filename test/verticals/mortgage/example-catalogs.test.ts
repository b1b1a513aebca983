import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parseCatalog } from '../../../src/catalogs/parse-catalog.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import { type MortgageCatalog, rateTypeOf } from '../../../src/verticals/mortgage/offer-schema.ts';
import { rankMortgages } from '../../../src/verticals/mortgage/rank-mortgages.ts';
import { exampleCatalogFile } from '../../../src/verticals/registry.ts';
import { listUnseenOffers } from '../../matching/priced-rankings.ts';
import { compileMortgages, drawBorrower, today } from './mortgage-fixtures.ts';

function read(file: string): MortgageCatalog {
  const parsed = parseCatalog(readFileSync(file, 'utf8'), mortgage);
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.errors.join('\n'));
  return parsed.catalog as MortgageCatalog;
}

describe('the example catalog of mortgages', () => {
  const catalog = read(exampleCatalogFile(mortgage));
  const offers = catalog.lenders.flatMap((lender) => lender.offers);

  test('has at least 60 offers of 20 lenders with different NMLS ids, and only hosts of the reserved domain', () => {
    assert.ok(offers.length >= 60 && catalog.lenders.length >= 20);
    assert.equal(new Set(catalog.lenders.map(({ nmls_id }) => nmls_id)).size, catalog.lenders.length);
    for (const url of offers.flatMap(({ landing_url, terms_url }) => [landing_url, terms_url])) {
      assert.match(new URL(url).hostname, /\.example$/);
    }
  });

  test('has fixed and adjustable loans, and loans of every type', () => {
    const count = (kind: string) =>
      offers.filter((each) => ([each.loan_type, rateTypeOf(each)] as string[]).includes(kind)).length;
    for (const kind of ['fixed', 'adjustable', 'conventional', 'fha', 'va', 'jumbo']) {
      assert.ok(count(kind) >= 5, `${kind}: ${count(kind)}`);
    }
    assert.ok(count('usda') >= 1);
  });

  test('has offers that all can be seen by some borrower', () => {
    assert.deepEqual(listUnseenOffers(compileMortgages(catalog), rankMortgages, drawBorrower, today), []);
  });
});

test('the sandbox catalog of mortgages has clearly fictional names', () => {
  const catalog = read(exampleCatalogFile(mortgage).replace('example-catalog', 'sandbox-catalog'));
  for (const { name, offers } of catalog.lenders) {
    assert.match(name, /^Sandbox /);
    for (const { id } of offers) assert.match(id, /^sandbox-/);
  }
});
