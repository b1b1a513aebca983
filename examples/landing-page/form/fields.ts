/** Names of states and territories, by the codes of the API. */
const usStates = (
  'AL Alabama, AK Alaska, AS American Samoa, AZ Arizona, AR Arkansas, CA California, CO Colorado, ' +
  'CT Connecticut, DE Delaware, DC District of Columbia, FL Florida, GA Georgia, GU Guam, HI Hawaii, ID Idaho, ' +
  'IL Illinois, IN Indiana, IA Iowa, KS Kansas, KY Kentucky, LA Louisiana, ME Maine, MD Maryland, ' +
  'MA Massachusetts, MI Michigan, MN Minnesota, MS Mississippi, MO Missouri, MT Montana, NE Nebraska, NV Nevada, ' +
  'NH New Hampshire, NJ New Jersey, NM New Mexico, NY New York, NC North Carolina, ND North Dakota, ' +
  'MP Northern Mariana Islands, OH Ohio, OK Oklahoma, OR Oregon, PA Pennsylvania, PR Puerto Rico, ' +
  'RI Rhode Island, SC South Carolina, SD South Dakota, TN Tennessee, TX Texas, UT Utah, VT Vermont, ' +
  'VI U.S. Virgin Islands, VA Virginia, WA Washington, WV West Virginia, WI Wisconsin, WY Wyoming'
)
  .split(', ')
  .map((state): Choice => [state.slice(0, 2), state.slice(3)]);

export type Choice = readonly [value: string, label: string];

/** A form field, with the name of its input field in the API. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly kind: 'dollars' | 'choice';
  readonly choices?: readonly Choice[];
  readonly required: boolean;
  /** The only loan purpose for which the form contains this field. */
  readonly onlyFor?: string;
  /** Value of the `autocomplete` attribute. */
  readonly autocomplete?: string;
}

const fieldList: readonly Field[] = [
  {
    name: 'loan_amount',
    label: 'How much would you like to borrow?',
    hint: 'From $1,000 to $100,000',
    kind: 'dollars',
    required: true,
  },
  {
    name: 'loan_purpose',
    label: 'What is the loan for?',
    kind: 'choice',
    required: true,
    choices: [
      ['debt_consolidation', 'Paying off debt'],
      ['home_improvement', 'Home improvement'],
      ['major_purchase', 'A large purchase'],
      ['medical_expenses', 'Medical bills'],
      ['moving', 'Moving'],
      ['vacation', 'A vacation'],
      ['wedding', 'A wedding'],
      ['business', 'A business'],
      ['other', 'Something else'],
    ],
  },
  {
    name: 'monthly_debt_payments',
    label: 'What do you pay each month for debts and housing?',
    hint: 'Cards, loans, and rent or mortgage together',
    kind: 'dollars',
    required: false,
    onlyFor: 'debt_consolidation',
  },
  {
    name: 'housing_status',
    label: 'Do you own your home?',
    kind: 'choice',
    required: false,
    onlyFor: 'home_improvement',
    choices: [
      ['own', 'I own it'],
      ['rent', 'I rent'],
      ['other', 'Something else'],
    ],
  },
  {
    name: 'credit_score_range',
    label: 'What is your credit score, roughly?',
    hint: 'An honest guess is enough. We do not check it.',
    kind: 'choice',
    required: true,
    choices: [
      ['800+', '800 or more'],
      ['750-799', '750 to 799'],
      ['700-749', '700 to 749'],
      ['660-699', '660 to 699'],
      ['620-659', '620 to 659'],
      ['580-619', '580 to 619'],
      ['300-579', 'Below 580'],
    ],
  },
  {
    name: 'annual_income',
    label: 'What do you earn in a year?',
    hint: 'Before taxes, all sources together',
    kind: 'dollars',
    required: true,
  },
  {
    name: 'employment_status',
    label: 'How do you earn it?',
    kind: 'choice',
    required: true,
    choices: [
      ['employed', 'Employed'],
      ['self_employed', 'Self-employed'],
      ['retired', 'Retired'],
      ['other', 'Something else'],
    ],
  },
  {
    name: 'state',
    label: 'Where do you live?',
    kind: 'choice',
    required: true,
    choices: usStates,
    autocomplete: 'address-level1',
  },
];

/**
 * Fields of both variants of the page, in the order of the variant with a single form. Both variants ask for these fields, so that
 * only the design of the variants differs, not the offers.
 */
export const fields: ReadonlyMap<string, Field> = new Map(fieldList.map((field) => [field.name, field]));

/** Returns the fields that the form omits for this loan purpose. */
export function irrelevantFields(purpose: string | undefined): readonly string[] {
  const unasked = fieldList.filter(({ onlyFor }) => onlyFor !== undefined && onlyFor !== purpose);
  return unasked.map(({ name }) => name);
}
