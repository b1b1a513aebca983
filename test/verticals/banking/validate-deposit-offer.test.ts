import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { banking } from '../../../src/verticals/banking/banking.ts';
import { createOfferValidation } from '../offer-errors.ts';
import { depositCatalogOf, depositWithRates, plainDeposit } from './deposit-fixtures.ts';

const { errorsOf, errorsWith, testErrors, testSchemaErrors } = createOfferValidation(banking, (changes) =>
  depositCatalogOf([{ ...plainDeposit(), ...changes }]),
);

const tier = (from: number, rate: number, apy: number) => ({ from, rate, apy });
const bonus = { amount: 100, requirement: 'Set up a direct deposit', days: 90, paid_within_days: 30 };
const cd = { product_type: 'cd', term_months: 12 };
const steps = [
  { from_month: 1, rate: 4 },
  { from_month: 7, rate: 4.5 },
];

test('accepts the plain offer of the tests, and offers with every optional member', () => {
  assert.deepEqual(errorsWith({}), []);
  assert.deepEqual(
    errorsWith({
      name: '🏦'.repeat(80),
      monthly_fee: 4.95,
      fee_waived_from: 0,
      bonus: { ...bonus, minimum_deposit: 1_000, direct_deposit: true, new_customer: true },
      daily_cap: 10,
      budget: { per_day_usd: 100, pacing: 'even' },
    }),
    [],
  );
  assert.deepEqual(errorsWith({ product_type: 'cd', term_months: 12, early_withdrawal_penalty_days: 90 }), []);
});

