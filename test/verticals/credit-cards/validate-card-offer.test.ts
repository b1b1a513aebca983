import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { creditCards } from '../../../src/verticals/credit-cards/credit-cards.ts';
import { createOfferValidation } from '../offer-errors.ts';
import { cardCatalogOf, plainBand, plainCard } from './card-fixtures.ts';

const at = 'lenders[0].offers[0]';
const { errorsOf, errorsWith, warningsWith, testErrors, testSchemaErrors } = createOfferValidation(
  creditCards,
  (changes) => cardCatalogOf([{ ...plainCard(), ...changes }]),
);

const band = (changes: object) => ({ bands: { '750-799': { ...plainBand(), ...changes } } });
const base = { category: 'base', percent: 1 };

test('accepts the plain card of the tests, and a card with every optional member', () => {
  assert.deepEqual(errorsWith({}), []);
  assert.deepEqual(
    errorsWith({
      name: '💳'.repeat(80),
      annual_fee: 95.5,
      annual_fee_first_year: 0,
      penalty_apr: 29.99,
      intro_purchase_apr: { percent: 0, months: 6 },
      intro_transfer_apr: { percent: 2.99, months: 60 },
      bonus: { value: 200, spend: 0, months: 12 },
      variable: false,
      security_deposit_min: 49,
      security_deposit_max: 49,
      daily_cap: 10,
      grace_period_days: 0,
      ...band({ transfer_apr: { min: 19.24, max: 26.24 } }),
    }),
    [],
  );
});

