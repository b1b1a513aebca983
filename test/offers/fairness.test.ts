import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CompiledCatalog, compileCatalog } from '../../src/offers/compile-catalog.ts';
import { createRanker, type RankOffers, rankOffers } from '../../src/offers/match.ts';
import { sorts } from '../../src/offers/matcher.ts';
import { recommendedScore } from '../../src/offers/recommended-score.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { fieldIndex, type PocketVector } from '../../src/verticals/pocket-vector.ts';
import { generateCatalog, randomBorrower, randomValue, seededRandom } from '../support/random-catalog.ts';
import { today } from './borrower-of.ts';
import { type Quote, quote } from './quote.ts';

/**
 * No protected or proxy trait changes a price or a rank (D8). Each trait is given another value, and among the offers that
 * both borrowers may have, every order and every number must stay. The same search must find a weight for the trait when one
 * is put into the score or into the price: a search that finds nothing proves nothing.
 */
const traits = ['birthdate', 'citizenship_status', 'education_level', 'address_zip', 'employment_status'];

type QuoteOffer = (catalog: CompiledCatalog, offer: number, borrower: Readonly<PocketVector>) => Quote | null;

interface Shifts {
  order: number;
  price: number;
  /** Offers that both borrowers may have: how much there was to compare. */
  compared: number;
}

function shiftsFrom(trait: string, rank: RankOffers, quoteOffer: QuoteOffer): Shifts {
  const random = seededRandom(20_260_801);
  const position = fieldIndex(personalLoans, trait);
  const shifts = { order: 0, price: 0, compared: 0 };
  for (let seed = 0; seed < 30; seed++) {
    const catalog = compileCatalog(generateCatalog(seed, 19), personalLoans, { mode: 'live', cdnUrl: () => '' });
    for (let pair = 0; pair < 20; pair++) {
      const one = randomBorrower(random, personalLoans, 0);
      const other = [...one];
      other[position] = randomValue(random, personalLoans.fields[position]!);
      compare(catalog, one, other, rank, quoteOffer, shifts);
    }
  }
  return shifts;
}

/** The catalogs hold fewer than 20 offers, so that an order is never cut. */
function compare(
  catalog: CompiledCatalog,
  one: PocketVector,
  other: PocketVector,
  rank: RankOffers,
  quoteOffer: QuoteOffer,
  shifts: Shifts,
): void {
  const [ones, others] = [ordersOf(catalog, one, rank), ordersOf(catalog, other, rank)];
  for (const [at] of sorts.entries()) {
    const both = ones[at]!.filter((offer) => others[at]!.includes(offer));
    const bothAsOther = others[at]!.filter((offer) => ones[at]!.includes(offer));
    if (both.join() !== bothAsOther.join()) shifts.order++;
    if (at > 0) continue;
    for (const offer of both) {
      shifts.compared++;
      const [mine, theirs] = [quoteOffer(catalog, offer, one), quoteOffer(catalog, offer, other)];
      if (JSON.stringify(mine) !== JSON.stringify(theirs)) shifts.price++;
    }
  }
}

function ordersOf(catalog: CompiledCatalog, borrower: PocketVector, rank: RankOffers): number[][] {
  const { total, orders } = rank(catalog.tables, borrower, today);
  return sorts.map((_sort, at) => [...orders.subarray(at * total, (at + 1) * total)]);
}

/** The ranking of the service with a weight for one more field in `recommended`, a different one for each offer. */
function rankerWithWeightFor(trait: string): RankOffers {
  const position = fieldIndex(personalLoans, trait);
  let value = 0;
  const rank = createRanker(
    (tables, offer, applicant, price) =>
      recommendedScore(tables, offer, applicant, price) + ((value * (offer + 1)) % 7) * 50_000,
  );
  return (tables, borrower, on) => {
    value = borrower[position]!;
    return rank(tables, borrower, on);
  };
}

function quoteWithSurchargeFor(trait: string): QuoteOffer {
  const position = fieldIndex(personalLoans, trait);
  return (catalog, offer, borrower) => {
    const quoted = quote(catalog, offer, borrower)!;
    return { ...quoted, monthly_payment_estimate: quoted.monthly_payment_estimate + (borrower[position]! % 5) };
  };
}

for (const trait of traits) {
  describe(trait, () => {
    test('changes no order and no price among the offers that stay', () => {
      const { order, price, compared } = shiftsFrom(trait, rankOffers, quote);
      assert.deepEqual({ order, price }, { order: 0, price: 0 });
      assert.ok(compared > 300, `only ${compared} offers were compared`);
    });

    test('would be found out if it had a weight in the score', () => {
      assert.ok(shiftsFrom(trait, rankerWithWeightFor(trait), quote).order > 0);
    });

    test('would be found out if it had a part in the price', () => {
      assert.ok(shiftsFrom(trait, rankOffers, quoteWithSurchargeFor(trait)).price > 0);
    });
  });
}

for (const trait of ['education_level', 'address_zip']) {
  test(`${trait} decides no eligibility either`, () => {
    const random = seededRandom(7);
    const position = fieldIndex(personalLoans, trait);
    const catalog = compileCatalog(generateCatalog(1, 200), personalLoans, { mode: 'live', cdnUrl: () => '' });
    for (let i = 0; i < 200; i++) {
      const borrower = randomBorrower(random);
      const other = [...borrower];
      other[position] = randomValue(random, personalLoans.fields[position]!);
      assert.deepEqual(rankOffers(catalog.tables, other, today), rankOffers(catalog.tables, borrower, today));
    }
  });
}
