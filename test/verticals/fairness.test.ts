import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateBankingCatalog } from '../../bench/catalogs/generate-banking-catalog.ts';
import { generateFindAdvisorCatalog } from '../../bench/catalogs/generate-find-advisor-catalog.ts';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { VerticalProduct } from '../../src/catalogs/product.ts';
import { type FieldVector, findFieldIndex } from '../../src/domain/field-vector.ts';
import { type SortOrder, sortOrderNames, type Vertical } from '../../src/domain/vertical.ts';
import { listClickRevenueMicros, type MatchTables } from '../../src/matching/match-tables.ts';
import { createPricingRanker, type OfferPricer } from '../../src/matching/pricing-ranker.ts';
import { banking } from '../../src/verticals/banking/banking.ts';
import { depositPricer } from '../../src/verticals/banking/rank-deposits.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { TemplatePricedOffer } from '../../src/verticals/common/template-offer-renderer.ts';
import { creditCards } from '../../src/verticals/credit-cards/credit-cards.ts';
import { cardPricer } from '../../src/verticals/credit-cards/rank-cards.ts';
import { findAdvisor } from '../../src/verticals/find-advisor/find-advisor.ts';
import { advisorPricer } from '../../src/verticals/find-advisor/rank-advisors.ts';
import { mortgage } from '../../src/verticals/mortgage/mortgage.ts';
import { mortgagePricer } from '../../src/verticals/mortgage/rank-mortgages.ts';
import { idsOf } from '../matching/priced-rankings.ts';
import { type Random, randomFieldValue, seededRandom } from '../support/random-catalog.ts';
import { drawDepositor } from './banking/deposit-fixtures.ts';
import { generateCards, randomCardBorrower } from './credit-cards/card-fixtures.ts';
import { drawVisitor } from './find-advisor/advisor-fixtures.ts';
import { drawBorrower, generateMortgages, today } from './mortgage/mortgage-fixtures.ts';

/** Functions of a product that decide what borrowers see. The checks must fail for an unfair market. */
type Market = Pick<VerticalProduct, 'rankOffers' | 'priceOffers'>;

interface FairnessOptions<Tables extends MatchTables, Applicant, File extends CatalogFile> {
  readonly vertical: Vertical;
  readonly pricer: OfferPricer<Tables, Applicant>;
  /** Catalogs in which at most 20 offers match, so that every matching offer is in every order. */
  readonly files: readonly File[];
  readonly drawBorrower: (random: Random) => FieldVector;
  /** Fields that must not influence offers, and the number of offers that are compared at least for each field. */
  readonly traits: readonly string[];
  readonly comparedMin: number;
  /** Size of the injected weight in the unit of the product's score. */
  readonly weight: number;
  /** Changes what the lender of an offer pays. `number` is the number of the offer in the catalog. */
  readonly changePayout: (offer: File['lenders'][number]['offers'][number], number: number) => void;
}

/**
 * Defines the tests that neither a trait nor a payout changes a price or a rank (docs/contract.md#fairness), except the rank in
 * `svc_revenue` of verticals with this order. `test/matching/fairness.test.ts` has the tests of personal loans.
 */
