import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CatalogFile, exampleLandingUrl } from '../../src/catalogs/catalog-schema.ts';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { listUnseenOffers } from '../matching/priced-rankings.ts';
import { listOffers, readBuiltInCatalog } from './built-in-catalogs.ts';
import { createDraw } from './draw-borrowers.ts';
import { today } from './mortgage/mortgage-fixtures.ts';

for (const vertical of builtInVerticals.verticals) {
  const product = builtInVerticals.getProduct(vertical);
  const catalog = readBuiltInCatalog<CatalogFile>(vertical, 'example');
  const offers = listOffers(catalog);

  test(`the offers of the example catalog of ${vertical.segment} use only hosts of the reserved domain`, () => {
    for (const { landing_url, terms_url } of offers) {
      assert.equal(landing_url, exampleLandingUrl);
      if (terms_url !== undefined) assert.match(new URL(terms_url).hostname, /\.example$/);
    }
  });

  test(`the offers of the example catalog of ${vertical.segment} have their own disclosures, of one quarter`, () => {
    const disclosures = offers.flatMap(({ legal }) => legal ?? []);
    assert.equal(new Set(disclosures).size, disclosures.length);
    for (const { id, as_of } of offers) if (as_of !== undefined) assert.match(as_of, /^2026-1[012]-\d\d$/, id);
  });

  test(`every offer of the example catalog of ${vertical.segment} is available to some borrower`, () => {
    assert.deepEqual(product.computeStatistics(catalog, vertical).never_shown, []);
    const compiled = compileCatalog(catalog, builtInVerticals.withProduct(vertical), { mode: 'live' });
    assert.deepEqual(listUnseenOffers(compiled, product, createDraw(vertical, 0), today), []);
  });

  test(`the sandbox catalog of ${vertical.segment} has clearly fictional names`, () => {
    const { lenders } = readBuiltInCatalog<CatalogFile>(vertical, 'sandbox');
    for (const { name, offers: ofLender } of lenders) {
      assert.match(name, /^Sandbox /);
      for (const { id } of ofLender) assert.match(id, /^sandbox-/);
    }
  });
}
