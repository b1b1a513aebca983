import assert from 'node:assert/strict';
import { test } from 'node:test';
import { absentValue, type FieldVector } from '../../../src/domain/field-vector.ts';
import { priceCards } from '../../../src/verticals/credit-cards/card-view.ts';
import { cardPricer, rankCards } from '../../../src/verticals/credit-cards/rank-cards.ts';
import { scoresOf } from '../../matching/loan-fixtures.ts';
import { compareWithReference, explainReasons, idsOf } from '../../matching/priced-rankings.ts';
import type { Random } from '../../support/random-catalog.ts';
import {
  type CompiledCards,
  cardBorrowerOf,
  cardCatalogOf,
  compileCards,
  generateCards,
  goodCardBorrower,
  plainBand,
  plainCard,
  randomCardBorrower,
  today,
} from './card-fixtures.ts';
import { cardOrders, findReferenceCards } from './reference-cards.ts';

/** Returns a random borrower, who rarely lacks a required field. */
function drawBorrower(random: Random): FieldVector {
  const borrower = randomCardBorrower(random, random() < 0.5 ? 0.3 : 0);
  if (random() < 0.05) borrower[Math.floor(random() * borrower.length)] = absentValue;
  return borrower;
}

test('ranks random catalogs in the same orders as a reference that prices and sorts every card', () =>
  compareWithReference({
    seed: 16,
    numRuns: 60,
    offersMax: 400,
    today,
    rank: rankCards,
    compare: cardOrders,
    drawCatalog: generateCards,
    compile: compileCards,
    drawBorrower,
    findMatches: findReferenceCards,
    checkFigures(compiled, offers, borrower, matches) {
      for (const { index, values } of priceCards(compiled, offers, borrower)) {
        assert.deepEqual(values, [matches.get(compiled.offers[index]!.id)!.firstYearCents / 100]);
      }
    },
  }));

// The example of docs/verticals/credit-cards.md#example.
test('each order ranks the cards of the documented example by its own measure', () => {
  const cardOf = (id: string, baseRate: number, min: number, max: number, likelihood: number, rest: object) =>
    plainCard({
      id,
      rewards: [{ category: 'base', percent: baseRate }],
      bands: { '750-799': plainBand({ purchase_apr: { min, max }, approval_likelihood: likelihood }) },
      ...rest,
    });
  const bonus = { value: 300, spend: 3_000, months: 3 };
  const compiled = compileCards(
    cardCatalogOf([
      cardOf('a', 1.5, 19.24, 23.24, 0.7, { stars: 4, payout_usd: 5 }),
      cardOf('b', 2, 21.24, 27.24, 0.45, { stars: 4.5, payout_usd: 8, annual_fee: 95, bonus }),
      cardOf('c', 1, 14.99, 17.99, 0.6, { stars: 4.8, payout_usd: 12 }),
    ]),
  );
  const rankFor = (monthly_spend: number) => {
    const borrower = cardBorrowerOf({ ...goodCardBorrower, monthly_spend });
    return {
      orders: idsOf(compiled, rankCards(compiled.tables, borrower, today, null).orders).join(''),
      values: priceCards(compiled, [0, 1, 2], borrower).map(({ values }) => values[0]),
      scores: [...scoresOf(compiled, borrower, cardPricer).values()],
    };
  };
  assert.deepEqual(rankFor(1_000), {
    orders: 'abccabbaccba',
    values: [180, 445, 120],
    scores: [697_500, 684_175, 670_682],
  });
  const { orders, values } = rankFor(500);
  assert.deepEqual([orders.slice(6, 9), values], ['acb', [90, 25, 60]]);
});

test('a secured card is not available for a transfer or a balance above its largest deposit', async () => {
  const deposit = (security_deposit_max?: number) => ({
    security_deposit_min: 200,
    ...(security_deposit_max && { security_deposit_max }),
  });
  const compiled = compileCards(
    cardCatalogOf([
      plainCard({ id: 'cents', ...deposit(2_000.99) }),
      plainCard({ id: 'large', ...deposit(10_000) }),
      plainCard({ id: 'no-maximum', ...deposit() }),
      plainCard({ id: 'small', ...deposit(2_000) }),
      plainCard({ id: 'unsecured' }),
    ]),
  );
  const all = ['cents', 'large', 'no-maximum', 'small', 'unsecured'];
  for (const field of ['transfer_amount', 'carried_balance'] as const) {
    // The amount counts whatever the purpose of the card is.
    for (const card_purpose of ['cash_back', 'balance_transfer', 'low_interest']) {
      for (const [amount, expected] of [
        [2_000, all],
        [2_001, ['large', 'no-maximum', 'unsecured']],
        [10_000, ['large', 'no-maximum', 'unsecured']],
        [10_001, ['no-maximum', 'unsecured']],
        [100_000, ['no-maximum', 'unsecured']],
      ] as const) {
        const borrower = cardBorrowerOf({ ...goodCardBorrower, card_purpose, [field]: amount });
        assert.deepEqual(priceable(compiled, borrower).sort(), expected, `${field} ${amount}`);
        const hidden = all.length - expected.length;
        assert.deepEqual(await explainReasons(compiled, borrower, today), [
          expected.length,
          ...(hidden === 0 ? [] : [`amount_too_high ${field} ${hidden}`]),
        ]);
      }
    }
  }
  // Each amount is compared alone, because the rule names a balance or a transfer.
  const both = cardBorrowerOf({ ...goodCardBorrower, transfer_amount: 1_500, carried_balance: 1_500 });
  assert.deepEqual(priceable(compiled, both).sort(), all);
});

function priceable(compiled: CompiledCards, borrower: FieldVector): string[] {
  const { orders, total } = rankCards(compiled.tables, borrower, today, null);
  return idsOf(compiled, orders.subarray(0, total));
}

test('offers a card only for its purposes and credit bands, and reports the reasons', async () => {
  const compiled = compileCards(
    cardCatalogOf([plainCard({ id: 'one', purposes: ['travel'] }), plainCard({ id: 'two', purposes: ['cash_back'] })]),
  );
  const explain = (fields: object) =>
    explainReasons(compiled, cardBorrowerOf({ ...goodCardBorrower, ...fields }), today);
  assert.deepEqual(await explain({}), [1, 'not_accepted card_purpose 1']);
  assert.deepEqual(await explain({ card_purpose: 'student' }), [0, 'not_accepted card_purpose 2']);
  assert.deepEqual(await explain({ credit_score_range: '800+' }), [
    0,
    'not_accepted credit_score_range 2',
    'not_accepted card_purpose 1',
  ]);
  assert.deepEqual(await explain({ card_purpose: null }), [0, 'not_told card_purpose 2']);
  assert.deepEqual(await explain({ state: null }), [0, 'not_told state 2', 'not_accepted card_purpose 1']);
});
