import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { getChoiceValues } from '../../../src/domain/field-vector.ts';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import type { CardOffer } from '../../../src/verticals/credit-cards/offer-schema.ts';
import { computeFirstYearCents } from '../../../src/verticals/credit-cards/price-card.ts';
import {
  computeCardRecommendationScore,
  recommendationWeights,
} from '../../../src/verticals/credit-cards/rank-cards.ts';
import { cardCatalogOf, compileCards, firstYearCentsOf, generateCards, plainBand, plainCard } from './card-fixtures.ts';
import { simulateFirstYearCents } from './reference-cards.ts';

const document = readFileSync(new URL('../../../docs/verticals/credit-cards.md', import.meta.url), 'utf8');
const bandNames = getChoiceValues(creditCards, 'credit_score_range');

/** The card and the borrower of the worked example in docs/verticals/credit-cards.md#first-year-value. */
const documentedCard = plainCard({
  annual_fee: 95,
  rewards: [
    { category: 'base', percent: 1.5 },
    { category: 'dining', percent: 4 },
  ],
  bonus: { value: 250, spend: 3_000, months: 3 },
  transfer_fee: { percent: 3, min: 5 },
  intro_transfer_apr: { percent: 0, months: 6 },
  bands: { '750-799': plainBand({ approval_likelihood: 0.62 }) },
  stars: 4.2,
});
const documentedFields = { monthly_spend: 1_200, transfer_amount: 4_000, carried_balance: 600 };

test('computes the first-year value of the documented example', () => {
  assert.equal(firstYearCentsOf(documentedCard, documentedFields), 4_899);
  const parts = {
    '216.00': plainCard({ rewards: documentedCard.rewards }),
    '250.00': plainCard({ bonus: documentedCard.bonus! }),
    '-95.00': plainCard({ annual_fee: 95 }),
  };
  for (const [usd, card] of Object.entries(parts)) {
    assert.equal(firstYearCentsOf(card, { monthly_spend: 1_200 }), Number(usd) * 100);
    assert.ok(document.includes(usd.replace('-', '')), usd);
  }
  assert.equal(firstYearCentsOf(plainCard(), { carried_balance: 600 }), -7_228);
  const { transfer_fee, intro_transfer_apr } = documentedCard;
  assert.equal(
    firstYearCentsOf(plainCard({ transfer_fee, intro_transfer_apr: intro_transfer_apr! }), { transfer_amount: 4_000 }),
    -12_000 - 12_973,
  );
  for (const usd of ['120.00', '72.28', '129.7333', '48.99']) assert.ok(document.includes(usd), usd);
});

test('computes the score of the documented example with the documented weights', () => {
  const rows = [...document.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)];
  assert.deepEqual(Object.fromEntries(rows.map(([, part, weight]) => [part, Number(weight)])), recommendationWeights);
  const sum = Object.values(recommendationWeights).reduce((total: number, weight) => total + weight, 0);
  assert.equal(sum, 100);
  const { tables } = compileCards(cardCatalogOf([documentedCard]));
  const applicant = {
    creditBand: 5,
    monthlySpend: 1_200,
    transferAmount: 4_000,
    carriedBalance: 600,
    largestBalance: 4_000,
  };
  const score = computeCardRecommendationScore(tables, 0, applicant, computeFirstYearCents(tables, 0, applicant));
  assert.equal(score, Math.round((50 * 528_717 + 35 * 620_000 + 15 * 800_000) / 100));
  assert.ok(document.includes('0.528717') && document.includes(score.toLocaleString('en-US')), `${score}`);
});

test('the value score is 0.5 for a value of 0, and 0.75 or 0.25 for a gain or a cost of the documented amount', () => {
  const card = plainCard({ stars: 1, bands: { '750-799': plainBand({ approval_likelihood: 0 }) } });
  const { tables } = compileCards(cardCatalogOf([card]));
  const applicant = {
    creditBand: 5,
    monthlySpend: 1_000,
    transferAmount: 500,
    carriedBalance: 300,
    largestBalance: 500,
  };
  // 200 USD, 1 % of 12,000 USD and 10 % of 800 USD.
  for (const [cents, share] of [
    [0, 0.5],
    [40_000, 0.75],
    [-40_000, 0.25],
  ] as const) {
    assert.equal(
      computeCardRecommendationScore(tables, 0, applicant, cents),
      share * recommendationWeights.value * 10_000,
    );
  }
});

test('the first-year value equals an exact month-by-month simulation', () => {
  const amount = fc.oneof(
    fc.constant(0),
    fc.integer({ min: 100, max: 20_000 }),
    fc.integer({ min: 100, max: 100_000 }),
  );
  let negative = 0;
  let compared = 0;
  fc.assert(
    fc.property(fc.nat(), amount, amount, amount, (seed, monthlySpend, transferAmount, carriedBalance) => {
      const { tables, offers } = compileCards(generateCards(seed, 12));
      for (const [index, { source }] of offers.entries()) {
        const offer = source as CardOffer;
        for (const bandName of Object.keys(offer.bands)) {
          const creditBand = bandNames.indexOf(bandName);
          const largestBalance = Math.max(transferAmount, carriedBalance);
          const applicant = { creditBand, monthlySpend, transferAmount, carriedBalance, largestBalance };
          const cents = computeFirstYearCents(tables, index, applicant);
          assert.equal(cents, simulateFirstYearCents(offer, bandName, applicant), offer.id);
          compared++;
          if (cents < 0) negative++;
        }
      }
    }),
    { seed: 16, numRuns: 60 },
  );
  assert.ok(compared > 1_000 && negative > compared / 10, `${compared}, of which ${negative} are negative`);
});

test('rounds half a cent up, also for negative values', () => {
  // Interest of a month on the last twelfth of 600 USD at 0.12 % is half a cent.
  const halfCent = (fee: number) =>
    plainCard({
      annual_fee: fee,
      intro_purchase_apr: { percent: 0, months: 11 },
      bands: { '750-799': plainBand({ purchase_apr: { min: 0.1, max: 0.14 } }) },
    });
  assert.equal(firstYearCentsOf(halfCent(0), { carried_balance: 600 }), 0);
  assert.equal(firstYearCentsOf(halfCent(0.01), { carried_balance: 600 }), -1);
  assert.equal(firstYearCentsOf(halfCent(0.01), { carried_balance: 601 }), -2);
});

test('adds the bonus only if the spend is reached in time', () => {
  for (const [spend, months, monthlySpend, isReached] of [
    [3_000, 3, 1_000, true],
    [3_000, 3, 999, false],
    [1_000, 3, 334, true],
    [1_000, 3, 333, false],
    [100.01, 1, 100, false],
    [100.01, 1, 101, true],
    [0, 6, 0, true],
  ] as const) {
    const card = plainCard({ bonus: { value: 50, spend, months } });
    assert.equal(firstYearCentsOf(card, { monthly_spend: monthlySpend }), isReached ? 5_000 : 0);
  }
  assert.equal(firstYearCentsOf(plainCard({ bonus: { value: 50, spend: 1, months: 1 } }), {}), 0);
});
