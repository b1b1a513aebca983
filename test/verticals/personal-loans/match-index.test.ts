import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absentValue, findFieldIndex } from '../../../src/domain/field-vector.ts';
import { countOffers, emptyOfferSet } from '../../../src/matching/offer-set.ts';
import { compileLoanTables } from '../../../src/verticals/personal-loans/loan-tables.ts';
import { MatchIndex } from '../../../src/verticals/personal-loans/match-index.ts';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';
import { emptyApplicant, readApplicant } from '../../../src/verticals/personal-loans/price-offer.ts';
import { createRanker } from '../../../src/verticals/personal-loans/rank-loans.ts';
import { selectEligibleOffers } from '../../../src/verticals/personal-loans/select-eligible.ts';
import { computeRecommendationScore } from '../../../src/verticals/personal-loans/sort-keys.ts';
import { today } from '../../matching/loan-fixtures.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../../support/random-catalog.ts';

const tables = compileLoanTables(generateCatalog(3, 400), personalLoans);

test('after prebuildIndexes, the first ranking for a credit band builds only one index, for the US state of the borrower', () => {
  const random = seededRandom(1);
  const rank = createRanker(computeRecommendationScore);
  const index = rank.indexFor(tables);
  index.prebuildIndexes();
  const prepared = index.memoryUsage;
  assert.deepEqual(
    { ...prepared, bytes: 0 },
    { bands: tables.bandCount, terms: tables.bandCount, states: 0, bytes: 0 },
  );
  let matched = 0;
  for (let band = 0; band < tables.bandCount; band++) {
    const borrower = randomBorrower(random, personalLoans, 0);
    borrower[tables.roles.creditBand] = band;
    borrower[tables.roles.term] = absentValue;
    borrower[tables.roles.amount] = 5_000;
    borrower[findFieldIndex(personalLoans, 'annual_income')] = 90_000;
    borrower[tables.roles.monthlyDebt] = 1_000;
    matched += rank(tables, borrower, today).total;
    const { bands, terms, states } = index.memoryUsage;
    assert.deepEqual({ bands, terms, states }, { bands: prepared.bands, terms: prepared.terms, states: band + 1 });
  }
  assert.ok(matched > 20 * tables.bandCount, `only ${matched} offers were ranked`);
});

test('memoryUsage includes the bytes of every array that MatchIndex builds', () => {
  const index = new MatchIndex(tables, computeRecommendationScore);
  const bytesOf = (columns: object) =>
    Object.values(columns).reduce((sum, column) => sum + (ArrayBuffer.isView(column) ? column.byteLength : 0), 0);
  const grows = (make: () => object, least: (made: object) => number) => {
    const before = index.memoryUsage.bytes;
    const made = make();
    assert.ok(index.memoryUsage.bytes - before >= least(made), `${index.memoryUsage.bytes - before} bytes`);
    assert.ok(least(made) > 0);
  };
  const setOfOffers = emptyOfferSet(tables.offerCount);
  grows(() => index.getOffersByCreditBand(5), bytesOf);
  grows(() => index.getOffersByLoanTerm(5, 1), bytesOf);
  grows(() => index.getOffersByUsState(4, Object.assign(emptyApplicant(), { creditBand: 5, state: 4 })), bytesOf);
  grows(
    () => {
      index.getOffersByCreditBand(5).amounts.filterOffers(setOfOffers.slice(), 30);
      return index;
    },
    () => setOfOffers.byteLength,
  );
  grows(
    () => {
      index.criteria.filterOffers(setOfOffers.slice(), randomBorrower(seededRandom(1), personalLoans, 0), today);
      return index;
    },
    () => setOfOffers.byteLength * (tables.rangeFilters.length + tables.ageFilters.length),
  );
});

test('an index with a small memory limit stays below the limit, and returns the same offers as an unlimited index', () => {
  const bytesMax = 40_000;
  const small = new MatchIndex(tables, computeRecommendationScore, bytesMax);
  const large = new MatchIndex(tables, computeRecommendationScore);
  const applicant = emptyApplicant();
  const random = seededRandom(2);
  const [ofSmall, ofLarge] = [emptyOfferSet(tables.offerCount), emptyOfferSet(tables.offerCount)];
  let matched = 0;
  for (let i = 0; i < 500; i++) {
    const borrower = randomBorrower(random, personalLoans, 0.1);
    assert.ok(readApplicant(tables, borrower, applicant));
    selectEligibleOffers(tables, small, borrower, applicant, today, ofSmall);
    matched += countOffers(ofSmall);
    selectEligibleOffers(tables, large, borrower, applicant, today, ofLarge);
    assert.deepEqual(ofSmall, ofLarge);
    const { creditBand, termIndex } = applicant;
    assert.deepEqual(
      small.getOffersByLoanTerm(creditBand, termIndex),
      large.getOffersByLoanTerm(creditBand, termIndex),
    );
    assert.ok(small.memoryUsage.bytes <= bytesMax, `${small.memoryUsage.bytes} bytes`);
  }
  assert.ok(matched > 250 && large.memoryUsage.bytes > 10 * bytesMax);
});
