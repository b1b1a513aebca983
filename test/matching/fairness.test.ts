import assert from 'node:assert/strict';
import process from 'node:process';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { type CompiledCatalog, compileCatalog } from '../../src/catalogs/compile-catalog.ts';
import { explainOffers } from '../../src/matching/explain-offers.ts';
import { type SortOrder, sortOrders } from '../../src/matching/matcher.ts';
import { addOffer, emptyOfferSet } from '../../src/matching/offer-set.ts';
import { type FieldVector, fieldIndex } from '../../src/verticals/field-vector.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { priceRankedOffers, renderOffersJson } from '../../src/verticals/personal-loans/offer-view.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import type { RankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { createRanker, rankLoans } from '../../src/verticals/personal-loans/rank-loans.ts';
import { recommendedScore, type ScoreOffer } from '../../src/verticals/personal-loans/sort-keys.ts';
import { generateCatalog, type Random, randomBorrower, randomValue, seededRandom } from '../support/random-catalog.ts';
import { today } from './loan-fixtures.ts';

/**
 * No protected or proxy trait changes price or rank, and no payout `recommended` (docs/contract.md#fairness). Each check compares what
 * two borrowers who differ in one trait are shown, over random catalogs and borrowers. Each is also put before a market that
 * is unfair in just this, built of the same parts, and must find that out: a search that finds nothing proves nothing.
 */
interface Market {
  readonly rank: RankLoans;
  /** The catalog this borrower is priced and answered from. The fair market has one for everybody. */
  readonly catalogFor: (catalogs: Catalogs, borrower: Readonly<FieldVector>) => CompiledCatalog;
}

/** A catalog, and the same one with every note rate a little higher. */
interface Catalogs {
  readonly plain: CompiledCatalog;
  readonly dearer: CompiledCatalog;
}

const fairMarket: Market = { rank: rankLoans, catalogFor: ({ plain }) => plain };

/**
 * How many offers the catalogs hold, and how many are searched. Of few, those that match are priced one by one; of many, most
 * match, and they are found by walking the orders made beforehand.
 */
const markets = {
  small: { offers: 19, catalogs: 40 },
  large: { offers: 160, catalogs: 8 },
} as const;
type Size = keyof typeof markets;
const sizes = Object.keys(markets) as Size[];

const compile = (catalog: LoanCatalog) =>
  compileCatalog(catalog, personalLoans, { mode: 'live', cdnUrl: () => 'https://cdn.example' });

function fileOf(seed: number, size: Size): LoanCatalog {
  const file = generateCatalog(seed, markets[size].offers);
  if (size === 'small') return file;
  const random = seededRandom(seed);
  for (const { offers } of file.lenders) {
    for (const offer of offers) {
      offer.criteria = offer.criteria.filter(() => random() < 0.2);
      offer.amount = { min: 500, max: 100_000 };
      for (const band of Object.values(offer.bands)) band.max_amount = 100_000;
      if (random() < 0.7) delete offer.max_debt_to_income_percent;
    }
  }
  return file;
}

const knownCatalogs = new Map<string, Catalogs>();

function catalogsOf(seed: number, size: Size): Catalogs {
  const key = `${size} ${seed}`;
  const catalogs = knownCatalogs.get(key) ?? makeCatalogs(fileOf(seed, size));
  knownCatalogs.set(key, catalogs);
  return catalogs;
}

function makeCatalogs(file: LoanCatalog): Catalogs {
  const dearer = structuredClone(file);
  for (const { offers } of dearer.lenders) {
    for (const { bands } of offers) {
      for (const { note_rate_percent: rate } of Object.values(bands)) {
        rate.min = Math.min(rate.min + 0.5, rate.max);
        rate.max = Math.min(rate.max + 0.5, 36);
      }
    }
  }
  return { plain: compile(file), dearer: compile(dearer) };
}

/** What one borrower is shown: the four orders from beginning to end, and each offer's text as answered. */
interface Shown {
  readonly orders: Readonly<Record<SortOrder, readonly string[]>>;
  readonly texts: ReadonlyMap<string, string>;
}

function show(market: Market, catalogs: Catalogs, borrower: FieldVector): Shown {
  const catalog = market.catalogFor(catalogs, borrower);
  const orders = sortOrders.map((_sort, at) => wholeOrder(market, catalog, borrower, at));
  const idsFrom = (at: number) => orders[at]!.map((offer) => catalog.offers[offer]!.id);
  const texts = orders[0]!.map((offer): [string, string] => [
    catalog.offers[offer]!.id,
    renderOffersJson(
      { catalog, offers: priceRankedOffers(catalog, [offer], borrower), subId: 'sub', clickToken: 'v' },
      'https://go.example/c?sub=',
    ),
  ]);
  return {
    orders: Object.fromEntries(sortOrders.map((sort, at) => [sort, idsFrom(at)])) as unknown as Shown['orders'],
    texts: new Map(texts),
  };
}

/** All that match in one order, though an answer has 20 at most: what was shown is closed, and the rest ranked again. */
function wholeOrder(market: Market, catalog: CompiledCatalog, borrower: FieldVector, at: number): number[] {
  const closed = emptyOfferSet(catalog.offers.length);
  const order: number[] = [];
  for (;;) {
    const { total, orders } = market.rank(catalog.tables, borrower, today, closed);
    const kept = orders.length / sortOrders.length;
    for (const offer of orders.subarray(at * kept, (at + 1) * kept)) {
      order.push(offer);
      addOffer(closed, offer);
    }
    if (kept === total) return order;
  }
}

/** Two borrowers alike in everything but one field. */
type Pair = readonly [one: FieldVector, other: FieldVector];

/**
 * Draws pairs and catalogs, and has each pair compared. Every field is told, so that what a lender asks is always answered.
 *
 * @param alter the other borrower's value of the field; its own value when left out
 */
function forEachPair(
  trait: string,
  size: Size,
  compare: (catalogs: Catalogs, pair: Pair, what: string) => void,
  alter: { readonly own?: number; readonly other?: number } = {},
): void {
  const random = seededRandom(20_260_801);
  const position = fieldIndex(personalLoans, trait);
  const value = () => randomValue(random, personalLoans.fields[position]!);
  for (let seed = 0; seed < markets[size].catalogs; seed++) {
    const catalogs = catalogsOf(seed, size);
    for (let pair = 0; pair < 20; pair++) {
      const one = randomBorrower(random, personalLoans, 0);
      one[position] = alter.own ?? value();
      const other = one.with(position, alter.other ?? value());
      compare(catalogs, [one, other], `catalog ${seed}, pair ${pair}`);
    }
  }
}

/** The offers that both may have stand in the same order for both, in every sort. */
function assertSameOrders(market: Market, trait: string, size: Size): void {
  forEachPair(trait, size, (catalogs, [one, other], what) => {
    const [ones, others] = [show(market, catalogs, one), show(market, catalogs, other)];
    for (const sort of sortOrders) {
      assert.deepEqual(
        ones.orders[sort].filter((id) => others.texts.has(id)),
        others.orders[sort].filter((id) => ones.texts.has(id)),
        `the order ${sort} depends on ${trait} (${what})`,
      );
    }
  });
}

/** The offers that both may have are answered to both in the same words; returns how many there were to compare. */
function assertSamePrices(market: Market, trait: string, size: Size): number {
  let compared = 0;
  forEachPair(trait, size, (catalogs, [one, other], what) => {
    const [ones, others] = [show(market, catalogs, one), show(market, catalogs, other)];
    for (const [id, text] of ones.texts) {
      if (!others.texts.has(id)) continue;
      compared++;
      assert.equal(others.texts.get(id), text, `a price depends on ${trait} (${what})`);
    }
  });
  return compared;
}

/** The market with a weight for one more field in `recommended`, a different one for each offer. */
function marketWithWeightFor(trait: string, ordered: boolean): Market {
  const position = fieldIndex(personalLoans, trait);
  let value = 0;
  const rank = createRanker(
    (tables, offer, applicant, price) =>
      recommendedScore(tables, offer, applicant, price) + ((value * (offer + 1)) % 7) * 50_000,
    { ordered },
  );
  return {
    ...fairMarket,
    rank: (tables, borrower, ...rest) => {
      value = borrower[position]!;
      return rank(tables, borrower, ...rest);
    },
  };
}

/** The market in which every other value of the field is quoted from the dearer catalog. */
function marketWithSurchargeFor(trait: string): Market {
  const position = fieldIndex(personalLoans, trait);
  return {
    ...fairMarket,
    catalogFor: ({ plain, dearer }, borrower) => (borrower[position]! % 2 === 0 ? plain : dearer),
  };
}

/** Values of `ordered` for tests that unfair scores are detected. Only `make match-test` runs all of these tests. */
const selfChecks = process.env.MATCH_BORROWERS === undefined ? [] : [false, true];

for (const trait of ['birthdate', 'citizenship_status', 'employment_status', 'education_level', 'address_zip']) {
  for (const size of sizes) {
    describe(`fairness for ${trait} in a ${size} market`, () => {
      test('prices do not depend on the protected field', () => {
        const compared = assertSamePrices(fairMarket, trait, size);
        assert.ok(compared > 300, `only ${compared} offers were compared`);
      });

      test('rankings do not depend on the protected field', () => assertSameOrders(fairMarket, trait, size));

      test('the fairness test detects a price that depends on the protected field', () => {
        const unfair = marketWithSurchargeFor(trait);
        assert.throws(() => assertSamePrices(unfair, trait, size), new RegExp(`a price depends on ${trait}`));
        assert.throws(() => assertSameOrders(unfair, trait, size), new RegExp(`the order \\w+ depends on ${trait}`));
      });

      for (const ordered of selfChecks) {
        test(`detects a score with a weight for the protected field, ${ordered ? 'walked by it' : 'worked out for all'}`, () => {
          const unfair = marketWithWeightFor(trait, ordered);
          const found = new RegExp(`the order recommended depends on ${trait}`);
          assert.throws(() => assertSameOrders(unfair, trait, size), found);
        });
      }
    });
  }
}

test('uses the prebuilt orders for most borrowers of a large market', () => {
  const walked = { small: 0, large: 0 };
  for (const size of sizes) {
    const rank = createRanker(recommendedScore, { ordered: true });
    let borrowers = 0;
    let cut = 0;
    forEachPair('birthdate', size, ({ plain }, [borrower]) => {
      borrowers++;
      if (rank(plain.tables, borrower, today).total > bounds.offersShownMax) cut++;
    });
    for (let seed = 0; seed < markets[size].catalogs; seed++) {
      // The index builds orders by term only if a ranking uses them.
      walked[size] += rank.indexFor(catalogsOf(seed, size).plain.tables).usage.terms;
    }
    if (size === 'large') assert.ok(cut > borrowers / 2, `only ${cut} of ${borrowers}`);
  }
  assert.equal(walked.small, 0);
  assert.ok(walked.large > 5 * markets.large.catalogs, `orders of only ${walked.large} terms were walked`);
});

/** Asserts that two borrowers who differ only in one field get the same offers and explanations. */
async function assertNoDifference(market: Market, trait: string, size: Size): Promise<void> {
  const random = seededRandom(7);
  const position = fieldIndex(personalLoans, trait);
  for (let seed = 0; seed < markets[size].catalogs / 2; seed++) {
    const catalogs = catalogsOf(seed, size);
    for (let i = 0; i < 10; i++) {
      const one = randomBorrower(random);
      const other = one.with(position, randomValue(random, personalLoans.fields[position]!));
      assert.deepEqual(show(market, catalogs, other), show(market, catalogs, one), `${trait} makes a difference`);
      const explained = [one, other].map((borrower) =>
        explainOffers(market.catalogFor(catalogs, borrower).tables, personalLoans, borrower, today, null),
      );
      assert.deepEqual(await explained[1], await explained[0], `${trait} makes a difference`);
    }
  }
}

for (const trait of ['education_level', 'address_zip']) {
  describe(trait, () => {
    for (const size of sizes) {
      test(`offers and explanations in a ${size} market do not depend on the field, present or absent`, () =>
        assertNoDifference(fairMarket, trait, size));
    }

    test('the fairness test detects eligibility that depends on the field', async () => {
      const position = fieldIndex(personalLoans, trait);
      const picky: Market = {
        ...fairMarket,
        rank: (tables, borrower, ...rest) => {
          const income = fieldIndex(personalLoans, 'annual_income');
          const poorer = borrower[position]! % 2 === 0 ? borrower : [...borrower].with(income, 0);
          return rankLoans(tables, poorer, ...rest);
        },
      };
      for (const size of sizes) {
        await assert.rejects(assertNoDifference(picky, trait, size), new RegExp(`${trait} makes a difference`));
      }
    });
  });
}

/** Scores of the offers that a borrower is eligible for, by offer ID. */
function scoresOf(score: ScoreOffer, catalog: CompiledCatalog, borrower: FieldVector): Map<string, number> {
  const scores = new Map<string, number>();
  const rank = createRanker((tables, offer, applicant, price) => {
    const points = score(tables, offer, applicant, price);
    scores.set(catalog.offers[offer]!.id, points);
    return points;
  });
  rank(catalog.tables, borrower, today);
  return scores;
}

describe('retired borrowers', () => {
  const position = fieldIndex(personalLoans, 'employment_status');
  const { values } = personalLoans.fields[position] as { values: readonly string[] };
  const [employed, retired] = [values.indexOf('employed'), values.indexOf('retired')];

  /** @param scoreFor returns the score function for an employment status; a fair market has one for all */
  function assertNeverBelow(scoreFor: (employment: number) => ScoreOffer): number {
    let compared = 0;
    forEachPair(
      'employment_status',
      'small',
      ({ plain }, [worker, pensioner], what) => {
        const theirs = scoresOf(scoreFor(employed), plain, worker);
        for (const [id, points] of scoresOf(scoreFor(retired), plain, pensioner)) {
          if (!theirs.has(id)) continue;
          compared++;
          assert.ok(points >= theirs.get(id)!, `the retired are scored below the employed (${what})`);
        }
      },
      { own: employed, other: retired },
    );
    return compared;
  }

  test('retired borrowers never have lower scores than employed borrowers with the same income', () => {
    const compared = assertNeverBelow(() => recommendedScore);
    assert.ok(compared > 300, `only ${compared} offers were compared`);
  });

  test('the fairness test detects a score that depends on employment', () => {
    const favouring =
      (employment: number): ScoreOffer =>
      (tables, offer, applicant, price) =>
        recommendedScore(tables, offer, applicant, price) + (employment === employed ? 1 : 0);
    assert.throws(() => assertNeverBelow(favouring), /the retired are scored below the employed/);
  });
});

describe('a payout', () => {
  /** Compares orders after payouts and confirm rates change. Returns how often `svc_revenue` differed. */
  function assertNoPart(rank: RankLoans, size: Size): number {
    const random: Random = seededRandom(11);
    let revenueDiffered = 0;
    for (let seed = 0; seed < markets[size].catalogs; seed++) {
      const file = fileOf(seed, size);
      const altered = structuredClone(file);
      for (const { offers } of altered.lenders) {
        for (const offer of offers) {
          offer.payout_usd = Math.floor(random() * 1_000);
          for (const band of Object.values(offer.bands)) band.confirm_rate = random();
        }
      }
      const market: Market = { ...fairMarket, rank };
      for (let i = 0; i < 10; i++) {
        const borrower = randomBorrower(random, personalLoans, 0.1);
        const [before, after] = [file, altered].map((catalog) => {
          const plain = compile(catalog);
          return show(market, { plain, dearer: plain }, borrower);
        }) as [Shown, Shown];
        assert.deepEqual(
          after.orders.recommended,
          before.orders.recommended,
          `payouts are recommended by (${seed}/${i})`,
        );
        assert.deepEqual(after.orders.lowest_apr, before.orders.lowest_apr);
        assert.deepEqual(after.orders.highest_amount, before.orders.highest_amount);
        assert.deepEqual(after.texts, before.texts);
        if (after.orders.svc_revenue.join() !== before.orders.svc_revenue.join()) revenueDiffered++;
      }
    }
    return revenueDiffered;
  }

  for (const size of sizes) {
    test(`payouts in a ${size} market affect no order except svc_revenue`, () => {
      const revenueDiffered = assertNoPart(rankLoans, size);
      assert.ok(revenueDiffered > markets[size].catalogs, `revenue ordered otherwise only ${revenueDiffered} times`);
    });

    for (const ordered of size === 'small' ? [true] : selfChecks) {
      test(`the fairness test detects a weight of the payout in a ${size} market${ordered ? ' that is walked' : ''}`, () => {
        const paid = createRanker(
          (tables, offer, applicant, price) =>
            recommendedScore(tables, offer, applicant, price) +
            Math.round(tables.expectedRevenueMicros[offer * tables.bandCount + applicant.creditBand]! / 1_000),
          { ordered },
        );
        assert.throws(() => assertNoPart(paid, size), /payouts are recommended by/);
      });
    }
  }
});
