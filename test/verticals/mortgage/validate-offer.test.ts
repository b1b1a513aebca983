import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bounds } from '../../../src/bounds.ts';
import { getChoiceValues } from '../../../src/domain/field-vector.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import type { MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import { createOfferValidation } from '../offer-errors.ts';
import { mortgageCatalogOf, plainMortgage } from './mortgage-fixtures.ts';

const { errorsOf, errorsWith, testErrors, testSchemaErrors } = createOfferValidation(mortgage, (changes) =>
  mortgageCatalogOf([{ ...plainMortgage(), ...changes }]),
);

const band = (changes: object) => ({
  bands: { '750-799': { max_ltv_percent: 80, approval_likelihood: 0.8, confirm_rate: 0.05, ...changes } },
});
const caps = { first: 2, periodic: 2, lifetime: 5 };
const adjustable = {
  fixed_months: 60,
  adjustment_months: 6,
  index_percent: 4.3,
  margin_percent: 2.75,
  caps_percent: caps,
};
const adjustableWith = (changes: object) => ({ adjustable: { ...adjustable, ...changes } });

test('accepts the plain offer of the tests, and offers with every optional member', () => {
  assert.deepEqual(errorsWith({}), []);
  assert.deepEqual(
    errorsWith({
      adjustable,
      max_debt_to_income_percent: 43,
      ltv_bands: [{ max_ltv_percent: 80 }, { max_ltv_percent: 95, annual_premium_percent: 0.5, points_percent: 1 }],
      ...band({ max_ltv_percent: 95, rate_percent: 0.125, lender_fees_usd: 900, prepaid_interest_days: 15 }),
      daily_cap: 10,
      budget: { per_day_usd: 500, per_month_usd: 9_000, pacing: 'even' },
    }),
    [],
  );
  assert.deepEqual(
    errorsWith({
      loan_type: 'va',
      criteria: [{ field: 'veteran', in: [true] }],
      ...band({ upfront_premium_percent: 2.15 }),
    }),
    [],
  );
});

test('accepts a lifetime cap that index and margin cannot reach', () => {
  assert.deepEqual(errorsWith(adjustableWith({ caps_percent: { ...caps, lifetime: 31 } })), []);
});