function testFairness<Tables extends MatchTables, Applicant, File extends CatalogFile>({
  vertical,
  pricer,
  files,
  drawBorrower: draw,
  traits,
  comparedMin,
  weight,
  changePayout,
}: FairnessOptions<Tables, Applicant, File>): void {
  const fairMarket = builtInVerticals.getProduct(vertical);
  const compile = (file: File) => compileCatalog(file, builtInVerticals.withProduct(vertical), { mode: 'live' });
  const catalogs = files.map(compile);

  /** Returns the offers of a borrower in every order, and the figures of the offers, by offer id. */
  function show(market: Market, catalog: CompiledCatalog, borrower: FieldVector) {
    const { orders, total } = market.rankOffers(catalog.tables, borrower, today, null);
    const places = orders.length / sortOrderNames.length;
    assert.equal(places, total, 'every matching offer must be in every order');
    const inOrder = (at: number) => idsOf(catalog, orders.subarray(at * places, (at + 1) * places));
    const priced = market.priceOffers(catalog, orders.subarray(0, places), borrower) as readonly TemplatePricedOffer[];
    return {
      orders: Object.fromEntries(sortOrderNames.map((sort, at) => [sort, inOrder(at)])) as Record<SortOrder, string[]>,
      prices: new Map(priced.map(({ index, slot, values }) => [catalog.offers[index]!.id, [slot, values]])),
    };
  }

  /**
   * Asserts that an offer which both borrowers of a pair get has the same price and the same place among such offers. The borrowers of a
   * pair differ only in the trait. Returns the number of compared offers.
   */
  function assertFair(market: Market, trait: string): number {
    const random = seededRandom(20_260_801);
    const position = findFieldIndex(vertical, trait);
    let compared = 0;
    for (const catalog of catalogs) {
      for (let pair = 0; pair < 15; pair++) {
        const borrower = draw(random);
        const other = borrower.with(position, randomFieldValue(random, vertical.fields[position]!));
        const [ones, others] = [show(market, catalog, borrower), show(market, catalog, other)];
        for (const [id, price] of ones.prices) {
          if (!others.prices.has(id)) continue;
          assert.deepEqual(others.prices.get(id), price, `a price depends on ${trait}`);
          compared++;
        }
        for (const sort of sortOrderNames) {
          assert.deepEqual(
            ones.orders[sort].filter((id) => others.prices.has(id)),
            others.orders[sort].filter((id) => ones.prices.has(id)),
            `the order ${sort} depends on ${trait}`,
          );
        }
      }
    }
    return compared;
  }

  /** Returns a market whose scores are lower by `penaltyOf` an offer. */
  function createMarketWithPenalty(
    penaltyOf: (tables: Tables, offer: number, borrower: FieldVector) => number,
  ): Market {
    let current: FieldVector = [];
    const rankOffers = createPricingRanker<Tables, Applicant>({
      readApplicant(tables, borrower) {
        current = [...borrower];
        return pricer.readApplicant(tables, borrower);
      },
      computeSortKeys(tables, offer, applicant, keys) {
        const isAvailable = pricer.computeSortKeys(tables, offer, applicant, keys);
        keys.recommended -= penaltyOf(tables, offer, current);
        return isAvailable;
      },
    });
    return { ...fairMarket, rankOffers: rankOffers as Market['rankOffers'] };
  }

  /**
   * Asserts that no order but `svc_revenue` differs between each catalog and its copy with other payouts, for five borrowers of each catalog.
   * Returns how often `svc_revenue` differed.
   */
  function assertOnlyRevenueOrderDiffers(market: Market): number {
    const random = seededRandom(11);
    let differed = 0;
    for (const [at, catalog] of catalogs.entries()) {
      const file = structuredClone(files[at]!);
      for (const [number, offer] of file.lenders.flatMap(({ offers }) => offers).entries()) changePayout(offer, number);
      const copy = compile(file);
      for (let i = 0; i < 5; i++) {
        const borrower = draw(random);
        const [before, after] = [show(market, catalog, borrower), show(market, copy, borrower)];
        const { svc_revenue: orderBefore, ...orders } = before.orders;
        const { svc_revenue: orderAfter, ...otherOrders } = after.orders;
        assert.deepEqual(otherOrders, orders, 'an order depends on the payout');
        assert.deepEqual(after.prices, before.prices);
        if (orderAfter.join() !== orderBefore.join()) differed++;
      }
    }
    return differed;
  }

  describe(`fairness of ${vertical.segment}`, () => {
    for (const trait of traits) {
      test(`prices and orders of offers do not depend on ${trait}`, () => {
        const compared = assertFair(fairMarket, trait);
        assert.ok(compared > comparedMin, `only ${compared} offers were compared`);
      });

      test(`the check detects a price and a score that depend on ${trait}`, () => {
        const position = findFieldIndex(vertical, trait);
        const priceOffers: Market['priceOffers'] = (catalog, indexes, borrower) =>
          (fairMarket.priceOffers(catalog, indexes, borrower) as readonly TemplatePricedOffer[]).map((priced) => ({
            ...priced,
            values: priced.values.map((value) =>
              typeof value === 'number' ? value - (borrower[position]! % 2) : value,
            ),
          }));
        assert.throws(() => assertFair({ ...fairMarket, priceOffers }, trait), /a price depends on/);
        const market = createMarketWithPenalty(
          (_tables, offer, borrower) => ((borrower[position]! * (offer + 1)) % 7) * weight,
        );
        assert.throws(() => assertFair(market, trait), /the order recommended depends on/);
      });
    }

    test('the ZIP code has no influence on the shown offers', () => {
      const random = seededRandom(7);
      const position = findFieldIndex(vertical, 'address_zip');
      for (const catalog of catalogs) {
        const borrower = draw(random);
        for (const value of [-1, 0, 94_110]) {
          const other = borrower.with(position, value);
          assert.deepEqual(show(fairMarket, catalog, other), show(fairMarket, catalog, borrower));
        }
      }
    });

    test('payouts change only the order svc_revenue, and no order of a vertical without svc_revenue', () => {
      const differed = assertOnlyRevenueOrderDiffers(fairMarket);
      assert.ok(vertical.sortOrders === undefined ? differed > 50 : differed === 0, `${differed} differ`);
    });

    test('the check detects a score that depends on the payout', () => {
      const market = createMarketWithPenalty((tables, offer) => Math.max(...listClickRevenueMicros(tables, offer)));
      assert.throws(() => assertOnlyRevenueOrderDiffers(market), /an order depends on the payout/);
    });
  });
}

