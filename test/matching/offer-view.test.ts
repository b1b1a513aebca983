import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { OfferList } from '../../src/catalogs/offer-view.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { calculateLoanPrices } from '../../src/verticals/personal-loans/offer-view.ts';
import { rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, catalogOf, compileLoans, goodBorrower, plainOffer, quote, today } from './loan-fixtures.ts';

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

/** The members of an offer (docs/contract.md#offers), taken from the catalog file. */
function expectedView(file: LoanCatalog, index: number, borrower: readonly number[], position: number) {
  const catalog = compileLoans(file);
  const { id } = catalog.offers[index]!;
  const lender = file.lenders.find(({ offers }) => offers.some((offer) => offer.id === id))!;
  const offer = lender.offers.find((candidate) => candidate.id === id)!;
  return {
    svc_offer_id: id,
    lender_name: lender.name,
    logo_url: `https://cdn.example/logos/${lender.logo}`,
    ...quote(catalog, index, borrower)!,
    svc_star_rating: offer.stars,
    features: offer.features,
    prequalification: offer.prequalification,
    click_url: `https://go.example/c?sub=${subId}&offer=${id}&v=${clickToken}`,
    position,
  };
}

test('renderOffersJson returns the same text as JSON.stringify for the offers of random catalogs', () => {
  let rendered = 0;
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 3 }), (catalogSeed, borrowerSeed, order) => {
      const file = generateCatalog(catalogSeed, 60);
      const borrower = randomBorrower(seededRandom(borrowerSeed));
      const { orders } = rankLoans(compileLoans(file).tables, borrower, today);
      const orderLength = orders.length / 4;
      const indexes = [...orders.subarray(order * orderLength, order * orderLength + Math.min(orderLength, 20))];
      rendered += indexes.length;
      const list = offerList(file, indexes, borrower);
      const renderer = list.catalog.offerRenderer(urls.logos);
      const views = renderer.createOfferViews(list, urls);
      assert.equal(renderer.renderOffersJson(list, urls), JSON.stringify(views));
      assert.deepEqual(
        views,
        indexes.map((index, place) => expectedView(file, index, borrower, place + 1)),
      );
    }),
  );
  assert.ok(rendered > 100, `only ${rendered} offers were rendered`);
});

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
