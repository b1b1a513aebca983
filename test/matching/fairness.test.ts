import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { type FieldVector, findFieldIndex } from '../../src/domain/field-vector.ts';
import { sortOrderNames } from '../../src/domain/vertical.ts';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import { rowOf } from '../../src/matching/match-tables.ts';
import { addOffer, emptyOfferSet } from '../../src/matching/offer-set.ts';
import { createPricingRanker } from '../../src/matching/pricing-ranker.ts';
import { createOfferUrls } from '../../src/operations/click-url.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanTables } from '../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { calculateLoanPrices } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { Applicant } from '../../src/verticals/personal-loans/price-offer.ts';
import { loanPricer, rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { generateCatalog, randomBorrower, randomFieldValue, seededRandom } from '../support/random-catalog.ts';
import { type CompiledLoans, compileLoans, scoresOf, today } from './loan-fixtures.ts';

/**
 * No protected or proxy trait changes a price or a rank, and no payout changes `recommended` (docs/contract.md#fairness). Each check
 * compares the offers of two borrowers who differ in one trait, for random catalogs and borrowers. `make match-test` draws four times as
 * many catalogs, and runs each check also on an unfair market, which the check must detect.
 */
interface Market {
  readonly rank: typeof rankLoans;
  /** Returns the catalog from which offers are priced for the borrower. A fair market has one catalog for all borrowers. */
  readonly catalogFor: (catalog: Catalog, borrower: Readonly<FieldVector>) => CompiledLoans;
}

interface Catalog {
  readonly file: LoanCatalog;
  readonly compiled: CompiledLoans;
}

const fairMarket: Market = { rank: rankLoans, catalogFor: ({ compiled }) => compiled };

const isLongSearch = process.env.MATCH_BORROWERS !== undefined;

/** Registers a test that the checks detect an unfair market. */
const selfCheck = isLongSearch ? test : (_name: string, _check: () => void | Promise<void>) => {};

/**
 * Numbers of offers and of catalogs. In a large market, most offers match, so that most rankings contain only a part of them.
 */
const markets = {
  small: { offers: 19, catalogs: isLongSearch ? 40 : 10 },
  large: { offers: 160, catalogs: isLongSearch ? 8 : 2 },
} as const;
type Size = keyof typeof markets;
const sizes = Object.keys(markets) as Size[];

function fileOf(seed: number, size: Size): LoanCatalog {
  const file = generateCatalog(seed, markets[size].offers);
  if (size === 'small') return file;
  const random = seededRandom(seed);
  for (const offer of offersOf(file)) {
    offer.criteria = offer.criteria.filter(() => random() < 0.2);
    offer.amount = { min: 500, max: 100_000 };
    for (const band of Object.values(offer.bands)) band.max_amount = 100_000;
    if (random() < 0.7) delete offer.max_debt_to_income_percent;
  }
  return file;
}

const offersOf = (file: LoanCatalog) => file.lenders.flatMap(({ offers }) => offers);

const catalogsBySize = Object.fromEntries(
  sizes.map((size) => [
    size,
    Array.from({ length: markets[size].catalogs }, (_, seed): Catalog => {
      const file = fileOf(seed, size);
      return { file, compiled: compileLoans(file) };
    }),
  ]),
) as Record<Size, Catalog[]>;

/** All four sort orders of the offers for a borrower, and the JSON text of each offer. */
interface Shown {
  readonly orders: Readonly<Record<string, readonly string[]>>;
  readonly texts: ReadonlyMap<string, string>;
}

function show(market: Market, drawn: Catalog, borrower: FieldVector): Shown {
  const catalog = market.catalogFor(drawn, borrower);
  const idOf = (offer: number) => catalog.offers[offer]!.id;
  const orders = sortOrderNames.map((_sort, at) => completeOrder(market, catalog, borrower, at));
  const texts = orders[0]!.map((offer): [string, string] => {
    const offers = calculateLoanPrices(catalog, [offer], borrower);
    return [
      idOf(offer),
      catalog
        .offerRenderer('https://cdn.example')
        .renderOffersJson(
          { catalog, offers, subId: 'sub', clickToken: 'v' },
          createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example' }),
        ),
    ];
  });
  return {
    orders: Object.fromEntries(sortOrderNames.map((sort, at) => [sort, orders[at]!.map(idOf)])),
    texts: new Map(texts),
  };
}

/**
 * Returns all matching offers in one sort order. A ranking contains at most 20 offers, so the function makes ranked offers unavailable and
 * ranks the remaining offers, until all offers are ranked.
 */
function completeOrder(market: Market, { tables, offers }: CompiledLoans, borrower: FieldVector, at: number): number[] {
  const unavailable = emptyOfferSet(offers.length);
  const order: number[] = [];
  for (;;) {
    const { total, orders } = market.rank(tables, borrower, today, unavailable);
    const places = orders.length / sortOrderNames.length;
    for (const offer of orders.subarray(at * places, (at + 1) * places)) {
      order.push(offer);
      addOffer(unavailable, offer);
    }
    if (order.length === total) return order;
  }
}

/**
 * Compares random pairs of borrowers who differ in one field, in random catalogs. The borrowers have a value for every field.
 *
 * @param values values of the field for both borrowers; random by default
 */
function forEachPair(
  trait: string,
  size: Size,
  compare: (catalog: Catalog, one: FieldVector, other: FieldVector, description: string) => void,
  values: { readonly one?: number; readonly other?: number } = {},
): void {
  const random = seededRandom(20_260_801);
  const position = findFieldIndex(personalLoans, trait);
  const value = () => randomFieldValue(random, personalLoans.fields[position]!);
  for (const [seed, catalog] of catalogsBySize[size].entries()) {
    for (let pair = 0; pair < 20; pair++) {
      const one = randomBorrower(random, personalLoans, 0);
      one[position] = values.one ?? value();
      compare(catalog, one, one.with(position, values.other ?? value()), `catalog ${seed}, pair ${pair}`);
    }
  }
}

/** Asserts that the common offers of both borrowers have the same text and order. Returns the number of compared offers. */
function assertFair(market: Market, trait: string, size: Size): number {
  let compared = 0;
  forEachPair(trait, size, (catalog, one, other, description) => {
    const [ones, others] = [show(market, catalog, one), show(market, catalog, other)];
    for (const [id, text] of ones.texts) {
      if (!others.texts.has(id)) continue;
      compared++;
      assert.equal(others.texts.get(id), text, `a price depends on ${trait} (${description})`);
    }
    for (const sort of sortOrderNames) {
      assert.deepEqual(
        ones.orders[sort]!.filter((id) => others.texts.has(id)),
        others.orders[sort]!.filter((id) => ones.texts.has(id)),
        `the order ${sort} depends on ${trait} (${description})`,
      );
    }
  });
  return compared;
}

/** Returns a pricer that adds a number to the score of each offer. */
function pricerWithScore(
  extraScore: (tables: LoanTables, offer: number, applicant: Applicant) => number,
): typeof loanPricer {
  return {
    ...loanPricer,
    computeSortKeys(tables, offer, applicant, keys) {
      const isAvailable = loanPricer.computeSortKeys(tables, offer, applicant, keys);
      keys.recommended -= extraScore(tables, offer, applicant);
      return isAvailable;
    },
  };
}

/** Returns an unfair market: the score of each offer includes the trait, with a weight that differs from offer to offer. */
function marketWithWeightFor(trait: string): Market {
  const position = findFieldIndex(personalLoans, trait);
  let value = 0;
  const rank = createPricingRanker(pricerWithScore((_tables, offer) => ((value * (offer + 1)) % 7) * 50_000));
  return {
    ...fairMarket,
    rank: (tables, borrower, ...rest) => {
      value = borrower[position]!;
      return rank(tables, borrower, ...rest);
    },
  };
}

/** Returns an unfair market, in which borrowers with every second value of a trait pay higher rates. */
function marketWithSurchargeFor(trait: string): Market {
  const position = findFieldIndex(personalLoans, trait);
  const surcharged = new Map<Catalog, CompiledLoans>();
  const surcharge = (catalog: Catalog) => {
    const file = structuredClone(catalog.file);
    for (const { bands } of offersOf(file)) {
      for (const { note_rate_percent: rate } of Object.values(bands)) {
        rate.min = Math.min(rate.min + 0.5, rate.max);
        rate.max = Math.min(rate.max + 0.5, 36);
      }
    }
    const compiled = compileLoans(file);
    surcharged.set(catalog, compiled);
    return compiled;
  };
  return {
    ...fairMarket,
    catalogFor: (catalog, borrower) =>
      borrower[position]! % 2 === 0 ? catalog.compiled : (surcharged.get(catalog) ?? surcharge(catalog)),
  };
}

for (const trait of ['birthdate', 'citizenship_status', 'employment_status', 'education_level', 'address_zip']) {
  for (const size of sizes) {
    test(`prices and rankings in a ${size} market do not depend on ${trait}`, () => {
      const compared = assertFair(fairMarket, trait, size);
      assert.ok(compared > 40, `only ${compared} offers were compared`);
    });

    selfCheck(`detects a price and a score that depend on ${trait} in a ${size} market`, () => {
      assert.throws(() => assertFair(marketWithSurchargeFor(trait), trait, size), /a price depends on/);
      assert.throws(() => assertFair(marketWithWeightFor(trait), trait, size), /the order recommended depends on/);
    });
  }
}

test('most rankings of large test catalogs contain only a part of the matching offers', () => {
  for (const size of sizes) {
    let borrowers = 0;
    let truncated = 0;
    forEachPair('birthdate', size, ({ compiled }, borrower) => {
      borrowers++;
      if (rankLoans(compiled.tables, borrower, today).total > bounds.offersShownMax) truncated++;
    });
    assert.ok(size === 'small' ? truncated === 0 : truncated > borrowers / 2, `${truncated} of ${borrowers}`);
  }
});

/** Asserts that two borrowers who differ only in one field get the same offers and explanations. */
async function assertNoDifference(market: Market, trait: string, size: Size): Promise<void> {
  const random = seededRandom(7);
  const position = findFieldIndex(personalLoans, trait);
  for (const catalog of catalogsBySize[size].slice(0, markets[size].catalogs / 2)) {
    for (let i = 0; i < 10; i++) {
      const one = randomBorrower(random);
      const other = one.with(position, randomFieldValue(random, personalLoans.fields[position]!));
      assert.deepEqual(show(market, catalog, other), show(market, catalog, one), `${trait} makes a difference`);
      const { tables } = catalog.compiled;
      const [ofOne, ofOther] = await Promise.all(
        [one, other].map((borrower) =>
          explainOffers(builtInVerticals.getProduct(tables), tables, personalLoans, borrower, today, null),
        ),
      );
      assert.deepEqual(ofOther, ofOne, `${trait} makes a difference`);
    }
  }
}

for (const trait of ['education_level', 'address_zip']) {
  for (const size of sizes) {
    test(`in a ${size} market, offers and explanations are the same for every value of ${trait} and without ${trait}`, () =>
      assertNoDifference(fairMarket, trait, size));

    selfCheck(`detects eligibility that depends on ${trait} in a ${size} market`, async () => {
      const position = findFieldIndex(personalLoans, trait);
      const income = findFieldIndex(personalLoans, 'annual_income');
      const selective: Market = {
        ...fairMarket,
        rank: (tables, borrower, ...rest) =>
          rankLoans(tables, borrower[position]! % 2 === 0 ? borrower : [...borrower].with(income, 0), ...rest),
      };
      await assert.rejects(assertNoDifference(selective, trait, size), new RegExp(`${trait} makes a difference`));
    });
  }
}

describe('offer scores for retired and employed borrowers', () => {
  const field = personalLoans.fields[findFieldIndex(personalLoans, 'employment_status')] as {
    values: readonly string[];
  };
  const values = { one: field.values.indexOf('employed'), other: field.values.indexOf('retired') };

  /** @param pricerFor returns the pricer for an employment status; a fair market has one for all */
  function assertNeverBelow(pricerFor: (employment: number) => typeof loanPricer): number {
    let compared = 0;
    const compare = ({ compiled }: Catalog, employed: FieldVector, retired: FieldVector, description: string) => {
      const scores = scoresOf(compiled, employed, pricerFor(values.one));
      for (const [id, score] of scoresOf(compiled, retired, pricerFor(values.other))) {
        compared++;
        assert.ok(score >= scores.get(id)!, `retired borrowers are scored below employed borrowers (${description})`);
      }
    };
    forEachPair('employment_status', 'small', compare, values);
    return compared;
  }

  test('every offer scores at least as high for a retired borrower as for an employed borrower with the same income', () => {
    const compared = assertNeverBelow(() => loanPricer);
    assert.ok(compared > 50, `only ${compared} offers were compared`);
  });

  selfCheck('the test detects a score that depends on employment', () => {
    const unfair = (employment: number) => pricerWithScore(() => (employment === values.one ? 1 : 0));
    assert.throws(() => assertNeverBelow(unfair), /retired borrowers are scored below/);
  });
});

describe('influence of payouts on rankings', () => {
  /** Compares sort orders before and after a change of payouts and confirm rates. Returns how often the order `svc_revenue` differed. */
  function assertNoInfluence(rank: typeof rankLoans, size: Size): number {
    const random = seededRandom(11);
    const market: Market = { ...fairMarket, rank };
    let revenueDiffered = 0;
    for (const [seed, catalog] of catalogsBySize[size].entries()) {
      const file = structuredClone(catalog.file);
      for (const offer of offersOf(file)) {
        offer.payout_usd = Math.floor(random() * 1_000);
        for (const band of Object.values(offer.bands)) band.confirm_rate = random();
      }
      const altered = { file, compiled: compileLoans(file) };
      for (let i = 0; i < 10; i++) {
        const borrower = randomBorrower(random, personalLoans, 0.1);
        const [before, after] = [show(market, catalog, borrower), show(market, altered, borrower)];
        const { svc_revenue: revenueBefore, ...ordersBefore } = before.orders;
        const { svc_revenue: revenueAfter, ...ordersAfter } = after.orders;
        assert.deepEqual(ordersAfter, ordersBefore, `an order depends on payouts (${seed}/${i})`);
        assert.deepEqual(after.texts, before.texts);
        if (revenueAfter!.join() !== revenueBefore!.join()) revenueDiffered++;
      }
    }
    return revenueDiffered;
  }

  for (const size of sizes) {
    test(`in a ${size} market, payouts influence only the sort order svc_revenue`, () => {
      const revenueDiffered = assertNoInfluence(rankLoans, size);
      assert.ok(revenueDiffered > markets[size].catalogs / 2, `svc_revenue differed only ${revenueDiffered} times`);
    });

    selfCheck(`the test detects an order that depends on the payout, in a ${size} market`, () => {
      const paid = createPricingRanker(
        pricerWithScore((tables, offer, { creditBand }) =>
          Math.round(tables.expectedRevenueMicros[rowOf(tables, offer, creditBand)]! / 1_000),
        ),
      );
      assert.throws(() => assertNoInfluence(paid, size), /an order depends on payouts/);
    });
  }
});
