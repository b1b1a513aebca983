import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { rankOffers } from '../../src/matching/ranker.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { renderOffersJson } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { borrowerOf, goodBorrower, today } from './borrower-of.ts';
import { catalogOf, plainOffer } from './one-offer-catalog.ts';
import { quote } from './quote.ts';

const head = 'https://go.example/c?sub=';
const [subId, v] = ['sub_1', 'sealed'];

function compile(catalog: LoanCatalog) {
  return compileCatalog(catalog, personalLoans, { mode: 'live', cdnUrl: () => 'https://cdn.example/logos' });
}

/** The members of an offer (docs/contract.md#offers), put together the slow way. */
function plainObjects(
  catalog: LoanCatalog,
  indices: readonly number[],
  borrower: number[],
  clickHead = head,
): object[] {
  const compiled = compile(catalog);
  return indices.map((index, at) => {
    const { id } = compiled.offers[index]!;
    const lender = catalog.lenders.find(({ offers }) => offers.some((offer) => offer.id === id))!;
    const offer = lender.offers.find((candidate) => candidate.id === id)!;
    const { apr_range, payment_term_months, monthly_payment_estimate, loan_amount_range, term_months } = quote(
      compiled,
      index,
      borrower,
    )!;
    return {
      svc_offer_id: id,
      lender_name: lender.name,
      logo_url: `https://cdn.example/logos/${lender.logo}`,
      apr_range,
      payment_term_months,
      monthly_payment_estimate,
      loan_amount_range,
      svc_star_rating: offer.stars,
      features: offer.features,
      prequalification: offer.prequalification,
      click_url: `${clickHead}${subId}&offer=${id}&v=${v}`,
      term_months,
      position: at + 1,
    };
  });
}

test('renders the text of JSON.stringify', () => {
  let rendered = 0;
  fc.assert(
    fc.property(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 3 }), (catalogSeed, borrowerSeed, order) => {
      const catalog = generateCatalog(catalogSeed, 60);
      const compiled = compile(catalog);
      const borrower = randomBorrower(seededRandom(borrowerSeed));
      const { orders } = rankOffers(compiled.tables, borrower, today);
      const places = orders.length / 4;
      const shown = orders.subarray(order * places, order * places + Math.min(places, 20));
      rendered += shown.length;
      assert.equal(
        renderOffersJson(compiled, shown, shown.length, borrower, head, subId, v),
        JSON.stringify(plainObjects(catalog, [...shown], borrower)),
      );
    }),
  );
  assert.ok(rendered > 100, `only ${rendered} offers were rendered`);
});

test('names and addresses that need escaping are escaped', () => {
  const catalog = catalogOf([plainOffer()]);
  catalog.lenders[0]!.name = 'Quote " Backslash \\ Ünï </script>\u2028';
  const borrower = borrowerOf(goodBorrower);
  const clickHead = 'https://go.example/"\\?sub=';
  const escaped = JSON.stringify(clickHead).slice(1, -1);
  const text = renderOffersJson(compile(catalog), Uint16Array.of(0), 1, borrower, escaped, subId, v);
  assert.deepEqual(JSON.parse(text), plainObjects(catalog, [0], borrower, clickHead));
});

test('only the offers asked for are shown, counted from one', () => {
  const catalog = catalogOf(['a', 'b', 'c'].map((id) => plainOffer({ id })));
  const text = renderOffersJson(compile(catalog), Uint16Array.of(1, 0, 2), 2, borrowerOf(goodBorrower), head, subId, v);
  const offers = JSON.parse(text) as { svc_offer_id: string; position: number }[];
  assert.deepEqual(
    offers.map(({ svc_offer_id, position }) => [svc_offer_id, position]),
    [
      ['b', 1],
      ['a', 2],
    ],
  );
});

test('no offers are an empty array', () => {
  assert.equal(
    renderOffersJson(
      compile(catalogOf([plainOffer()])),
      new Uint16Array(0),
      0,
      borrowerOf(goodBorrower),
      head,
      subId,
      v,
    ),
    '[]',
  );
});

test('showing an offer the borrower cannot have is a bug', () => {
  const catalog = compile(catalogOf([plainOffer({ amount: { min: 1_000, max: 2_000 } })]));
  assert.throws(
    () => renderOffersJson(catalog, Uint16Array.of(0), 1, borrowerOf(goodBorrower), head, subId, v),
    /not ranked/,
  );
});
