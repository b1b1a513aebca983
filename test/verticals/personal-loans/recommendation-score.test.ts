import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { LoanOffer } from '../../../src/verticals/personal-loans/offer-schema.ts';
import { loanPricer } from '../../../src/verticals/personal-loans/rank-loans.ts';
import { recommendationWeights } from '../../../src/verticals/personal-loans/recommendation-score.ts';
import {
  borrowerOf,
  catalogOf,
  compileLoans,
  goodBorrower,
  plainBand,
  plainOffer,
  scoresOf,
} from '../../matching/loan-fixtures.ts';

const document = readFileSync(new URL('../../../docs/ranking.md', import.meta.url), 'utf8');

test('the weights of the recommendation score equal the documented weights, and add up to 100', () => {
  const rows = [...document.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)];
  assert.deepEqual(Object.fromEntries(rows.map(([, part, weight]) => [part, Number(weight)])), recommendationWeights);
  const sum = Object.values(recommendationWeights).reduce((total: number, weight) => total + weight, 0);
  assert.equal(sum, 100);
});

test('computes the documented score for the documented example', () => {
  const borrower = borrowerOf({ ...goodBorrower, loan_amount: 18_000, loan_term_months: 48 });
  const { cost, approval, amountFit, termFit, stars } = recommendationWeights;
  for (const [term_months, termPart] of [
    [[24, 36], 750_000],
    [[48], 1_000_000],
  ] as const) {
    const offer: Partial<LoanOffer> = {
      amount: { min: 1_000, max: 20_000 },
      term_months: [...term_months],
      stars: 4.2,
      bands: { '700-749': plainBand({ note_rate_percent: { min: 10, max: 14 }, approval_likelihood: 0.62 }) },
    };
    const sum = cost * 666_667 + approval * 620_000 + amountFit * 500_000 + termFit * termPart + stars * 800_000;
    const score = scoresOf(compileLoans(catalogOf([plainOffer(offer)])), borrower, loanPricer).get('plain');
    assert.equal(score, Math.round(sum / 100));
    assert.ok(document.includes(score!.toLocaleString('en-US')));
  }
});
