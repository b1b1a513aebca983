import { bounds } from '../../bounds.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  annualIncomeField,
  birthdateField,
  citizenshipField,
  creditScoreField,
  employmentField,
  stateField,
  zipField,
} from '../common/pocket-fields.ts';

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
    creditScoreField('Range of the credit score, as far as it is known.'),
    annualIncomeField('Gross income per year, in whole USD.'),
    stateField(),
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
    employmentField('Main source of income.'),
    {
      name: 'annual_fee_accepted',
      description: 'With `false`, cards with an annual fee are excluded.',
      kind: 'boolean',
    },
    birthdateField('Without a birthdate, cards with a minimum age are excluded.'),
    citizenshipField('Without this field, cards with a condition on it are excluded.'),
    zipField,
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
