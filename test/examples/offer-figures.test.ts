import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Offer } from '../../examples/landing-page/api/marketplace-api.ts';
import { creditCards } from '../../examples/landing-page/products/credit-cards.ts';
import { mortgage } from '../../examples/landing-page/products/mortgage.ts';

const purchaseApr = { min: 18.24, max: 26.24 };
const plainCard: NonNullable<Offer['card']> = {
  name: 'Everyday Cash',
  variable: null,
  annual_fee: 95,
  annual_fee_first_year: 0,
  transfer_apr: { min: 19.24, max: 27.24 },
  intro_purchase_apr: null,
  intro_transfer_apr: null,
  rewards: [{ category: 'base', percent: 0 }],
  bonus: null,
  security_deposit_min: null,
  security_deposit_max: null,
  first_year_value: 0,
};

/** Returns the figures of a card as texts: label, value, note. */
function figuresOf(changes: Partial<typeof plainCard>): string[] {
  const offer = { apr_range: purchaseApr, card: { ...plainCard, ...changes } } as Offer;
  return creditCards.offers.figures(offer, {}).map((figure) => Object.values(figure).join(': '));
}

test('the landing page shows the first-year value of a card, its purchase APR and annual fee', () => {
  assert.deepEqual(figuresOf({}), [
    'Value in the first year, about: $0.00: base rewards and bonus, less fees and interest',
    'Purchase APR: 18.24% to 26.24%',
    'Annual fee: $0 in the first year, then $95',
  ]);
});

test('the landing page shows whether a purchase APR follows an index, and the deposits of a secured card', () => {
  const shown = figuresOf({ variable: true, security_deposit_min: 200, security_deposit_max: 2_500 });
  assert.ok(shown.includes('Purchase APR: 18.24% to 26.24%: variable, follows an index'));
  assert.ok(shown.includes('Security deposit: $200 to $2,500'));
  assert.ok(figuresOf({ security_deposit_min: 49 }).includes('Security deposit: $49 or more'));
});

test('the landing page shows every rate and payment of an adjustable mortgage', () => {
  const offer = {
    ...{ apr_range: { min: 6.59, max: 6.59 }, monthly_payment_estimate: 2_401.24, payment_term_months: 360 },
    mortgage: {
      ...{ rate_type: 'adjustable', fixed_months: 84, rate: 5.75, points_percent: 0.375, lender_fees: 995 },
      ...{ loan_amount: 380_000, cost_over_five_years: 110_000, nmls_id: '9900101' },
      adjustable: {
        index_percent: 3.66,
        payments: [
          { from_month: 1, rate: 5.75, payment: 2_401.24 },
          { from_month: 85, rate: 6.41, payment: 2_535.5 },
          { from_month: 130, rate: 6.41, payment: 2_351.84 },
        ],
      },
    },
  } as unknown as Offer;
  const later = mortgage.offers.figures(offer, {}).filter(({ label }) => label.startsWith('Then'));
  assert.deepEqual(
    later.map(({ label, value, note }) => [label, value, note].join(': ')),
    [
      'Then, in months 85 to 129: 6.41%, $2,535.50: if the index stays at 3.66%',
      'Then, in months 130 to 360: 6.41%, $2,351.84: if the index stays at 3.66%',
    ],
  );
});

test('the landing page shows both introductory rates of a card with the rates that follow, its bonus and its rewards', () => {
  const shown = figuresOf({
    intro_purchase_apr: { percent: 0, months: 15 },
    intro_transfer_apr: { percent: 1.99, months: 12 },
    bonus: { value: 200, spend: 1_500, months: 3 },
    rewards: [
      { category: 'base', percent: 1.5 },
      { category: 'online_shopping', percent: 3 },
    ],
  });
  for (const figure of [
    'Intro APR for purchases: 0.00%: for 15 months, then 18.24% to 26.24%',
    'Intro APR for transfers: 1.99%: for 12 months, then 19.24% to 27.24%',
    'Bonus: $200: if you spend $1,500 within 3 months',
    'Rewards: 3% on online shopping: 1.5% on all other purchases',
  ]) {
    assert.ok(shown.includes(figure), `${figure} in ${shown.join('\n')}`);
  }
  assert.match(creditCards.offers.caveat, /All purchases count at the base rate of the rewards/);
});
