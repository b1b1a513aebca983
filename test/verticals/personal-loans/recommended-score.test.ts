import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { FieldVector } from '../../../src/verticals/field-vector.ts';
import { compileLoanTables } from '../../../src/verticals/personal-loans/loan-tables.ts';
import type { LoanCatalog, LoanOffer } from '../../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';
import { createRanker } from '../../../src/verticals/personal-loans/rank-loans.ts';
import { recommendedScore, recommendedWeights } from '../../../src/verticals/personal-loans/sort-keys.ts';
import { borrowerOf, catalogOf, goodBorrower, plainBand, plainOffer, today } from '../../matching/loan-fixtures.ts';
import { generateCatalog, randomBorrower, seededRandom } from '../../support/random-catalog.ts';

const document = readFileSync(new URL('../../../docs/ranking.md', import.meta.url), 'utf8');

function scoresOf(catalog: LoanCatalog, borrower: FieldVector): number[] {
  const scores: number[] = [];
  const rank = createRanker((...priced) => {
    const score = recommendedScore(...priced);
    scores.push(score);
    return score;
  });
  rank(compileLoanTables(catalog, personalLoans), borrower, today);
  return scores;
}

/** The example of docs/ranking.md. */
const borrower = borrowerOf({ ...goodBorrower, loan_amount: 18_000, loan_term_months: 48 });
const offer: Partial<LoanOffer> = {
  amount: { min: 1_000, max: 20_000 },
  term_months: [24, 36],
  stars: 4.2,
  bands: { '700-749': plainBand({ note_rate_percent: { min: 10, max: 14 }, approval_likelihood: 0.62 }) },
};

test('recommended score has the documented weights, which add up to 100', () => {
  const published = [...document.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, part, weight]) => [
    part,
    Number(weight),
  ]);
  assert.deepEqual(Object.fromEntries(published), recommendedWeights);
  assert.equal(
    Object.values(recommendedWeights).reduce((sum: number, weight) => sum + weight, 0),
    100,
  );
});

test('computes the documented score of the documented example', () => {
  const { cost, approval, amountFit, termFit, stars } = recommendedWeights;
  const byHand = (termPart: number) =>
    Math.round(
      (cost * 666_667 + approval * 620_000 + amountFit * 500_000 + termFit * termPart + stars * 800_000) / 100,
    );
  const [score] = scoresOf(catalogOf([plainOffer(offer)]), borrower);
  const [overLonger] = scoresOf(catalogOf([plainOffer({ ...offer, term_months: [48] })]), borrower);
  assert.deepEqual([score, overLonger], [byHand(750_000), byHand(1_000_000)]);
  for (const shown of [score!, overLonger!]) assert.ok(document.includes(shown.toLocaleString('en-US')));
});

test('recommended scores are integers from 0 to 1,000,000', () => {
  let scored = 0;
  fc.assert(
    fc.property(fc.nat(), fc.nat(), (catalogSeed, seed) => {
      const someone = randomBorrower(seededRandom(seed), personalLoans, 0);
      for (const score of scoresOf(generateCatalog(catalogSeed, 30), someone)) {
        scored++;
        assert.ok(Number.isInteger(score) && score >= 0 && score <= 1_000_000, String(score));
      }
    }),
    { numRuns: 200 },
  );
  assert.ok(scored > 100, `only ${scored} scores`);
});
