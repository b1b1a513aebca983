import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { emptyFieldVector } from '../../src/verticals/field-vector.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { computeReadiness } from '../../src/verticals/pocket-fields.ts';
import { validateFields } from '../../src/verticals/pocket-fields.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';

const required = {
  loan_amount: 15_000,
  loan_purpose: 'wedding',
  credit_score_range: '700-749',
  annual_income: 0,
  employment_status: 'employed',
  state: 'CA',
};

function readiness(fields: object) {
  const { invalid, changes } = validateFields(personalLoans, fields, 2026_05_20);
  assert.deepEqual(invalid, []);
  const vector = emptyFieldVector(personalLoans);
  for (let at = 0; at < changes.length; at += 2) vector[changes[at]!] = changes[at + 1]!;
  return computeReadiness(personalLoans, vector);
}

describe('readiness', () => {
  it('readiness is insufficient without fields, and lists all required fields as missing', () => {
    assert.deepEqual(readiness({}), {
      matchReadiness: 'insufficient',
      missingRequired: Object.keys(required),
      missingConditional: [],
    });
  });

  for (const missing of Object.keys(required)) {
    it(`readiness is insufficient while ${missing} is missing`, () => {
      const { matchReadiness, missingRequired } = readiness({ ...required, [missing]: null });
      assert.equal(matchReadiness, 'insufficient');
      assert.deepEqual(missingRequired, [missing]);
    });
  }

  it('readiness is high with the required fields if no conditional field applies', () => {
    assert.deepEqual(readiness(required), { matchReadiness: 'high', missingRequired: [], missingConditional: [] });
  });

  for (const [purpose, field, value] of [
    ['debt_consolidation', 'monthly_debt_payments', 0],
    ['home_improvement', 'housing_status', 'own'],
  ] as const) {
    it(`readiness is partial for ${purpose} without ${field}, and high with this field`, () => {
      const fields = { ...required, loan_purpose: purpose };
      assert.deepEqual(readiness(fields), {
        matchReadiness: 'partial',
        missingRequired: [],
        missingConditional: [field],
      });
      assert.equal(readiness({ ...fields, [field]: value }).matchReadiness, 'high');
    });

    it(`readiness is insufficient for ${purpose} without ${field} if a required field is also missing`, () => {
      assert.deepEqual(readiness({ ...required, loan_purpose: purpose, state: null }), {
        matchReadiness: 'insufficient',
        missingRequired: ['state'],
        missingConditional: [field],
      });
    });
  }

  for (const purpose of ['major_purchase', 'medical_expenses', 'moving', 'vacation', 'wedding', 'business', 'other']) {
    it(`requires no conditional field for ${purpose}`, () => {
      assert.equal(readiness({ ...required, loan_purpose: purpose }).matchReadiness, 'high');
    });
  }

  it('rejects a vertical whose readiness rules contain an unknown field', () => {
    const broken: Vertical = { ...personalLoans, required: ['no_such_field'] };
    assert.throws(() => computeReadiness(broken, emptyFieldVector(broken)), /no_such_field/);
  });
});
