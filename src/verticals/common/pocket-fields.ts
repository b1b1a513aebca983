import { usStateCodes } from '../../domain/us-states.ts';
import type { PocketField } from '../../domain/vertical.ts';

/** Fields that several verticals have, with the same values. Their description can differ. */

export const stateField = (
  description = 'USPS code of the state, district or territory of residence.',
): PocketField => ({ name: 'state', description, kind: 'choice', values: usStateCodes });

export const creditScoreField = (description: string): PocketField => ({
  name: 'credit_score_range',
  description,
  kind: 'choice',
  values: ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'],
});

export const annualIncomeField = (description: string): PocketField => ({
  name: 'annual_income',
  description,
  kind: 'integer',
  min: 0,
  max: 10_000_000,
});

export const monthlyDebtField = (description: string): PocketField => ({
  name: 'monthly_debt_payments',
  description,
  kind: 'integer',
  min: 0,
  max: 1_000_000,
});

export const employmentField = (description: string): PocketField => ({
  name: 'employment_status',
  description,
  kind: 'choice',
  values: ['employed', 'self_employed', 'retired', 'other'],
});

export const citizenshipField = (description: string): PocketField => ({
  name: 'citizenship_status',
  description,
  kind: 'choice',
  values: ['citizen', 'perm_resident', 'visa'],
});

export const birthdateField = (description: string): PocketField => ({
  name: 'birthdate',
  description,
  kind: 'birthdate',
  minAgeYears: 18,
  maxAgeYears: 120,
});

export const zipField: PocketField = {
  name: 'address_zip',
  description: 'ZIP code of residence.',
  kind: 'digits',
  length: 5,
};
