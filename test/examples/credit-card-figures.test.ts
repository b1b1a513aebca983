import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Offer } from '../../examples/landing-page/api/marketplace-api.ts';
import { creditCards } from '../../examples/landing-page/products/credit-cards.ts';

const purchaseApr = { min: 18.24, max: 26.24 };
const plainCard: NonNullable<Offer['card']> = {
  name: 'Everyday Cash',
  annual_fee: 95,
  annual_fee_first_year: 0,
  transfer_apr: { min: 19.24, max: 27.24 },
  intro_purchase_apr: null,
  intro_transfer_apr: null,
  rewards: [{ category: 'base', percent: 0 }],
  bonus: null,
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
