import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { generateBankingCatalog } from '../../../bench/catalogs/generate-banking-catalog.ts';
import { parseCatalog } from '../../../src/catalogs/parse-catalog.ts';
import { parseIsoDate } from '../../../src/domain/calendar.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import type { DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';
import { builtInVerticals } from '../../../src/verticals/built-in-verticals.ts';
import { depositCatalogOf, depositWithRates, plainDeposit } from './deposit-fixtures.ts';

const at = 'lenders[0].offers[0]';

function errorsOf(catalog: unknown): readonly string[] {
  const parsed = parseCatalog(
    JSON.stringify(catalog),
    builtInVerticals.withProduct(banking),
    parseIsoDate('2026-08-01')!,
  );
  return parsed.ok ? [] : parsed.errors;
}

const errorsWith = (changes: Readonly<Record<string, unknown>>) =>
  errorsOf(depositCatalogOf([{ ...plainDeposit(), ...changes } as DepositOffer]));

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

test('accepts generated catalogs, which use every optional member', () => {
  for (const seed of [1, 2, 3]) {
    const catalog = generateBankingCatalog({ seed, offers: 300, lenders: 40 });
    assert.deepEqual(errorsOf(catalog), []);
    assert.deepEqual([catalog.lenders.length, catalog.lenders.flatMap(({ offers }) => offers).length], [40, 300]);
    const text = JSON.stringify(catalog);
    for (const member of [
      ...['marginal', 'whole_balance', 'fee_waived_from', 'early_withdrawal_penalty_days', 'term_months', 'daily_cap'],
      ...[
        'introductory',
        'steps',
        'paid_within_days',
        'minimum_deposit',
        'direct_deposit',
        'new_customer',
        'min_age',
        'ncua',
        'fdic',
        'quarterly',
        'annual',
      ],
    ]) {
      assert.ok(text.includes(`"${member}"`), member);
    }
  }
});

