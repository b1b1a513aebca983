import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PocketField, Vertical } from '../../src/domain/vertical.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';

test('the registry contains the five verticals of the contract', () => {
  assert.deepEqual(
    builtInVerticals.verticals.map(
      ({ number, segment, keyPrefix, status }) => `${number} ${segment} ${keyPrefix} ${status}`,
    ),
    [
      '1 personal-loans svc_pl_ stable',
      '2 credit-cards svc_cc_ beta',
      '3 mortgage svc_mo_ beta',
      '4 banking svc_bk_ beta',
      '5 find-advisor svc_fa_ beta',
    ],
  );
});

const creditBands = '300-579|580-619|620-659|660-699|700-749|750-799|800+';

/** Required fields of each vertical, all fields in the order of the stored session fields, and the fields that a condition makes relevant. */
const definitions: Readonly<Record<string, readonly [required: string, fields: string, conditions: string]>> = {
  'personal-loans': [
    'loan_amount loan_purpose credit_score_range annual_income employment_status state',
    `loan_amount 1000-100000
loan_purpose debt_consolidation|home_improvement|major_purchase|medical_expenses|moving|vacation|wedding|business|other
credit_score_range ${creditBands}
annual_income 0-10000000
employment_status employed|self_employed|retired|other
state 56 values
birthdate ages 18-120
housing_status own|rent|other
monthly_debt_payments 0-1000000
loan_term_months 12|24|36|48|60|84
co_borrower boolean
citizenship_status citizen|perm_resident|visa
education_level high_school|bachelors|graduate|other, never matched
address_zip 5 digits, never matched`,
    `monthly_debt_payments if loan_purpose is debt_consolidation
housing_status if loan_purpose is home_improvement`,
  ],
  'credit-cards': [
    'card_purpose credit_score_range annual_income state',
    `card_purpose cash_back|travel|balance_transfer|low_interest|build_credit|student
credit_score_range ${creditBands}
annual_income 0-10000000
state 56 values
transfer_amount 100-100000
monthly_spend 0-100000
carried_balance 0-100000
employment_status employed|self_employed|retired|other
annual_fee_accepted boolean
birthdate ages 18-120
citizenship_status citizen|perm_resident|visa
address_zip 5 digits, never matched`,
    `transfer_amount if card_purpose is balance_transfer
monthly_spend if card_purpose is cash_back
monthly_spend if card_purpose is travel
carried_balance if card_purpose is low_interest`,
  ],
  mortgage: [
    'loan_purpose property_type occupancy property_value credit_score_range annual_income state',
    `loan_purpose purchase|refinance|cash_out
property_type single_family|condo|townhouse|multi_family|manufactured
occupancy primary|second_home|investment
property_value 50000-20000000
credit_score_range ${creditBands}
annual_income 0-10000000
state 56 values
down_payment 0-20000000
mortgage_balance 0-20000000
cash_out_amount 1-20000000
monthly_debt_payments 0-1000000
loan_term_months 120|180|240|300|360
rate_type fixed|adjustable
veteran boolean
first_time_buyer boolean
birthdate ages 18-120
address_zip 5 digits, never matched`,
    `down_payment required if loan_purpose is purchase
mortgage_balance required if loan_purpose is refinance
mortgage_balance required if loan_purpose is cash_out
cash_out_amount required if loan_purpose is cash_out`,
  ],
  banking: [
    'product_type deposit_amount state',
    `product_type savings|checking|money_market|cd
deposit_amount 0-10000000
state 56 values
cd_term_months 3|6|9|12|18|24|36|48|60
direct_deposit boolean
new_customer boolean
birthdate ages 18-120
address_zip 5 digits, never matched`,
    'cd_term_months required if product_type is cd',
  ],
  'find-advisor': [
    'advice_topic investable_assets state',
    `advice_topic retirement|investing|tax|estate|insurance|debt|college
investable_assets 0-100000000
state 56 values
meeting_preference in_person|remote|either
timeline now|three_months|later
has_advisor boolean
birthdate ages 18-120
address_zip 5 digits, never matched`,
    '',
  ],
};

function describeField(field: PocketField, { neverMatched = [] }: Vertical): string {
  return `${field.name} ${describeValues(field)}${neverMatched.includes(field.name) ? ', never matched' : ''}`;
}

function describeValues(field: PocketField): string {
  switch (field.kind) {
    case 'integer':
      return `${field.min}-${field.max}`;
    case 'birthdate':
      return `ages ${field.minAgeYears}-${field.maxAgeYears}`;
    case 'digits':
      return `${field.length} digits`;
    case 'boolean':
      return 'boolean';
    default:
      return field.name === 'state' ? `${field.values.length} values` : field.values.join('|');
  }
}

for (const vertical of builtInVerticals.verticals) {
  test(`${vertical.segment} has the documented fields, in the order of the stored session fields`, () => {
    const [required, fields, conditions] = definitions[vertical.segment]!;
    assert.equal(vertical.required.join(' '), required);
    assert.equal(vertical.fields.map((field) => describeField(field, vertical)).join('\n'), fields);
    assert.equal(
      vertical.conditional
        .map(({ field, when, isRequired }) => `${field}${isRequired ? ' required' : ''} if ${when.field} is ${when.is}`)
        .join('\n'),
      conditions,
    );
  });
}

test('verticals have their rules of confirmations, and only mortgage refuses a sort order', () => {
  const segmentsWith = (rule: 'clicksConfirmRevenue' | 'flatPayout') =>
    builtInVerticals.verticals.flatMap((vertical) => (vertical[rule] === true ? [vertical.segment] : []));
  assert.deepEqual(segmentsWith('clicksConfirmRevenue'), ['credit-cards', 'banking']);
  assert.deepEqual(segmentsWith('flatPayout'), ['mortgage', 'find-advisor']);
  const restricted = builtInVerticals.verticals.flatMap(({ segment, sortOrders }) =>
    sortOrders ? [segment, sortOrders] : [],
  );
  assert.deepEqual(restricted, ['mortgage', ['recommended', 'lowest_apr', 'highest_amount']]);
});
