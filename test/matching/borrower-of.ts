import { emptyFieldVector, type FieldVector } from '../../src/verticals/field-vector.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { validateFields } from '../../src/verticals/validate-fields.ts';
import type { Vertical } from '../../src/verticals/vertical.ts';

/** The day all tests of offers happen on. */
export const today = 20260801;

/** The vector of a borrower who submitted these fields. */
export function borrowerOf(fields: Readonly<Record<string, unknown>>, vertical: Vertical = personalLoans): FieldVector {
  const { invalid, unknown, changes } = validateFields(vertical, fields, today);
  if (invalid.length > 0 || unknown.length > 0)
    throw new Error(`not pocket fields: ${JSON.stringify({ invalid, unknown })}`);
  const vector = emptyFieldVector(vertical);
  for (let at = 0; at < changes.length; at += 2) vector[changes[at]!] = changes[at + 1]!;
  return vector;
}

/** A borrower most lenders like. */
export const goodBorrower = {
  loan_amount: 15_000,
  loan_purpose: 'debt_consolidation',
  credit_score_range: '700-749',
  annual_income: 85_000,
  employment_status: 'employed',
  state: 'CA',
  monthly_debt_payments: 1_500,
} as const;
