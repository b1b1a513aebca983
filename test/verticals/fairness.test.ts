import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, test } from 'node:test';
import { generateBankingCatalog } from '../../bench/catalogs/generate-banking-catalog.ts';
import { generateFindAdvisorCatalog } from '../../bench/catalogs/generate-find-advisor-catalog.ts';
import { bounds } from '../../src/bounds.ts';
import type { CatalogFile } from '../../src/catalogs/catalog-schema.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import type { VerticalProduct } from '../../src/catalogs/product.ts';
import { type FieldVector, findFieldIndex } from '../../src/domain/field-vector.ts';
import { type SortOrder, sortOrderNames, type Vertical } from '../../src/domain/vertical.ts';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import { listClickRevenueMicros, type MatchTables } from '../../src/matching/match-tables.ts';
import { addOffer, emptyOfferSet } from '../../src/matching/offer-set.ts';
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
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { loanPricer, rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { compileLoans, scoresOf } from '../matching/loan-fixtures.ts';
import { idsOf } from '../matching/priced-rankings.ts';
import {
  generateCatalog,
  type Random,
  randomBorrower,
  randomFieldValue,
  seededRandom,
} from '../support/random-catalog.ts';
import { drawDepositor } from './banking/deposit-fixtures.ts';
import { generateCards, randomCardBorrower } from './credit-cards/card-fixtures.ts';
import { drawVisitor } from './find-advisor/advisor-fixtures.ts';
import { drawBorrower, generateMortgages, today } from './mortgage/mortgage-fixtures.ts';

/** Functions of a product that decide what borrowers see. The checks must fail for an unfair market. */
type Market = Pick<VerticalProduct, 'rankOffers' | 'priceOffers'>;

interface FairnessOptions<Tables extends MatchTables, Applicant, File extends CatalogFile> {
  readonly vertical: Vertical;
  readonly pricer: OfferPricer<Tables, Applicant>;
  readonly files: readonly File[];
  readonly drawBorrower: (random: Random) => FieldVector;
  /** Fields that must not influence offers, and the number of offers that are compared at least for each field. */
  readonly traits: readonly string[];
  readonly comparedMin: number;
  /** Fields that must not influence whether an offer is shown either. Default: the ZIP code. */
  readonly ignored?: readonly string[];
  /** Size of the injected weight in the unit of the product's score. */
  readonly weight: number;
  /** Changes what the lender of an offer pays. `number` is the number of the offer in the catalog. */
  readonly changePayout: (offer: File['lenders'][number]['offers'][number], number: number) => void;
}

/**
 * Defines the tests that neither a trait nor a payout changes a price or a rank (docs/contract.md#fairness), except the rank in
 * `svc_revenue` of verticals with this order.
 */
function testFairness<Tables extends MatchTables, Applicant, File extends CatalogFile>({
  vertical,
  pricer,
  files,
  drawBorrower: draw,
  traits,
  comparedMin,
  ignored = ['address_zip'],
  weight,
  changePayout,
}: FairnessOptions<Tables, Applicant, File>): void {
  const fairMarket = builtInVerticals.getProduct(vertical);
  const compile = (file: File) => compileCatalog(file, builtInVerticals.withProduct(vertical), { mode: 'live' });
  const catalogs = files.map(compile);

  /**
   * Returns all matching offers in one sort order. A ranking contains at most 20 offers, so the function makes ranked offers unavailable
   * and ranks the remaining offers, until all offers are ranked.
   */
  function completeOrder(market: Market, { tables, offers }: CompiledCatalog, borrower: FieldVector, at: number) {
    const unavailable = emptyOfferSet(offers.length);
    const order: number[] = [];
    for (;;) {
      const { total, orders } = market.rankOffers(tables, borrower, today, unavailable);
      const places = orders.length / sortOrderNames.length;
      for (const offer of orders.subarray(at * places, (at + 1) * places)) {
        order.push(offer);
        addOffer(unavailable, offer);
      }
      if (order.length === total) return order;
    }
  }

  /** Returns the offers of a borrower in every order, and the figures of the offers, by offer id. */
  function show(market: Market, catalog: CompiledCatalog, borrower: FieldVector) {
    const orders = sortOrderNames.map((_sort, at) => completeOrder(market, catalog, borrower, at));
    const priced = market.priceOffers(catalog, orders[0]!, borrower) as readonly TemplatePricedOffer[];
    const named = sortOrderNames.map((sort, at) => [sort, idsOf(catalog, orders[at]!)]);
    return {
      orders: Object.fromEntries(named) as Record<SortOrder, string[]>,
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

  /** Returns a market whose scores depend on a field, with a weight that differs from offer to offer. */
  function createMarketWithWeight(trait: string): Market {
    const position = findFieldIndex(vertical, trait);
    return createMarketWithPenalty((_tables, offer, borrower) => ((borrower[position]! * (offer + 1)) % 7) * weight);
  }

  /** Asserts that a field changes neither the offers of a borrower nor their prices nor their explanation. */
  async function assertIgnored(market: Market, trait: string): Promise<void> {
    const random = seededRandom(7);
    const position = findFieldIndex(vertical, trait);
    for (const catalog of catalogs) {
      const explain = (borrower: FieldVector) =>
        explainOffers(catalog.product, catalog.tables, vertical, borrower, today, null);
      const borrower = draw(random);
      for (const value of [-1, 0, randomFieldValue(random, vertical.fields[position]!)]) {
        const other = borrower.with(position, value);
        assert.deepEqual(show(market, catalog, other), show(market, catalog, borrower), `${trait} makes a difference`);
        assert.deepEqual(await explain(other), await explain(borrower), `${trait} makes a difference`);
      }
    }
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
        assert.throws(() => assertFair(createMarketWithWeight(trait), trait), /the order recommended depends on/);
      });
    }

    for (const trait of ignored) {
      test(`${trait} has no influence on the shown offers and on explanations`, async () => {
        await assertIgnored(fairMarket, trait);
        await assert.rejects(assertIgnored(createMarketWithWeight(trait), trait), /makes a difference/);
      });
    }

    test('payouts change only the order svc_revenue, and no order of a vertical without svc_revenue', () => {
      const differed = assertOnlyRevenueOrderDiffers(fairMarket);
      assert.ok(vertical.sortOrders === undefined ? differed > files.length : differed === 0, `${differed} differ`);
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

/** Returns a catalog in which most offers match, so that most rankings contain only a part of them. */
function generateLargeLoanCatalog(seed: number): LoanCatalog {
  const file = generateCatalog(seed, 160);
  const random = seededRandom(seed);
  for (const offer of file.lenders.flatMap(({ offers }) => offers)) {
    offer.criteria = offer.criteria.filter(() => random() < 0.2);
    offer.amount = { min: 500, max: 100_000 };
    for (const band of Object.values(offer.bands)) band.max_amount = 100_000;
    if (random() < 0.7) delete offer.max_debt_to_income_percent;
  }
  return file;
}

// `make match-test` draws four times as many catalogs.
const scale = process.env.MATCH_BORROWERS === undefined ? 1 : 4;
const largeFiles = generate(2 * scale, generateLargeLoanCatalog);
const loanFiles = [...generate(10 * scale, (seed) => generateCatalog(seed, 19)), ...largeFiles];
const drawLoanBorrower = (random: Random) => randomBorrower(random, personalLoans, 0);
testFairness({
  vertical: personalLoans,
  pricer: loanPricer,
  files: loanFiles,
  drawBorrower: drawLoanBorrower,
  traits: ['birthdate', 'citizenship_status', 'employment_status', 'education_level', 'address_zip'],
  comparedMin: 500,
  ignored: ['education_level', 'address_zip'],
  weight: 50_000,
  changePayout: (offer, number) => {
    offer.payout_usd = (number * 370) % 1_000;
    for (const band of Object.values(offer.bands)) band.confirm_rate = ((number * 37) % 100) / 100;
  },
});

test('most rankings of large loan catalogs contain only a part of the matching offers', () => {
  const random = seededRandom(20_260_801);
  const totals = largeFiles
    .map((file) => compileLoans(file))
    .flatMap(({ tables }) =>
      Array.from({ length: 20 }, () => rankLoans(tables, drawLoanBorrower(random), today).total),
    );
  assert.ok(totals.filter((total) => total > bounds.offersShownMax).length > totals.length / 2, totals.join());
});

test('every loan scores at least as high for a retired borrower as for an employed borrower with the same income', () => {
  const position = findFieldIndex(personalLoans, 'employment_status');
  const { values } = personalLoans.fields[position] as { values: readonly string[] };

  /** @param bonusOfEmployed addition to the scores of employed borrowers; 0 in a fair market */
  function assertNeverBelow(bonusOfEmployed: number): number {
    const random = seededRandom(20_260_801);
    let compared = 0;
    for (const catalog of loanFiles.map((file) => compileLoans(file))) {
      for (let pair = 0; pair < 20; pair++) {
        const borrower = drawLoanBorrower(random);
        const scoresWith = (status: string) =>
          scoresOf(catalog, borrower.with(position, values.indexOf(status)), loanPricer);
        const ofEmployed = scoresWith('employed');
        for (const [id, score] of scoresWith('retired')) {
          compared++;
          assert.ok(
            score >= ofEmployed.get(id)! + bonusOfEmployed,
            'a retired borrower is scored below an employed one',
          );
        }
      }
    }
    return compared;
  }

  const compared = assertNeverBelow(0);
  assert.ok(compared > 50, `only ${compared} offers were compared`);
  assert.throws(() => assertNeverBelow(1), /a retired borrower is scored below/);
});
