import type { Answers } from '../experiment/visit.ts';

/** Value of the API field, and the text of the choice. */
export type Choice = readonly [value: string | number | boolean, label: string];

/** A form field, with the name of its input field in the API. */
export interface Field {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  /** Choices of the field. A field without choices is an amount in USD. */
  readonly choices?: readonly Choice[];
  readonly required: boolean;
  /** The form contains this field only if another field has one of these values. */
  readonly when?: { readonly field: string; readonly is: readonly string[] };
  /** Value of the `autocomplete` attribute. */
  readonly autocomplete?: string;
}

/** Returns the names of the fields whose condition does not hold for these answers. */
export function irrelevantFields(fields: readonly Field[], answers: Answers): readonly string[] {
  const irrelevant = fields.filter(({ when }) => when !== undefined && !when.is.includes(answers[when.field] ?? ''));
  return irrelevant.map(({ name }) => name);
}

/**
 * Returns CSS rules that hide the conditional fields of a form while their condition does not hold, so that the form needs no script.
 * Browsers without `:has()` show all fields.
 */
export function conditionalFieldRules(formAction: string, fields: readonly Field[]): string {
  return fields
    .map(({ name, when }) => {
      if (when === undefined) return '';
      const values = when.is.map((value) => `#${when.field} [value="${value}"]:checked`);
      const form = `form[action="${formAction}"]:not(.quiz)`;
      return `${form}:not(:has(${values.join(', ')})) .field:has(#${name}) { display: none; }\n`;
    })
    .join('');
}

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

export const yesOrNo: readonly Choice[] = [
  [true, 'Yes'],
  [false, 'No'],
];

/** Fields of several products. */
export const stateField: Field = {
  name: 'state',
  label: 'Where do you live?',
  required: true,
  choices: usStates,
  autocomplete: 'address-level1',
};

export const annualIncomeField: Field = {
  name: 'annual_income',
  label: 'What do you earn in a year?',
  hint: 'Before taxes, all sources together',
  required: true,
};

export const creditScoreField: Field = {
  name: 'credit_score_range',
  label: 'What is your credit score, roughly?',
  hint: 'An honest guess is enough. We do not check it.',
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
};
