import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { personalLoans } from '../../../src/verticals/personal-loans/personal-loans.ts';
import { usStateCodes } from '../../../src/verticals/us-states.ts';

describe('the personal loans vertical', () => {
  it('personal loans have the input fields of the contract, in the same order', () => {
    assert.deepEqual(
      personalLoans.fields.map(({ name }) => name),
      [
        'loan_amount',
        'loan_purpose',
        'credit_score_range',
        'annual_income',
        'employment_status',
        'state',
        'birthdate',
        'housing_status',
        'monthly_debt_payments',
        'loan_term_months',
        'co_borrower',
        'citizenship_status',
        'education_level',
        'address_zip',
      ],
    );
  });

  it('personal loans require six fields, in the order of missing_required', () => {
    assert.deepEqual(personalLoans.required, [
      'loan_amount',
      'loan_purpose',
      'credit_score_range',
      'annual_income',
      'employment_status',
      'state',
    ]);
  });

  it('accepts the fifty states, the District of Columbia and five territories', () => {
    assert.equal(new Set(usStateCodes).size, 56);
    for (const code of usStateCodes) assert.match(code, /^[A-Z]{2}$/);
    for (const code of ['DC', 'PR', 'GU', 'VI', 'AS', 'MP']) assert((usStateCodes as readonly string[]).includes(code));
    for (const code of ['AA', 'AE', 'AP', 'UM', 'FM', 'MH', 'PW', 'XX']) {
      assert(!(usStateCodes as readonly string[]).includes(code));
    }
  });
});
