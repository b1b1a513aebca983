import type { Fields } from './vertical-fixture.ts';

/** Values of all required and conditional fields of a visitor, by the segment of the vertical. Many offers of the examples match. */
export const sampleBorrowers: Readonly<Record<string, Fields>> = {
  'personal-loans': {
    loan_amount: 15_000,
    loan_purpose: 'debt_consolidation',
    credit_score_range: '700-749',
    annual_income: 85_000,
    employment_status: 'employed',
    state: 'CA',
    monthly_debt_payments: 900,
  },
  'credit-cards': {
    card_purpose: 'cash_back',
    credit_score_range: '750-799',
    annual_income: 85_000,
    state: 'TX',
    monthly_spend: 2_000,
  },
  mortgage: {
    loan_purpose: 'purchase',
    property_type: 'single_family',
    occupancy: 'primary',
    property_value: 400_000,
    credit_score_range: '750-799',
    annual_income: 140_000,
    state: 'TX',
    down_payment: 80_000,
    monthly_debt_payments: 600,
  },
  banking: { product_type: 'savings', deposit_amount: 12_000, state: 'TX', new_customer: true, direct_deposit: true },
  'find-advisor': { advice_topic: 'retirement', investable_assets: 400_000, state: 'TX' },
};
