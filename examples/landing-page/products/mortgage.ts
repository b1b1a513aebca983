import type { Offer } from '../api/marketplace-api.ts';
import { annualIncomeField, creditScoreField, type Field, stateField, yesOrNo } from '../form/fields.ts';
import { formatDollars, formatRate, formatWholeDollars } from '../pages/formatting.ts';
import type { OfferFigure, Product } from './product.ts';

const homeStateField: Field = { ...stateField, label: 'In which state is the home?', autocomplete: 'off' };

export const mortgage: Product = {
  segment: 'mortgage',
  name: 'Mortgages',
  summary: 'Buy a home, or replace your mortgage with a better one.',
  pitch: {
    title: 'Buy a home or refinance, with every cost in view',
    text: 'Tell us about the home and your plans. We show what lenders would offer you: the rate, the APR, the payment and the fees.',
    benefits: [
      'Conventional, FHA, VA and USDA loans',
      'Lenders do not pay for a better place in the list',
      'No name, e-mail address or phone number',
    ],
  },
  sections: [
    {
      title: 'Your loan',
      fields: [
        {
          name: 'loan_purpose',
          label: 'What are your plans?',
          required: true,
          choices: [
            ['purchase', 'Buying a home'],
            ['refinance', 'Refinancing'],
            ['cash_out', 'Refinancing with cash out'],
          ],
        },
        {
          name: 'property_value',
          label: 'What is the home worth?',
          hint: 'The price, or your estimate if you own it',
          required: true,
        },
        {
          name: 'down_payment',
          label: 'How much will you pay down?',
          hint: 'The part of the price that you do not borrow',
          required: true,
          when: { field: 'loan_purpose', is: ['purchase'] },
        },
        {
          name: 'mortgage_balance',
          label: 'What do you still owe on the home?',
          required: true,
          when: { field: 'loan_purpose', is: ['refinance', 'cash_out'] },
        },
        {
          name: 'cash_out_amount',
          label: 'How much cash would you like to take out?',
          required: true,
          when: { field: 'loan_purpose', is: ['cash_out'] },
        },
        {
          name: 'loan_term_months',
          label: 'Over how many years would you like to repay?',
          hint: 'Without an answer, we show payments over 30 years where lenders offer them.',
          required: false,
          choices: [10, 15, 20, 25, 30].map((years) => [12 * years, `${years} years`]),
        },
        {
          name: 'rate_type',
          label: 'Which kind of rate would you like?',
          hint: 'Without an answer, we show both.',
          required: false,
          choices: [
            ['fixed', 'Fixed for the whole term'],
            ['adjustable', 'Adjustable after some years'],
          ],
        },
      ],
    },
    {
      title: 'The home',
      fields: [
        {
          name: 'property_type',
          label: 'What kind of home is it?',
          required: true,
          choices: [
            ['single_family', 'House for one family'],
            ['condo', 'Condo'],
            ['townhouse', 'Townhouse'],
            ['multi_family', 'House with 2 to 4 units'],
            ['manufactured', 'Manufactured home'],
          ],
        },
        {
          name: 'occupancy',
          label: 'How will you use it?',
          required: true,
          choices: [
            ['primary', 'I will live there'],
            ['second_home', 'As a second home'],
            ['investment', 'I will rent it out'],
          ],
        },
        homeStateField,
      ],
    },
    {
      title: 'About you',
      fields: [
        creditScoreField,
        annualIncomeField,
        {
          name: 'monthly_debt_payments',
          label: 'What do you pay each month for other debts?',
          hint: 'Cards and loans, without rent or this mortgage. More lenders match if you tell us.',
          required: false,
        },
        {
          name: 'veteran',
          label: 'Are you a veteran, or on active duty?',
          hint: 'VA loans are only for veterans and others whom the Department of Veterans Affairs accepts.',
          required: false,
          choices: yesOrNo,
        },
        {
          name: 'first_time_buyer',
          label: 'Would this be your first home in three years?',
          hint: 'Some loans are only for first-time buyers.',
          required: false,
          choices: yesOrNo,
        },
      ],
    },
  ],
  quizTitle: 'Your mortgage offers in two minutes',
  questions: [
    { id: 'purpose', title: 'What are your plans?', fields: ['loan_purpose'] },
    { id: 'home', title: 'The home', fields: ['property_type', 'occupancy', 'state'] },
    {
      id: 'amounts',
      title: 'The amounts',
      fields: ['property_value', 'down_payment', 'mortgage_balance', 'cash_out_amount'],
    },
    { id: 'loan', title: 'The loan', fields: ['loan_term_months', 'rate_type'] },
    { id: 'credit', title: 'What is your credit score, roughly?', fields: ['credit_score_range'] },
    {
      id: 'you',
      title: 'A little about you',
      fields: ['annual_income', 'monthly_debt_payments', 'veteran', 'first_time_buyer'],
    },
  ],
  offers: {
    title: 'Mortgages that lenders may offer you',
    request: { text: 'For a home worth', field: 'property_value' },
    caveat:
      'Figures are estimates and no commitment to lend. Payments do not include taxes and insurance premiums for the home, so the actual ' +
      'payment will be greater.',
    none: {
      text: 'None of the lenders we compare has a mortgage for these answers today. What often helps:',
      advice: ['a larger down payment, or a smaller loan,', 'telling us what you pay for other debts,'],
    },
    prequalification: 'Check your rate before you apply',
    // The APR is at least as prominent as the rate, amount and term follow the payment, and all rates and payments are shown (12 CFR 1026.24).
    figures: ({ apr_range: apr, monthly_payment_estimate: payment, payment_term_months: term, mortgage: loan }) => [
      { label: 'APR', value: formatRate(apr!.min) },
      loan!.rate_type === 'adjustable'
        ? {
            label: 'Initial interest rate',
            value: formatRate(loan!.rate),
            note: `adjustable, may change after ${loan!.fixed_months} months`,
          }
        : { label: 'Interest rate', value: formatRate(loan!.rate), note: 'fixed' },
      {
        label: 'Monthly payment, about',
        value: formatDollars(payment!),
        note: `for a loan of ${formatWholeDollars(loan!.loan_amount)} over ${term} months`,
      },
      ...laterPaymentFigures(loan!, term!),
      { label: 'Points', value: `${loan!.points_percent}%` },
      { label: 'Lender fees', value: formatWholeDollars(loan!.lender_fees) },
      {
        label: 'Cost over five years',
        value: formatWholeDollars(loan!.cost_over_five_years),
        note: 'payments, points, fees, prepaid interest and upfront premium, less the principal that you repay',
      },
      { label: 'NMLS ID', value: loan!.nmls_id },
    ],
  },
  revenue: {
    confirmed: 'what lenders owe for accepted applications',
    timing: 'A lender confirms an application that it accepts some weeks after the click.',
  },
};

/** Shows each rate and payment of an adjustable loan after the first one. */
function laterPaymentFigures(
  { adjustable }: NonNullable<Offer['mortgage']>,
  termMonths: number,
): readonly OfferFigure[] {
  if (adjustable === null) return [];
  const [, ...later] = adjustable.payments;
  return later.map(({ from_month: from, rate, payment }, at) => ({
    label: `Then, in months ${from} to ${(later[at + 1]?.from_month ?? termMonths + 1) - 1}`,
    value: `${formatRate(rate)}, ${formatDollars(payment)}`,
    note: `if the index stays at ${formatRate(adjustable.index_percent)}`,
  }));
}
