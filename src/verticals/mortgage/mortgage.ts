import { bounds } from '../../bounds.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  annualIncomeField,
  birthdateField,
  creditScoreField,
  monthlyDebtField,
  stateField,
  zipField,
} from '../common/pocket-fields.ts';

const { mortgagePropertyValueUsdMax } = bounds;

/** Mortgages: the fields, choices and limits of docs/verticals/mortgage.md#fields. */
export const mortgage: Vertical = {
  number: 3,
  segment: 'mortgage',
  keyPrefix: 'svc_mo_',
  revenueModel: 'cost_per_lead',
  status: 'beta',
  flatPayout: true,
  product: 'mortgage_loan',
  fields: [
    {
      name: 'loan_purpose',
      description: 'Whether the borrower buys a home, replaces a mortgage, or replaces it with a larger one.',
      kind: 'choice',
      values: ['purchase', 'refinance', 'cash_out'],
    },
    {
      name: 'property_type',
      description: 'The kind of home; multi_family is a house with two to four units.',
      kind: 'choice',
      values: ['single_family', 'condo', 'townhouse', 'multi_family', 'manufactured'],
    },
    {
      name: 'occupancy',
      description: 'How the borrower will use the home.',
      kind: 'choice',
      values: ['primary', 'second_home', 'investment'],
    },
    {
      name: 'property_value',
      description: 'The price of the home, or its estimated value if the borrower owns it, in whole USD.',
      kind: 'integer',
      min: 50_000,
      max: mortgagePropertyValueUsdMax,
    },
    creditScoreField('Where the credit score of the borrower lies, as far as it is known.'),
    annualIncomeField('Gross income of a year, in whole USD.'),
    stateField('USPS code of the state, district or territory in which the home is.'),
    {
      name: 'down_payment',
      description: 'The part of the price that the borrower pays in cash, in whole USD. Required for a purchase.',
      kind: 'integer',
      min: 0,
      max: mortgagePropertyValueUsdMax,
    },
    {
      name: 'mortgage_balance',
      description: 'What the borrower owes on the home, in whole USD. Required for refinance and cash_out.',
      kind: 'integer',
      min: 0,
      max: mortgagePropertyValueUsdMax,
    },
    {
      name: 'cash_out_amount',
      description: 'The cash that the borrower wants in addition to the balance, in whole USD. Required for cash_out.',
      kind: 'integer',
      min: 1,
      max: mortgagePropertyValueUsdMax,
    },
    monthlyDebtField('All payments on debt in a month except rent and the mortgage of this home, in whole USD.'),
    {
      name: 'loan_term_months',
      description: 'The term the borrower asks for, in months.',
      kind: 'integer_choice',
      values: [120, 180, 240, 300, 360],
    },
    {
      name: 'rate_type',
      description: 'Without it, fixed and adjustable loans are shown.',
      kind: 'choice',
      values: ['fixed', 'adjustable'],
    },
    {
      name: 'veteran',
      description: 'Whether the borrower is a veteran, on active duty or otherwise eligible for a VA loan.',
      kind: 'boolean',
    },
    {
      name: 'first_time_buyer',
      description: 'Whether the borrower has owned no home in the last three years.',
      kind: 'boolean',
    },
    birthdateField('Lenders who ask for an age are left out without it.'),
    zipField,
  ],
  required: [
    'loan_purpose',
    'property_type',
    'occupancy',
    'property_value',
    'credit_score_range',
    'annual_income',
    'state',
  ],
  conditional: [
    { field: 'down_payment', when: { field: 'loan_purpose', is: 'purchase' }, isRequired: true },
    { field: 'mortgage_balance', when: { field: 'loan_purpose', is: 'refinance' }, isRequired: true },
    { field: 'mortgage_balance', when: { field: 'loan_purpose', is: 'cash_out' }, isRequired: true },
    { field: 'cash_out_amount', when: { field: 'loan_purpose', is: 'cash_out' }, isRequired: true },
  ],
  roles: {
    creditBand: 'credit_score_range',
    annualIncome: 'annual_income',
    state: 'state',
    term: 'loan_term_months',
    monthlyDebt: 'monthly_debt_payments',
    birthdate: 'birthdate',
  },
  // An order by payment could be a paid referral (docs/verticals/mortgage.md#law).
  sortOrders: ['recommended', 'lowest_apr', 'highest_amount'],
  neverMatched: ['address_zip'],
};