describe('rejects an offer, and names the place in the file', () => {
  for (const [name, changes, path, problem] of [
    ['a blank name', { name: ' \u00a0' }, 'name', 'must not be blank'],
    ['a first tier above 0', { tiers: [tier(100, 4, 4)] }, 'tiers[0].from', 'must be 0 in the first tier'],
    [
      'tiers out of order',
      { tiers: [tier(0, 1, 1), tier(500, 2, 2), tier(500, 3, 3)] },
      'tiers[2].from',
      'must be greater than in the tier before',
    ],
    [
      'a yield below the rate',
      { tiers: [tier(0, 4, 3.99)] },
      'tiers[0].apy',
      'must not be below the rate; the annual percentage yield of this rate is 4.00',
    ],
    [
      'a yield above the computed yield',
      { compounding: 'daily', tiers: [tier(0, 4, 4.08), tier(1_000, 4.5, 4.61)] },
      'tiers[1].apy',
      'the annual percentage yield of this rate is 4.60',
    ],
    [
      'an introductory rate of a certificate of deposit',
      { ...cd, introductory: { rate: 4, months: 3 } },
      'introductory',
      'is allowed only if product_type is savings or money_market',
    ],
    [
      'an introductory rate of several marginal tiers',
      { tier_method: 'marginal', introductory: { rate: 4, months: 3 }, tiers: [tier(0, 4, 4), tier(100, 4, 4)] },
      'introductory',
      'is not allowed with several marginal tiers',
    ],
    [
      'a yield without the introductory rate',
      { introductory: { rate: 5, months: 6 } },
      'tiers[0].apy',
      'the annual percentage yield of this rate is 4.50',
    ],
    ['changing rates of a savings account', { steps }, 'steps', 'is allowed only if product_type is cd'],
    [
      'changing rates beside tiers',
      { ...cd, steps, tiers: [tier(0, 4, 4), tier(100, 4, 4)] },
      'steps',
      'is allowed only with one tier',
    ],
    [
      'a first rate other than that of the tier',
      { ...cd, steps: [{ from_month: 1, rate: 3 }, steps[1]] },
      'steps[0].rate',
      'must be the rate of the tier',
    ],
    [
      'rates that begin after the first month',
      { ...cd, steps: [{ from_month: 2, rate: 4 }, steps[1]] },
      'steps[0].from_month',
      'must be 1 in the first step',
    ],
    [
      'rates out of order',
      { ...cd, steps: [steps[0], steps[1], steps[1]] },
      'steps[2].from_month',
      'must be greater than in the step before',
    ],
    [
      'a rate after the term',
      { ...cd, steps: [steps[0], { from_month: 13, rate: 5 }] },
      'steps[1].from_month',
      'must not be after the term',
    ],
    [
      'a yield of the first rate only',
      { ...cd, steps },
      'tiers[0].apy',
      'the annual percentage yield of this rate is 4.25',
    ],
    [
      'a bonus without the time of its payment',
      { bonus: { amount: 100, requirement: 'Set up a direct deposit', days: 90 } },
      'bonus.paid_within_days',
      'is required: an advertisement states when a bonus is paid',
    ],
    [
      'a yield of another term',
      { product_type: 'cd', term_months: 6, tiers: [tier(0, 4, 4)] },
      'tiers[0].apy',
      'the annual percentage yield of this rate is 4.04',
    ],
    [
      'the yield of the rate instead of the yield at the beginning of a marginal tier',
      { tier_method: 'marginal', tiers: [tier(0, 1, 1), tier(1_000, 4, 4)] },
      'tiers[1].apy',
      'the annual percentage yield of this rate is 1.00',
    ],
    ['an unknown kind of account', { product_type: 'gold' }, 'product_type', 'is not a value of product_type'],
    ['a certificate without a term', { product_type: 'cd' }, 'term_months', 'is required if product_type is cd'],
    [
      'a term that no depositor can choose',
      { product_type: 'cd', term_months: 11, tiers: [tier(0, 0, 0)] },
      'term_months',
      'must be one of 3, 6, 9, 12, 18, 24, 36, 48, 60',
    ],
    ['a term of a savings account', { term_months: 12 }, 'term_months', 'is allowed only if product_type is cd'],
    [
      'a penalty of a savings account',
      { early_withdrawal_penalty_days: 90 },
      'early_withdrawal_penalty_days',
      'is allowed only if product_type is cd',
    ],
    ['a fee of a tenth of a cent', { monthly_fee: 4.999 }, 'monthly_fee', 'must have at most two decimals'],
    ['a waiver without a fee', { fee_waived_from: 100 }, 'fee_waived_from', 'is not allowed if monthly_fee is 0'],
    [
      'a disclosure that only abbreviates the yield',
      { legal: 'Plain Bank pays the APY shown.' },
      'legal',
      'must contain the words "annual percentage yield"',
    ],
    [
      'a disclosure that does not name the institution',
      { legal: 'Annual percentage yield as shown. Member FDIC.' },
      'legal',
      'must contain the name of the insured institution: the name of the lender',
    ],
    [
      'a disclosure of an FDIC member whose insurer is NCUA',
      { insured_by: 'ncua' },
      'legal',
      'must not contain "Member FDIC" if insured_by is ncua',
    ],
    [
      'a disclosure of an NCUA insurance whose insurer is FDIC',
      { legal: 'Plain Bank: annual percentage yield (APY) as shown. Federally insured by NCUA.' },
      'legal',
      'must not contain "insured by NCUA" if insured_by is fdic',
    ],
    [
      'a blank requirement of a bonus',
      { bonus: { ...bonus, requirement: ' ' } },
      'bonus.requirement',
      'must not be blank',
    ],
    [
      'a control character in the requirement of a bonus',
      { bonus: { ...bonus, requirement: 'Set up\na direct deposit' } },
      'bonus.requirement',
      'must not contain control characters',
    ],
    [
      'a lone surrogate in the requirement of a bonus',
      { bonus: { ...bonus, requirement: 'Set up a direct deposit \ud800' } },
      'bonus.requirement',
      'must not contain a lone surrogate',
    ],
    ['a date in the future', { as_of: '2026-08-02' }, 'as_of', 'must not be in the future'],
  ] as const) {
    test(name, () => {
      assert.deepEqual(errorsWith(changes), [`${at}.${path}: ${problem}`]);
    });
  }

  for (const [name, changes, path] of [
    ['no name', { name: undefined }, ''],
    ['an empty name', { name: '' }, 'name'],
    ['a name of 81 characters', { name: 'n'.repeat(81) }, 'name'],
    ['no tiers', { tiers: [] }, 'tiers'],
    ['a negative rate', { tiers: [tier(0, -1, 0)] }, 'tiers[0].rate'],
    ['an unknown compounding', { compounding: 'hourly' }, 'compounding'],
    ['an unknown tier method', { tier_method: 'split' }, 'tier_method'],
    ['a minimum above the largest deposit', { minimum_deposit: 10_000_001 }, 'minimum_deposit'],
    ['a bonus of 0 USD', { bonus: { ...bonus, amount: 0 } }, 'bonus.amount'],
    ['a bonus after a year', { bonus: { ...bonus, days: 366 } }, 'bonus.days'],
    ['a bonus that excludes direct deposits', { bonus: { ...bonus, direct_deposit: false } }, 'bonus.direct_deposit'],
    ['a certificate number with letters', { certificate_number: '12A' }, 'certificate_number'],
    ['a certificate number that begins with 0', { certificate_number: '012345' }, 'certificate_number'],
    ['a certificate number with seven digits', { certificate_number: '1234567' }, 'certificate_number'],
    ['an unknown insurer', { insured_by: 'sipc' }, 'insured_by'],
    ['a payout model', { payout_model: 'cost_per_lead' }, 'payout_model'],
    ['no disclosure', { legal: undefined }, ''],
    ['no date', { as_of: undefined }, ''],
    ['no terms', { terms_url: undefined }, ''],
  ] as const) {
    test(name, () => {
      const errors = errorsWith(changes);
      assert.equal(errors.length, 1, errors.join('\n'));
      assert.ok(errors[0]!.startsWith(path === '' ? `${at}: ` : `${at}.${path}: `), errors[0]);
    });
  }

  test('another insurer or certificate number than in the first offer of the lender', () => {
    const other = { id: 'other', name: 'Other Savings', insured_by: 'ncua', certificate_number: '999998' } as const;
    const legal = 'Plain Bank pays the annual percentage yield (APY) shown.';
    assert.deepEqual(errorsOf(depositCatalogOf([plainDeposit(), plainDeposit({ ...other, legal })])), [
      'lenders[0].offers[1].insured_by: must be the same in all offers of a lender',
      'lenders[0].offers[1].certificate_number: must be the same in all offers of a lender',
    ]);
  });

  test('two accounts of one institution with the same name', () => {
    assert.deepEqual(errorsOf(depositCatalogOf([plainDeposit(), plainDeposit({ id: 'other' })])), [
      'lenders[0].offers[1].name: is the same as lenders[0].offers[0].name',
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
