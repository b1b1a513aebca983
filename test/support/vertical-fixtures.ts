import { readFileSync } from 'node:fs';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import type { LoanCatalog } from '../../src/verticals/personal-loans/offer-schema.ts';
import { personalLoans } from '../../src/verticals/personal-loans/personal-loans.ts';
import { equipmentLeaseCatalog, equipmentLeases } from './equipment-leases.ts';
import {
  birthdateCases,
  choiceCases,
  flagCases,
  integerCases,
  integerChoiceCases,
  invalidValues,
  type VerticalFixture,
} from './vertical-fixture.ts';

const catalogs = builtInVerticals.createCatalogSources(
  personalLoans,
  builtInVerticals.exampleCatalogFile(personalLoans),
);
const readCatalog = (mode: 'live' | 'test'): LoanCatalog => {
  const source = catalogs.find((candidate) => candidate.mode === mode);
  if (source === undefined || !('file' in source)) throw new Error('the example catalogs are files');
  return JSON.parse(readFileSync(source.file, 'utf8')) as LoanCatalog;
};

const states =
  'AL AK AZ AR CA CO CT DE DC FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA ' +
  'RI SC SD TN TX UT VT VA WA WV WI WY PR GU VI AS MP';
const purposes =
  'debt_consolidation home_improvement major_purchase medical_expenses moving vacation wedding business other';

const completeBorrower = {
  loan_amount: 10_000,
  loan_purpose: 'major_purchase',
  credit_score_range: '750-799',
  annual_income: 120_000,
  employment_status: 'employed',
  state: 'CA',
  monthly_debt_payments: 500,
  housing_status: 'own',
  citizenship_status: 'citizen',
  birthdate: '1980-01-01',
};

/** Fields and values copied from docs/contract.md#personal-loans-fields, independent of the code. */
export const personalLoansFixture: VerticalFixture = {
  vertical: personalLoans,
  catalogs,
  catalogFiles: { live: readCatalog('live'), test: readCatalog('test') },
  complete: completeBorrower,
  unmatched: { ...completeBorrower, loan_amount: 100_000, credit_score_range: '300-579', annual_income: 0 },
  required: ['loan_amount', 'loan_purpose', 'credit_score_range', 'annual_income', 'employment_status', 'state'],
  conditional: [
    {
      when: { loan_purpose: 'debt_consolidation' },
      unless: { loan_purpose: 'moving' },
      field: 'monthly_debt_payments',
      value: 0,
    },
    {
      when: { loan_purpose: 'home_improvement' },
      unless: { loan_purpose: 'debt_consolidation', monthly_debt_payments: 10 },
      field: 'housing_status',
      value: 'rent',
    },
  ],
  fields: [
    integerCases('loan_amount', 1_000, 100_000),
    choiceCases('loan_purpose', purposes.split(' ')),
    choiceCases('credit_score_range', ['300-579', '580-619', '620-659', '660-699', '700-749', '750-799', '800+']),
    integerCases('annual_income', 0, 10_000_000),
    choiceCases('employment_status', ['employed', 'self_employed', 'retired', 'other']),
    choiceCases('state', states.split(' ')),
    birthdateCases('birthdate'),
    choiceCases('housing_status', ['own', 'rent', 'other']),
    integerCases('monthly_debt_payments', 0, 1_000_000),
    integerChoiceCases('loan_term_months', [12, 24, 36, 48, 60, 84]),
    flagCases('co_borrower'),
    choiceCases('citizenship_status', ['citizen', 'perm_resident', 'visa']),
    choiceCases('education_level', ['high_school', 'bachelors', 'graduate', 'other']),
    {
      name: 'address_zip',
      valid: ['00501', '94110', '99999'],
      invalid: invalidValues({
        format: ['9411', '941100', '94110-1234', '9411a', '+9411', '９４１１０', '94110\n', ''],
        type: [94110, ['94110']],
      }),
      hints: {},
    },
  ],
  creditBand: 'credit_score_range',
  amount: 'loan_amount',
  term: 'loan_term_months',
  someTerm: 84,
  clickMicros: ({ payout_usd, payout_model, bands }, band) =>
    Math.round(payout_usd * 1_000_000 * (payout_model === 'cost_per_click' ? 1 : (bands[band]?.confirm_rate ?? 0))),
};

const texts = { live: equipmentLeaseCatalog('live'), test: equipmentLeaseCatalog('test') };

const completeLessee = {
  machine_kind: 'tractor',
  machine_price: 10_000,
  trade_record: 'strong',
  yearly_takings: 500_000,
  site_state: 'CA',
  running_leases: 300,
};

export const equipmentLeasesFixture: VerticalFixture = {
  vertical: equipmentLeases,
  catalogs: [
    { vertical: equipmentLeases, mode: 'live', text: texts.live },
    { vertical: equipmentLeases, mode: 'test', text: texts.test },
  ],
  catalogFiles: { live: JSON.parse(texts.live) as LoanCatalog, test: JSON.parse(texts.test) as LoanCatalog },
  complete: completeLessee,
  unmatched: { ...completeLessee, machine_price: 60_000 },
  required: ['machine_kind', 'machine_price', 'trade_record', 'yearly_takings', 'site_state'],
  conditional: [
    { when: { machine_kind: 'tractor' }, unless: { machine_kind: 'oven' }, field: 'running_leases', value: 0 },
  ],
  fields: [
    choiceCases('site_state', ['CA', 'NY', 'TX', 'WA']),
    integerCases('machine_price', 500, 60_000),
    choiceCases('trade_record', ['thin', 'fair', 'good', 'strong']),
    integerCases('yearly_takings', 0, 50_000_000),
    choiceCases('machine_kind', ['tractor', 'lathe', 'oven', 'printer']),
    integerChoiceCases('lease_months', [12, 24, 36, 48]),
    integerCases('running_leases', 0, 200_000),
    flagCases('franchise'),
    birthdateCases('owner_born'),
    {
      name: 'site_code',
      valid: ['0001', '9999'],
      invalid: invalidValues({ format: ['001', '00001', '00o1'], type: [1234] }),
      hints: {},
    },
  ],
  creditBand: 'trade_record',
  amount: 'machine_price',
  term: 'lease_months',
  someTerm: 48,
  clickMicros: ({ payout_usd }) => payout_usd * 1_000_000,
};

/** Fixtures of all verticals that the contract suite tests. */
export const allFixtures: readonly VerticalFixture[] = [personalLoansFixture, equipmentLeasesFixture];