describe('rejects a card, and names the place in the file', () => {
  testErrors([
    [{ name: ' \u00a0' }, 'name: must not be blank'],
    [{ name: 'Every\u0007day' }, 'name: must not contain control characters'],
    [{ name: 'Every\ud83dday' }, 'name: must not contain a lone surrogate'],
    [{ purposes: ['cash_back', 'gold'] }, 'purposes[1]: is not a value of card_purpose'],
    [{ purposes: ['travel', 'travel'] }, 'purposes: must not repeat a value'],
    [{ rewards: [{ category: 'gas', percent: 1 }] }, 'rewards: must hold a rate for the category base'],
    [{ rewards: [base, base] }, 'rewards: must not repeat a category'],
    [
      { security_deposit_min: 200, security_deposit_max: 199.99 },
      'security_deposit_max: must be at least security_deposit_min, which must be present',
    ],
    [
      { security_deposit_max: 200 },
      'security_deposit_max: must be at least security_deposit_min, which must be present',
    ],
    [
      { security_deposit_min: 200, security_deposit_max: 2_500.005 },
      'security_deposit_max: must have at most two decimals',
    ],
    [{ bands: {} }, 'bands: must hold at least one band'],
    [{ bands: { '1-2': plainBand() } }, 'bands.1-2: is not a value of credit_score_range'],
    [band({ purchase_apr: { min: 20, max: 19.99 } }), 'bands.750-799.purchase_apr: min must not exceed max'],
    [band({ transfer_apr: { min: 20, max: 19.99 } }), 'bands.750-799.transfer_apr: min must not exceed max'],
    [
      band({ purchase_apr: { min: 20.123, max: 25 } }),
      'bands.750-799.purchase_apr.min: must have at most two decimals',
    ],
    [
      { intro_purchase_apr: { percent: 18.24, months: 12 } },
      'intro_purchase_apr.percent: must be below the APRs of all bands that follow it',
    ],
    [
      { intro_transfer_apr: { percent: 10, months: 12 }, ...band({ transfer_apr: { min: 9.99, max: 12 } }) },
      'intro_transfer_apr.percent: must be below the APRs of all bands that follow it',
    ],
    [{ penalty_apr: 26.23 }, 'penalty_apr: must be at least the highest purchase APR of the bands'],
    [{ grace_period_days: 20 }, 'grace_period_days: must be 0 or at least 21'],
    [{ as_of: '2026-08-02' }, 'as_of: must not be in the future'],
  ]);

  for (const [changes, path] of [
    [{ annual_fee: 9.999 }, 'annual_fee'],
    [{ annual_fee_first_year: 9.999 }, 'annual_fee_first_year'],
    [{ cash_advance_apr: 29.999 }, 'cash_advance_apr'],
    [{ penalty_apr: 29.999 }, 'penalty_apr'],
    [{ intro_purchase_apr: { percent: 1.999, months: 12 } }, 'intro_purchase_apr.percent'],
    [{ intro_transfer_apr: { percent: 1.999, months: 12 } }, 'intro_transfer_apr.percent'],
    [{ minimum_interest_charge: 0.505 }, 'minimum_interest_charge'],
    [{ transfer_fee: { percent: 2.505, min: 5 } }, 'transfer_fee.percent'],
    [{ cash_advance_fee: { percent: 5, min: 9.999 } }, 'cash_advance_fee.min'],
    [{ foreign_transaction_fee_percent: 2.705 }, 'foreign_transaction_fee_percent'],
    [{ late_fee_max: 39.999 }, 'late_fee_max'],
    [{ returned_payment_fee_max: 39.999 }, 'returned_payment_fee_max'],
    [{ rewards: [base, { category: 'gas', percent: 1.125 }] }, 'rewards[1].percent'],
    [{ bonus: { value: 1.001, spend: 1, months: 1 } }, 'bonus.value'],
    [{ security_deposit_min: 49.001 }, 'security_deposit_min'],
  ] as const) {
    test(`three decimals in ${path}`, () => {
      assert.deepEqual(errorsWith(changes), [`${at}.${path}: must have at most two decimals`]);
    });
  }

  for (const [path, largest, above, createChanges] of [
    ['late_fee_max', 10_000, 0.01, (late_fee_max: number) => ({ late_fee_max })],
    ['bonus.spend', 10_000, 0.01, (spend: number) => ({ bonus: { value: 1, spend, months: 1 } })],
    ['transfer_fee.percent', 20, 0.01, (percent: number) => ({ transfer_fee: { percent, min: 0 } })],
    ['rewards[0].percent', 20, 0.01, (percent: number) => ({ rewards: [{ ...base, percent }] })],
    ['intro_purchase_apr.months', 60, 1, (months: number) => ({ intro_purchase_apr: { percent: 0, months } })],
    ['grace_period_days', 90, 1, (grace_period_days: number) => ({ grace_period_days })],
  ] as const) {
    test(`${path} above its maximum, but not the maximum itself`, () => {
      assert.deepEqual(errorsWith(createChanges(largest)), []);
      const [error] = errorsWith(createChanges(largest + above));
      assert.ok(error!.startsWith(`${at}.${path}: must be <= ${largest}`), error);
    });
  }

  test('more categories of rewards than the maximum', () => {
    const rewards = Array.from({ length: 16 }, (_, at) => ({
      ...base,
      category: `c${at}`,
    }));
    assert.deepEqual(errorsWith({ rewards: [base, ...rewards.slice(1)] }), []);
    assert.ok(errorsWith({ rewards: [base, ...rewards] })[0]!.startsWith(`${at}.rewards: `));
  });

  test('two cards of one issuer with the same name', () => {
    assert.deepEqual(errorsOf(cardCatalogOf([plainCard(), plainCard({ id: 'other' })])), [
      'lenders[0].offers[1].name: is the same as lenders[0].offers[0].name',
    ]);
  });

  testSchemaErrors([
    [{ payout_model: 'cost_per_lead' }, 'payout_model'],
    [{ amount: { min: 1_000, max: 2_000 } }, 'amount'],
    [{ state_rules: {} }, 'state_rules'],
    [{ name: undefined }, ''],
    [{ name: '' }, 'name'],
    [{ name: 'n'.repeat(81) }, 'name'],
    [{ legal: undefined }, ''],
    [{ terms_url: undefined }, ''],
    [{ as_of: undefined }, ''],
    [{ cash_advance_apr: 36.01 }, 'cash_advance_apr'],
    [{ intro_purchase_apr: { percent: 0, months: 5 } }, 'intro_purchase_apr.months'],
    [{ bonus: { value: 1, spend: 1, months: 13 } }, 'bonus.months'],
    [{ balance_method: 'two_cycle' }, 'balance_method'],
    [{ late_fee_max: -1 }, 'late_fee_max'],
    [{ purposes: [] }, 'purposes'],
    [{ anual_fee: 0 }, 'anual_fee'],
    [band({ approval_likelihood: 1.01 }), 'bands.750-799.approval_likelihood'],
  ]);
});

test('rejects a criterion on the ZIP code', () => {
  const [error] = errorsWith({ criteria: [{ field: 'address_zip', in: ['94110'] }] });
  assert.match(error!, /criteria\[0\]\.field: names a field that must not influence offers/);
});

test('warns about a card that does not say whether its APR varies, and about a secured card without a largest deposit', () => {
  assert.deepEqual(warningsWith({ variable: true }), []);
  assert.deepEqual(warningsWith({ variable: false, security_deposit_min: 200, security_deposit_max: 200 }), []);
  assert.deepEqual(warningsWith({ security_deposit_min: 200 }), [
    `${at}.security_deposit_max: is missing, so the card is shown for balances and transfers of any amount`,
    `${at}.variable: is missing: say whether the purchase APR follows an index (12 CFR 1026.60(b)(1))`,
  ]);
});
