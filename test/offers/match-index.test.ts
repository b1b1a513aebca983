import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chooseEligible } from '../../src/offers/eligible-offers.ts';
import { createRanker } from '../../src/offers/match.ts';
import { MatchIndex } from '../../src/offers/match-index.ts';
import { compileMatchTables } from '../../src/offers/match-tables.ts';
import { noOffers } from '../../src/offers/offer-bits.ts';
import { newApplicant, readApplicant } from '../../src/offers/price-offer.ts';
import { recommendedScore } from '../../src/offers/recommended-score.ts';
import { personalLoans } from '../../src/verticals/personal-loans.ts';
import { absent, fieldIndex } from '../../src/verticals/pocket-vector.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../support/random-catalog.ts';
import { today } from './borrower-of.ts';

const tables = compileMatchTables(generateCatalog(3, 400), personalLoans);

test('once prepared, the first ranking of any band makes no orders, and of states only the one asked for', () => {
  const random = seededRandom(1);
  const rank = createRanker(recommendedScore, { ordered: true });
  const index = rank.indexOf(tables);
  index.prepare();
  const prepared = index.held;
  assert.deepEqual(
    { ...prepared, bytes: 0 },
    { bands: tables.bandCount, terms: tables.bandCount, states: 0, bytes: 0 },
  );
  let matched = 0;
  for (let band = 0; band < tables.bandCount; band++) {
    const borrower = randomBorrower(random, personalLoans, 0);
    borrower[tables.roles.creditBand] = band;
    borrower[tables.roles.term] = absent;
    borrower[tables.roles.amount] = 5_000;
    borrower[fieldIndex(personalLoans, 'annual_income')] = 90_000;
    borrower[tables.roles.monthlyDebt] = 1_000;
    matched += rank(tables, borrower, today).total;
    const { bands, terms, states } = index.held;
    assert.deepEqual({ bands, terms, states }, { bands: prepared.bands, terms: prepared.terms, states: band + 1 });
  }
  assert.ok(matched > 20 * tables.bandCount, `only ${matched} offers were ranked`);
});

test('every index that is kept is reckoned, those of bands and ranges, too', () => {
  const index = new MatchIndex(tables, recommendedScore);
  const bytesOf = (columns: object) =>
    Object.values(columns).reduce((sum, column) => sum + (ArrayBuffer.isView(column) ? column.byteLength : 0), 0);
  const grows = (make: () => object, least: (made: object) => number) => {
    const before = index.held.bytes;
    const made = make();
    assert.ok(index.held.bytes - before >= least(made), `${index.held.bytes - before} bytes`);
    assert.ok(least(made) > 0);
  };
  const setOfOffers = noOffers(tables.offerCount);
  grows(() => index.band(5), bytesOf);
  grows(() => index.term(5, 1), bytesOf);
  grows(() => index.state(4, Object.assign(newApplicant(), { creditBand: 5, state: 4 })), bytesOf);
  for (const range of [...index.ranges, ...index.ages, index.band(5).amounts]) {
    grows(
      () => {
        range.narrow(setOfOffers.slice(), 30);
        return range;
      },
      () => setOfOffers.byteLength,
    );
  }
});

test('with room for little, an index holds no more than that and answers as with room for all', () => {
  const bytesMax = 40_000;
  const small = new MatchIndex(tables, recommendedScore, bytesMax);
  const large = new MatchIndex(tables, recommendedScore);
  const applicant = newApplicant();
  const random = seededRandom(2);
  const [ofSmall, ofLarge] = [noOffers(tables.offerCount), noOffers(tables.offerCount)];
  let matched = 0;
  for (let i = 0; i < 2_000; i++) {
    const borrower = randomBorrower(random, personalLoans, 0.1);
    assert.ok(readApplicant(tables, borrower, applicant));
    matched += chooseEligible(tables, small, borrower, applicant, today, ofSmall);
    chooseEligible(tables, large, borrower, applicant, today, ofLarge);
    assert.deepEqual(ofSmall, ofLarge);
    const { creditBand, term } = applicant;
    assert.deepEqual(small.term(creditBand, term), large.term(creditBand, term));
    assert.ok(small.held.bytes <= bytesMax, `${small.held.bytes} bytes`);
  }
  assert.ok(matched > 1_000 && large.held.bytes > 10 * bytesMax);
});
