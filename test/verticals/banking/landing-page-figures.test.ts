import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Offer } from '../../../examples/landing-page/api/marketplace-api.ts';
import { banking } from '../../../examples/landing-page/products/banking.ts';

/** Returns figures of the card of an offer on the landing page, by label. */
function figuresOf(deposit: Partial<NonNullable<Offer['deposit']>>) {
  const offer = {
    as_of: '2025-11-01',
    deposit: {
      apy: 4,
      variable: true,
      first_year_earnings: 400,
      minimum_deposit: 0,
      minimum_balance_for_apy: 0,
      ...{ monthly_fee: 0, fee_waived_from: null, term_months: null, early_withdrawal_penalty_days: null, bonus: null },
      ...deposit,
    },
  } as Offer;
  return new Map(banking.offers.figures(offer, {}).map(({ label, ...figure }) => [label, figure]));
}

test('the landing page shows the monthly fee with its waiver', () => {
  const feeOf = (deposit: Parameters<typeof figuresOf>[0]) => figuresOf(deposit).get('Monthly fee');
  assert.deepEqual(feeOf({}), { value: 'None' });
  assert.deepEqual(feeOf({ monthly_fee: 4.95 }), { value: '$4.95' });
  assert.deepEqual(feeOf({ monthly_fee: 12, fee_waived_from: 1_500 }), {
    value: '$12.00',
    note: 'none from a balance of $1,500',
  });
});

test('the landing page shows a bonus with its requirement and deadline', () => {
  const bonus = { amount: 300, requirement: 'Receive a direct deposit of $1,000', days: 90 };
  assert.equal(figuresOf({}).get('Bonus'), undefined);
  assert.deepEqual(figuresOf({ bonus }).get('Bonus'), {
    value: '$300',
    note: 'Receive a direct deposit of $1,000; to be met within 90 days of opening',
  });
});
