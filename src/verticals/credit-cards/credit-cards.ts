import { bounds } from '../../bounds.ts';
import { usStateCodes } from '../../domain/us-states.ts';
import type { Vertical } from '../../domain/vertical.ts';

/** Credit cards: the fields, choices and limits of docs/verticals/credit-cards.md#fields. */
export const creditCards: Vertical = {
  number: 2,
  segment: 'credit-cards',
  keyPrefix: 'svc_cc_',
  revenueModel: 'cost_per_click',
  status: 'beta',
  clicksConfirmRevenue: true,
  product: 'credit_card',
  fields: [
    {
      name: 'card_purpose',
      description: 'Main use of the card.',
      kind: 'choice',
      values: ['cash_back', 'travel', 'balance_transfer', 'low_interest', 'build_credit', 'student'],
    },
    {
      name: 'credit_score_range',
      description: 'Range of the credit score, as far as it is known.',
      kind: 'choice',
      values: ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'],
    },
    {
      name: 'annual_income',
      description: 'Gross income per year, in whole USD.',
      kind: 'integer',
      min: 0,
      max: 10_000_000,
    },
    {
      name: 'state',
      description: 'USPS code of the state, district or territory of residence.',
      kind: 'choice',
      values: usStateCodes,
    },
    {
      name: 'transfer_amount',
      description: 'Debt that the borrower wants to transfer to the card, in whole USD.',
      kind: 'integer',
      min: 100,
      max: bounds.cardAmountUsdMax,
    },
    {
      name: 'monthly_spend',
      description: 'Purchases with the card per month, in whole USD.',
      kind: 'integer',
      min: 0,
      max: bounds.cardAmountUsdMax,
    },
    {
      name: 'carried_balance',
      description: 'Purchases that the borrower repays over twelve months, in whole USD.',
      kind: 'integer',
      min: 0,
      max: bounds.cardAmountUsdMax,
    },
    {
      name: 'employment_status',
      description: 'Main source of income.',
      kind: 'choice',
      values: ['employed', 'self_employed', 'retired', 'other'],
    },
    {
      name: 'annual_fee_accepted',
      description: 'With `false`, cards with an annual fee are excluded.',
      kind: 'boolean',
    },
    {
      name: 'birthdate',
      description: 'Without a birthdate, cards with a minimum age are excluded.',
      kind: 'birthdate',
      minAgeYears: 18,
      maxAgeYears: 120,
    },
    {
      name: 'citizenship_status',
      description: 'Without this field, cards with a condition on it are excluded.',
      kind: 'choice',
      values: ['citizen', 'perm_resident', 'visa'],
    },
    { name: 'address_zip', description: 'ZIP code of residence.', kind: 'digits', length: 5 },
  ],
  required: ['card_purpose', 'credit_score_range', 'annual_income', 'state'],
  conditional: [
    { field: 'transfer_amount', when: { field: 'card_purpose', is: 'balance_transfer' } },
    { field: 'monthly_spend', when: { field: 'card_purpose', is: 'cash_back' } },
    { field: 'monthly_spend', when: { field: 'card_purpose', is: 'travel' } },
    { field: 'carried_balance', when: { field: 'card_purpose', is: 'low_interest' } },
  ],
  roles: {
    creditBand: 'credit_score_range',
    annualIncome: 'annual_income',
    state: 'state',
    birthdate: 'birthdate',
  },
  neverMatched: ['address_zip'],
};
