import type { Vertical } from '../vertical.ts';

/** USPS codes of the states, the District of Columbia and the territories (docs/contract.md#personal-loans-fields). */
export const usStateCodes = [
  'AL', 'AK', 'AZ', 'AR', 'CA', 'CO', 'CT', 'DE', 'DC', 'FL', 'GA', 'HI', 'ID', 'IL', 'IN', 'IA', 'KS', 'KY', 'LA', 'ME',
  'MD', 'MA', 'MI', 'MN', 'MS', 'MO', 'MT', 'NE', 'NV', 'NH', 'NJ', 'NM', 'NY', 'NC', 'ND', 'OH', 'OK', 'OR', 'PA', 'RI',
  'SC', 'SD', 'TN', 'TX', 'UT', 'VT', 'VA', 'WA', 'WV', 'WI', 'WY', 'PR', 'GU', 'VI', 'AS', 'MP',
] as const; // biome-ignore format: a table of codes reads better in rows

/** Personal loans: fields, classes and bounds of docs/contract.md#personal-loans-fields. */
export const personalLoans: Vertical = {
  number: 1,
  segment: 'personal-loans',
  keyPrefix: 'svc_pl_',
  revenueModel: 'cost_per_lead',
  status: 'stable',
  fields: [
    {
      name: 'loan_amount',
      description: 'The amount the borrower asks for, in whole USD.',
      kind: 'integer',
      min: 1_000,
      max: 100_000,
    },
    {
      name: 'loan_purpose',
      description: 'What the money is for.',
      kind: 'choice',
      values: [
        'debt_consolidation',
        'home_improvement',
        'major_purchase',
        'medical_expenses',
        'moving',
        'vacation',
        'wedding',
        'business',
        'other',
      ],
    },
    {
      name: 'credit_score_range',
      description: 'Where the credit score of the borrower lies, as far as it is known.',
      kind: 'choice',
      values: ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+'],
    },
    {
      name: 'annual_income',
      description: 'Gross income of a year, in whole USD.',
      kind: 'integer',
      min: 0,
      max: 10_000_000,
    },
    {
      name: 'employment_status',
      description: 'What the borrower lives on.',
      kind: 'choice',
      values: ['employed', 'self_employed', 'retired', 'other'],
    },
    {
      name: 'state',
      description: 'USPS code of the state, district or territory of residence.',
      kind: 'choice',
      values: usStateCodes,
    },
    {
      name: 'birthdate',
      description: 'Lenders who ask for an age are left out without it.',
      kind: 'birthdate',
      minAgeYears: 18,
      maxAgeYears: 120,
    },
    {
      name: 'housing_status',
      description: 'How the borrower lives.',
      kind: 'choice',
      values: ['own', 'rent', 'other'],
    },
    {
      name: 'monthly_debt_payments',
      description: 'All payments on debt in a month, rent or mortgage included, in whole USD.',
      kind: 'integer',
      min: 0,
      max: 1_000_000,
    },
    {
      name: 'loan_term_months',
      description: 'The term the borrower asks for, in months.',
      kind: 'integer_choice',
      values: [12, 24, 36, 48, 60, 84],
    },
    {
      name: 'co_borrower',
      description: 'Whether somebody applies together with the borrower, which opens joint offers.',
      kind: 'boolean',
    },
    {
      name: 'citizenship_status',
      description: 'Lenders who ask for it are left out without it.',
      kind: 'choice',
      values: ['citizen', 'perm_resident', 'visa'],
    },
    {
      name: 'education_level',
      description: 'The highest degree.',
      kind: 'choice',
      values: ['high_school', 'bachelors', 'graduate', 'other'],
    },
    { name: 'address_zip', description: 'ZIP code of residence.', kind: 'digits', length: 5 },
  ],
  required: ['loan_amount', 'loan_purpose', 'credit_score_range', 'annual_income', 'employment_status', 'state'],
  conditional: [
    { field: 'monthly_debt_payments', when: { field: 'loan_purpose', is: 'debt_consolidation' } },
    { field: 'housing_status', when: { field: 'loan_purpose', is: 'home_improvement' } },
  ],
  roles: {
    amount: 'loan_amount',
    creditBand: 'credit_score_range',
    annualIncome: 'annual_income',
    state: 'state',
    term: 'loan_term_months',
    monthlyDebt: 'monthly_debt_payments',
    birthdate: 'birthdate',
    coBorrower: 'co_borrower',
  },
  // FICO scores end at 850.
  creditScores: [
    { min: 300, max: 579 },
    { min: 580, max: 619 },
    { min: 620, max: 659 },
    { min: 660, max: 699 },
    { min: 700, max: 749 },
    { min: 750, max: 799 },
    { min: 800, max: 850 },
  ],
  neverMatched: ['education_level', 'address_zip'],
};
