import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OfferView } from '../../../src/catalogs/offer-view.ts';
import { createOfferUrls } from '../../../src/operations/click-url.ts';
import { calculateDepositPrices } from '../../../src/verticals/banking/deposit-view.ts';
import type { DepositCatalog } from '../../../src/verticals/banking/offer-schema.ts';
import { rankDeposits } from '../../../src/verticals/banking/rank-deposits.ts';
import { renderOffers } from '../../matching/priced-rankings.ts';
import {
  compileDeposits,
  depositCatalogOf,
  depositorOf,
  depositWithRates,
  plainDeposit,
  saver,
  today,
} from './deposit-fixtures.ts';

const urls = createOfferUrls({ click: 'https://go.example', cdn: 'https://cdn.example/logos' });
function renderDeposits(file: DepositCatalog, borrower: readonly number[], indexes?: readonly number[]) {
  const catalog = compileDeposits(file);
  const { orders } = rankDeposits(catalog.tables, borrower, today, null);
  const shown = indexes ?? orders.subarray(0, orders.length / 4);
  return renderOffers<OfferView & { readonly deposit: Record<string, unknown> }>(
    catalog,
    calculateDepositPrices(catalog, shown, borrower),
    urls,
  );
}

test('the deposit of an offer has every documented member, with null for absent figures', () => {
  const { views } = renderDeposits(depositCatalogOf([plainDeposit()]), depositorOf(saver));
  assert.deepEqual(views[0]!.deposit, {
    name: 'Plain Savings',
    apy: 4,
    rate: 4,
    compounding: 'annual',
    tiers: [{ from: 0, rate: 4, apy: 4 }],
    tier_method: 'whole_balance',
    term_months: null,
    minimum_deposit: 0,
    minimum_balance_for_apy: 0,
    monthly_fee: 0,
    fee_waived_from: null,
    early_withdrawal_penalty_days: null,
    bonus: null,
    introductory: null,
    steps: null,
    insured_by: 'fdic',
    certificate_number: '999999',
    variable: true,
    first_year_earnings: 400,
  });
});

test('a certificate of deposit shows its term, penalty and bonus, but not the conditions for the bonus in the catalog', () => {
  const cd = plainDeposit({
    product_type: 'cd',
    term_months: 12,
    early_withdrawal_penalty_days: 90,
    monthly_fee: 2,
    fee_waived_from: 5_000,
    bonus: {
      amount: 25,
      requirement: 'Become a customer',
      days: 30,
      minimum_deposit: 10,
      paid_within_days: 45,
      new_customer: true,
    },
  });
  const fields = { ...saver, product_type: 'cd', cd_term_months: 12 };
  const depositOf = (more: object) => {
    const { term_months, early_withdrawal_penalty_days, fee_waived_from, bonus, first_year_earnings } = renderDeposits(
      depositCatalogOf([cd]),
      depositorOf({ ...fields, ...more }),
    ).views[0]!.deposit;
    return { term_months, early_withdrawal_penalty_days, fee_waived_from, bonus, first_year_earnings };
  };
  const shown = { term_months: 12, early_withdrawal_penalty_days: 90, fee_waived_from: 5_000 };
  assert.deepEqual(depositOf({}), { ...shown, bonus: null, first_year_earnings: 400 });
  const bonus = {
    amount: 25,
    requirement: 'Become a customer',
    days: 30,
    minimum_deposit: 10,
    paid_within_days: 45,
  };
  assert.deepEqual(depositOf({ new_customer: true }), { ...shown, bonus, first_year_earnings: 425 });
});

test('shows the yield and the rate that apply to the deposit, and 0 below the minimum balance', () => {
  const rates = [
    { from: 0, rate: 2 },
    { from: 1_000, rate: 4 },
  ];
  const file = depositCatalogOf([depositWithRates(rates, { tier_method: 'marginal', minimum_balance_for_apy: 100 })]);
  const shownAt = (deposit_amount: number) => {
    const { apy, rate, tiers, first_year_earnings } = renderDeposits(file, depositorOf({ ...saver, deposit_amount }))
      .views[0]!.deposit;
    assert.deepEqual(tiers, [
      { from: 0, rate: 2, apy: 2 },
      { from: 1_000, rate: 4, apy: 2 },
    ]);
    return [apy, rate, first_year_earnings];
  };
  assert.deepEqual(shownAt(99), [0, 0, 0]);
  assert.deepEqual(shownAt(100), [2, 2, 2]);
  assert.deepEqual(shownAt(4_000), [3.5, 4, 140]);
});

test('throws for an offer that was not ranked for the depositor', () => {
  const file = depositCatalogOf([plainDeposit({ minimum_deposit: 50_000 })]);
  assert.throws(() => renderDeposits(file, depositorOf(saver), [0]), /offer plain was not ranked/);
  assert.throws(
    () => renderDeposits(file, depositorOf({ ...saver, deposit_amount: null }), [0]),
    /offer plain was not ranked/,
  );
});