describe('rejects an offer, and names the place in the file', () => {
  const parts = 'plus the parts in terms.360 and ltv_bands[0] must be';
  testErrors([
    [{ amount: { min: 500_000, max: 400_000 } }, 'amount: min must not exceed max'],
    [{ terms: {} }, 'terms: must hold at least one term'],
    [{ terms: { '200': { rate_percent: 6 } } }, 'terms.200: is not a value of loan_term_months'],
    [
      { ...adjustableWith({ fixed_months: 120 }), terms: { '120': { rate_percent: 6 } } },
      'adjustable.fixed_months: must be less than every term',
    ],
    [
      adjustableWith({ index_percent: 0, margin_percent: 0 }),
      `adjustable.margin_percent: plus index_percent must be above 0 and at most ${bounds.aprPercentMax}`,
    ],
    [adjustableWith({ margin_percent: 2.7501 }), 'adjustable.margin_percent: must be a multiple of 0.001'],
    [
      adjustableWith({ caps_percent: { ...caps, first: 6 } }),
      'adjustable.caps_percent: first must not exceed lifetime',
    ],
    [
      { ltv_bands: [{ max_ltv_percent: 70 }, { max_ltv_percent: 70 }, { max_ltv_percent: 80 }] },
      'ltv_bands[1].max_ltv_percent: must exceed that of the band before',
    ],
    [
      { ltv_bands: [{ max_ltv_percent: 75.001 }, { max_ltv_percent: 80 }] },
      'ltv_bands[0].max_ltv_percent: must be a multiple of 0.01',
    ],
    [
      { ltv_bands: [{ max_ltv_percent: 75 }, { max_ltv_percent: 90 }] },
      'ltv_bands: must have a band that ends at 80, because mortgage insurance starts there',
    ],
    [{ bands: {} }, 'bands: must hold at least one band'],
    [band({ max_ltv_percent: 85 }), 'bands.750-799.max_ltv_percent: exceeds the last of ltv_bands'],
    [{ loan_type: 'va' }, 'criteria: must allow only veteran true, because the loan_type is va'],
    [{ terms: { '360': { rate_percent: 6.501 } } }, 'terms.360.rate_percent: must be a multiple of 0.005'],
    [band({ rate_percent: -6.5 }), `bands.750-799.rate_percent: ${parts} 0.005 to ${bounds.aprPercentMax}`],
    [band({ upfront_premium_percent: 1 }), `bands.750-799.upfront_premium_percent: ${parts} 0 for conventional`],
    [
      { loan_type: 'va', criteria: [{ field: 'veteran', in: [true] }], ...band({ annual_premium_percent: 0.5 }) },
      `bands.750-799.annual_premium_percent: ${parts} 0 for va`,
    ],
    [
      { amount: { min: 9_000, max: 750_000 }, ...band({ lender_fees_usd: 8_900 }) },
      `amount.min: is so small that the APR could exceed ${bounds.aprPercentMax} %`,
    ],
    [
      { terms: { '360': { rate_percent: 35.5, points_percent: 5 } }, ...band({ lender_fees_usd: 8_900 }) },
      `bands.750-799.rate_percent: plus the parts in terms.360 and ltv_bands[0] is so high that the APR could exceed ${bounds.aprPercentMax} %`,
    ],
    [
      {
        ...adjustableWith({ index_percent: 33, caps_percent: { ...caps, lifetime: 36 } }),
        ...band({ points_percent: 5 }),
      },
      `adjustable.margin_percent: plus index_percent is so high that the APR could exceed ${bounds.aprPercentMax} %`,
    ],
    [{ as_of: '2026-08-02' }, 'as_of: must not be in the future'],
  ]);

  testSchemaErrors([
    [{ loan_type: 'balloon' }, 'loan_type'],
    [{ payout_model: 'cost_per_click' }, 'payout_model'],
    [adjustableWith({ fixed_months: 24 }), 'adjustable.fixed_months'],
    [{ lock_days: 0 }, 'lock_days'],
    [{ ltv_bands: [{ max_ltv_percent: 100.5 }] }, 'ltv_bands[0].max_ltv_percent'],
    [{ ltv_bands: [] }, 'ltv_bands'],
    [band({ approval_likelihood: 1.1 }), 'bands.750-799.approval_likelihood'],
    [{ legal: undefined }, ''],
    [{ as_of: undefined }, ''],
    [{ terms_url: undefined }, ''],
  ]);

  for (const id of ['', '0123', '12345678901', '12 34', 'NMLS123', '-5']) {
    test(`an NMLS id "${id}"`, () => {
      const errors = errorsOf(mortgageCatalogOf([plainMortgage()], id));
      assert.equal(errors.length, 1, errors.join('\n'));
      assert.ok(errors[0]!.startsWith('lenders[0].nmls_id: '), errors[0]);
    });
  }
});

test('rejects a catalog with too many combinations of rate, term and adjustment', () => {
  const creditBands = getChoiceValues(mortgage, 'credit_score_range');
  // Each offer has its own index and 5 terms, with 8 times 7 different rates: 280 combinations.
  const offers = Array.from({ length: 179 }, (_, number) => ({
    ...plainMortgage({ id: `offer-${number}` }),
    ...adjustableWith({ index_percent: 4 + number / 1_000 }),
    terms: Object.fromEntries([120, 180, 240, 300, 360].map((term) => [term, { rate_percent: 6 }])),
    ltv_bands: Array.from({ length: 8 }, (_each, place) => ({
      max_ltv_percent: 10 * (place + 1),
      rate_percent: place / 200,
    })),
    bands: Object.fromEntries(
      creditBands.map((name, place) => [
        name,
        { max_ltv_percent: 80, rate_percent: place / 25, approval_likelihood: 0.8, confirm_rate: 0.05 },
      ]),
    ),
  })) as MortgageOffer[];
  const limit = bounds.mortgageSchedulesMax;
  assert.ok(178 * 280 <= limit && 179 * 280 > limit);
  assert.deepEqual(errorsOf(mortgageCatalogOf(offers.slice(0, 178))), []);
  assert.deepEqual(errorsOf(mortgageCatalogOf(offers)), [
    `lenders: must have at most ${limit} combinations of rate, term and adjustment`,
  ]);
});
