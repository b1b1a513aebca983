import { annualIncomeField, creditScoreField, stateField } from '../form/fields.ts';
import { parseAmount } from '../form/form-answers.ts';
import { formatDollars, formatPercentRange, formatWholeDollars } from '../pages/formatting.ts';
import type { Product } from './product.ts';

export const personalLoans: Product = {
  segment: 'personal-loans',
  name: 'Personal loans',
  summary: 'Pay off your debts or finance a plan with one fixed monthly payment.',
  pitch: {
    title: 'A personal loan that fits, without the guesswork',
    text: 'Tell us what you need once. We show you what lenders would offer you: the rate, the monthly payment and the term, side by side.',
    benefits: [
      'Comparing leaves your credit score alone',
      'No name, e-mail address or phone number',
      'Free of charge for you',
    ],
  },
  sections: [
    {
      title: 'Your loan',
      fields: [
        {
          name: 'loan_amount',
          label: 'How much would you like to borrow?',
          hint: 'From $1,000 to $100,000',
          required: true,
        },
        {
          name: 'loan_purpose',
          label: 'What is the loan for?',
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
          required: false,
          when: { field: 'loan_purpose', is: ['debt_consolidation'] },
        },
        {
          name: 'housing_status',
          label: 'Do you own your home?',
          required: false,
          when: { field: 'loan_purpose', is: ['home_improvement'] },
          choices: [
            ['own', 'I own it'],
            ['rent', 'I rent'],
            ['other', 'Something else'],
          ],
        },
      ],
    },
    {
      title: 'About you',
      fields: [
        creditScoreField,
        annualIncomeField,
        {
          name: 'employment_status',
          label: 'How do you earn it?',
          required: true,
          choices: [
            ['employed', 'Employed'],
            ['self_employed', 'Self-employed'],
            ['retired', 'Retired'],
            ['other', 'Something else'],
          ],
        },
        stateField,
      ],
    },
  ],
  quizTitle: 'Your loan offers in a minute',
  questions: [
    { id: 'purpose', title: 'What is the loan for?', fields: ['loan_purpose'] },
    { id: 'amount', title: 'How much would you like to borrow?', fields: ['loan_amount'] },
    { id: 'credit', title: 'What is your credit score, roughly?', fields: ['credit_score_range'] },
    { id: 'you', title: 'A little about you', fields: ['annual_income', 'employment_status', 'state'] },
    {
      id: 'more',
      title: 'One last question',
      fields: ['monthly_debt_payments', 'housing_status'],
      optional: true,
    },
  ],
  offers: {
    title: 'What lenders may offer you',
    request: { text: 'For a loan of', field: 'loan_amount' },
    caveat:
      'No credit decision has been made. Each lender checks your application and decides by itself, and what it offers you may differ ' +
      'from these estimates.',
    none: {
      text: 'None of the lenders we compare would lend this amount on these answers today. What often helps:',
      advice: ['a smaller amount, or a longer time to pay it back,', 'somebody who borrows together with you,'],
    },
    prequalification: 'Check your rate before you apply',
    figures: (offer, answers) => {
      const { apr_range: apr, loan_amount_range: amounts, payment_term_months: term } = offer;
      const amount = parseAmount(answers.loan_amount);
      const terms = `${amount === null ? '' : `for ${formatWholeDollars(amount)} `}over ${term} months`;
      return [
        { label: 'Monthly payment, about', value: formatDollars(offer.monthly_payment_estimate!), note: terms },
        { label: 'APR', value: formatPercentRange(apr!) },
        { label: 'Amounts', value: `${formatWholeDollars(amounts!.min)} to ${formatWholeDollars(amounts!.max)}` },
        { label: 'Terms', value: `${offer.term_months.join(', ')} months` },
      ];
    },
  },
  revenue: {
    confirmed: 'what lenders owe for funded loans',
    timing: 'A lender confirms a loan two to six weeks after the click.',
  },
};
