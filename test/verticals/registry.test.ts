import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { knownVerticals } from '../../src/verticals/registry.ts';

test('the registry contains the five verticals of the contract', () => {
  assert.deepEqual(
    knownVerticals().map(({ number, segment, keyPrefix, status }) => `${number} ${segment} ${keyPrefix} ${status}`),
    [
      '1 personal-loans svc_pl_ stable',
      '2 credit-cards svc_cc_ beta',
      '3 mortgage svc_mo_ beta',
      '4 banking svc_bk_ beta',
      '5 find-advisor svc_fa_ planned',
    ],
  );
});

test('personal loans have the fields of the contract, in the order of the stored session fields', () => {
  const required = 'loan_amount loan_purpose credit_score_range annual_income employment_status state';
  const optional = 'birthdate housing_status monthly_debt_payments loan_term_months co_borrower citizenship_status';
  const names = personalLoans.fields.map(({ name }) => name).join(' ');
  assert.equal(names, `${required} ${optional} education_level address_zip`);
  assert.equal(personalLoans.required.join(' '), required);
});
