import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { OfferList } from '../../src/catalogs/offer-view.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { calculateLoanPrices } from '../../src/verticals/personal-loans/offer-view.ts';
import { borrowerOf, catalogOf, compileLoans, goodBorrower, plainOffer } from './loan-fixtures.ts';

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example/logos' });
const subId = 'sub_1';
const clickToken = 'token';

function offerList(
  file: LoanCatalog,
  indexes: ArrayLike<number>,
  borrower: readonly number[],
): OfferList & { readonly catalog: CompiledCatalog } {
  const catalog = compileLoans(file);
  return { catalog, offers: calculateLoanPrices(catalog, indexes, borrower), subId, clickToken };
}

test('escapes names and URLs in the JSON text', () => {
  const file = catalogOf([plainOffer()]);
  file.lenders[0]!.name = 'Quote " Backslash \\ Ünï </script>\u2028';
  const list = offerList(file, [0], borrowerOf(goodBorrower));
  const escaped = createOfferUrls({ click: 'https://go.example/"\\', cdn: 'https://cdn.example/"\\' });
  const renderer = list.catalog.offerRenderer(escaped.logos);
  assert.deepEqual(JSON.parse(renderer.renderOffersJson(list, escaped)), renderer.createOfferViews(list, escaped));
});

test('renders an empty list of offers as an empty array', () => {
  const list = offerList(catalogOf([plainOffer()]), [], borrowerOf(goodBorrower));
  assert.equal(list.catalog.offerRenderer(urls.logos).renderOffersJson(list, urls), '[]');
});

test('throws for an offer that does not match the borrower', () => {
  const file = catalogOf([plainOffer({ amount: { min: 1_000, max: 2_000 } })]);
  assert.throws(() => offerList(file, [0], borrowerOf(goodBorrower)), /not ranked/);
});