const generate = <File>(count: number, createFile: (seed: number) => File) =>
  Array.from({ length: count }, (_, seed) => createFile(seed));

testFairness({
  vertical: banking,
  pricer: depositPricer,
  files: generate(40, (seed) => generateBankingCatalog({ seed, offers: 60 })),
  drawBorrower: (random) => drawDepositor(random, 0),
  traits: ['birthdate', 'address_zip'],
  comparedMin: 1_000,
  weight: 5_000_000,
  changePayout: (offer) => Object.assign(offer, { payout_usd: 20 - offer.payout_usd }),
});
testFairness({
  vertical: creditCards,
  pricer: cardPricer,
  files: generate(40, (seed) => generateCards(seed, 60)),
  drawBorrower: (random) => randomCardBorrower(random, 0),
  traits: ['birthdate', 'citizenship_status', 'address_zip', 'employment_status'],
  comparedMin: 200,
  weight: 50_000,
  changePayout: (offer, number) => Object.assign(offer, { payout_usd: (number * 370) % 1_000 }),
});
testFairness({
  vertical: findAdvisor,
  pricer: advisorPricer,
  files: generate(40, (seed) => generateFindAdvisorCatalog({ seed, offers: 40 })),
  drawBorrower: (random) => drawVisitor(random, 0),
  traits: ['birthdate', 'address_zip'],
  comparedMin: 1_000,
  weight: 5_000_000,
  changePayout: (offer) =>
    Object.assign(offer, { payout_usd: 500 - offer.payout_usd, confirm_rate: 1 - offer.confirm_rate }),
});
testFairness({
  vertical: mortgage,
  pricer: mortgagePricer,
  files: generate(150, (seed) => generateMortgages(seed, 20)),
  drawBorrower,
  traits: ['birthdate', 'address_zip'],
  comparedMin: 1_000,
  weight: 50_000,
  changePayout: (offer, number) => Object.assign(offer, { payout_usd: 10 + ((number * 37) % 90) }),
});