describe('rejects an offer, and names the place in the file', () => {
  testErrors([
    [{ name: ' \u00a0' }, 'name: must not be blank'],
    [{ tiers: [tier(100, 4, 4)] }, 'tiers[0].from: must be 0 in the first tier'],
    [
      { tiers: [tier(0, 1, 1), tier(500, 2, 2), tier(500, 3, 3)] },
      'tiers[2].from: must be greater than in the tier before',
    ],
    [
      { tiers: [tier(0, 4, 3.99)] },
      'tiers[0].apy: must not be below the rate; the annual percentage yield of this rate is 4.00',
    ],
    [
      { compounding: 'daily', tiers: [tier(0, 4, 4.08), tier(1_000, 4.5, 4.61)] },
      'tiers[1].apy: the annual percentage yield of this rate is 4.60',
    ],
    [
      { ...cd, introductory: { rate: 4, months: 3 } },
      'introductory: is allowed only if product_type is savings or money_market',
    ],
    [
      { tier_method: 'marginal', introductory: { rate: 4, months: 3 }, tiers: [tier(0, 4, 4), tier(100, 4, 4)] },
      'introductory: is not allowed with several marginal tiers',
    ],
    [{ introductory: { rate: 5, months: 6 } }, 'tiers[0].apy: the annual percentage yield of this rate is 4.50'],
    [{ steps }, 'steps: is allowed only if product_type is cd'],
    [{ ...cd, steps, tiers: [tier(0, 4, 4), tier(100, 4, 4)] }, 'steps: is allowed only with one tier'],
    [{ ...cd, steps: [{ from_month: 1, rate: 3 }, steps[1]] }, 'steps[0].rate: must be the rate of the tier'],
    [{ ...cd, steps: [{ from_month: 2, rate: 4 }, steps[1]] }, 'steps[0].from_month: must be 1 in the first step'],
    [{ ...cd, steps: [steps[0], steps[1], steps[1]] }, 'steps[2].from_month: must be greater than in the step before'],
    [{ ...cd, steps: [steps[0], { from_month: 13, rate: 5 }] }, 'steps[1].from_month: must not be after the term'],
    [{ ...cd, steps }, 'tiers[0].apy: the annual percentage yield of this rate is 4.25'],
    [
      { bonus: { amount: 100, requirement: 'Set up a direct deposit', days: 90 } },
      'bonus.paid_within_days: is required: an advertisement states when a bonus is paid',
    ],
    [
      { product_type: 'cd', term_months: 6, tiers: [tier(0, 4, 4)] },
      'tiers[0].apy: the annual percentage yield of this rate is 4.04',
    ],
    [
      { tier_method: 'marginal', tiers: [tier(0, 1, 1), tier(1_000, 4, 4)] },
      'tiers[1].apy: the annual percentage yield of this rate is 1.00',
    ],
    [{ product_type: 'gold' }, 'product_type: is not a value of product_type'],
    [{ product_type: 'cd' }, 'term_months: is required if product_type is cd'],
    [
      { product_type: 'cd', term_months: 11, tiers: [tier(0, 0, 0)] },
      'term_months: must be one of 3, 6, 9, 12, 18, 24, 36, 48, 60',
    ],
    [{ term_months: 12 }, 'term_months: is allowed only if product_type is cd'],
    [{ early_withdrawal_penalty_days: 90 }, 'early_withdrawal_penalty_days: is allowed only if product_type is cd'],
    [{ monthly_fee: 4.999 }, 'monthly_fee: must have at most two decimals'],
    [{ fee_waived_from: 100 }, 'fee_waived_from: is not allowed if monthly_fee is 0'],
    [{ legal: 'Plain Bank pays the APY shown.' }, 'legal: must contain the words "annual percentage yield"'],
    [
      { legal: 'Annual percentage yield as shown. Member FDIC.' },
      'legal: must contain the name of the insured institution: the name of the lender',
    ],
    [{ insured_by: 'ncua' }, 'legal: must not contain "Member FDIC" if insured_by is ncua'],
    [
      { legal: 'Plain Bank: annual percentage yield (APY) as shown. Federally insured by NCUA.' },
      'legal: must not contain "insured by NCUA" if insured_by is fdic',
    ],
    [{ bonus: { ...bonus, requirement: ' ' } }, 'bonus.requirement: must not be blank'],
    [
      { bonus: { ...bonus, requirement: 'Set up\na direct deposit' } },
      'bonus.requirement: must not contain control characters',
    ],
    [
      { bonus: { ...bonus, requirement: 'Set up a direct deposit \ud800' } },
      'bonus.requirement: must not contain a lone surrogate',
    ],
    [{ as_of: '2026-08-02' }, 'as_of: must not be in the future'],
  ]);

  testSchemaErrors([
    [{ name: undefined }, ''],
    [{ name: '' }, 'name'],
    [{ name: 'n'.repeat(81) }, 'name'],
    [{ tiers: [] }, 'tiers'],
    [{ tiers: [tier(0, -1, 0)] }, 'tiers[0].rate'],
    [{ compounding: 'hourly' }, 'compounding'],
    [{ tier_method: 'split' }, 'tier_method'],
    [{ minimum_deposit: 10_000_001 }, 'minimum_deposit'],
    [{ bonus: { ...bonus, amount: 0 } }, 'bonus.amount'],
    [{ bonus: { ...bonus, days: 366 } }, 'bonus.days'],
    [{ bonus: { ...bonus, direct_deposit: false } }, 'bonus.direct_deposit'],
    [{ certificate_number: '12A' }, 'certificate_number'],
    [{ certificate_number: '012345' }, 'certificate_number'],
    [{ certificate_number: '1234567' }, 'certificate_number'],
    [{ insured_by: 'sipc' }, 'insured_by'],
    [{ payout_model: 'cost_per_lead' }, 'payout_model'],
    [{ legal: undefined }, ''],
    [{ as_of: undefined }, ''],
    [{ terms_url: undefined }, ''],
  ]);

  test('another insurer or certificate number than in the first offer of the lender', () => {
    const other = { id: 'other', name: 'Other Savings', insured_by: 'ncua', certificate_number: '999998' } as const;
    const legal = 'Plain Bank pays the annual percentage yield (APY) shown.';
    assert.deepEqual(errorsOf(depositCatalogOf([plainDeposit(), plainDeposit({ ...other, legal })])), [
      'lenders[0].offers[1].insured_by: must be the same in all offers of a lender',
      'lenders[0].offers[1].certificate_number: must be the same in all offers of a lender',
    ]);
  });

  test('a first offer that is not an object is reported only once', () => {
    const catalog = depositCatalogOf([plainDeposit()]);
    const lender = { ...catalog.lenders[0], offers: [null, plainDeposit()] };
    assert.deepEqual(errorsOf({ ...catalog, lenders: [lender] }), ['lenders[0].offers[0]: must be object']);
  });

  test('a lender name that is not a string is reported only once', () => {
    const catalog = depositCatalogOf([plainDeposit()]);
    const errors = errorsOf({ ...catalog, lenders: [{ ...catalog.lenders[0], name: 7 }] });
    assert.deepEqual(errors, ['lenders[0].name: must be string']);
  });
});

test('accepts a yield below the rate if the rate has three decimals and the yield is rounded down', () => {
  assert.deepEqual(errorsOf(depositCatalogOf([depositWithRates([{ from: 0, rate: 4.004 }])])), []);
});
