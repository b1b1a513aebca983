import type { Offer } from '../api/marketplace-api.ts';
import { stateField, yesOrNo } from '../form/fields.ts';
import { formatDollars, formatWholeDollars } from '../pages/formatting.ts';
import type { Product } from './product.ts';

export const findAdvisor: Product = {
  segment: 'find-advisor',
  name: 'Financial advisors',
  summary: 'Find a financial advisor who is licensed in your state, with the fee for your savings.',
  pitch: {
    title: 'Find an advisor who fits you',
    text: 'Tell us what you want advice on. We show advisors who are licensed in your state, and what a year of their advice would cost you.',
    benefits: ['Fees in dollars a year', 'Public records and credentials', 'No obligation to hire anyone'],
  },
  sections: [
    {
      title: 'Your question',
      fields: [
        {
          name: 'advice_topic',
          label: 'What would you like advice on?',
          required: true,
          choices: [
            ['retirement', 'Retirement'],
            ['investing', 'Investing'],
            ['tax', 'Taxes'],
            ['estate', 'Estate and inheritance'],
            ['insurance', 'Insurance'],
            ['debt', 'Paying off debt'],
            ['college', 'Saving for college'],
          ],
        },
        {
          name: 'investable_assets',
          label: 'How much have you saved and invested?',
          hint: 'Without your home. Many advisors have a minimum.',
          required: true,
        },
      ],
    },
    {
      title: 'About you',
      fields: [
        stateField,
        {
          name: 'meeting_preference',
          label: 'How would you like to meet?',
          required: false,
          choices: [
            ['either', 'Either way'],
            ['remote', 'By video or phone'],
            ['in_person', 'In person'],
          ],
        },
        {
          name: 'timeline',
          label: 'When would you like to begin?',
          required: false,
          choices: [
            ['now', 'Now'],
            ['three_months', 'Within three months'],
            ['later', 'Later'],
          ],
        },
        { name: 'has_advisor', label: 'Do you already have an advisor?', required: false, choices: yesOrNo },
      ],
    },
  ],
  quizTitle: 'Your advisor matches in a minute',
  questions: [
    { id: 'topic', title: 'What would you like advice on?', fields: ['advice_topic'] },
    { id: 'assets', title: 'Your savings', fields: ['investable_assets'] },
    { id: 'meeting', title: 'Meeting an advisor', fields: ['meeting_preference', 'timeline', 'has_advisor'] },
    { id: 'you', title: 'A little about you', fields: ['state'] },
  ],
  offers: {
    title: 'Advisors for you',
    request: { text: 'For savings of', field: 'investable_assets' },
    caveat: 'Fees are estimates for a year. What you pay is up to your agreement with the advisor.',
    none: {
      text: 'None of the advisors we compare fits these answers today. What often helps:',
      advice: ['another topic,', 'another way to meet,'],
    },
    prequalification: null,
    productName: ({ advisor }) => advisor!.name,
    figures: ({ advisor, compensation_disclosure: payment }) => [
      {
        label: 'Fee in a year, about',
        value: formatDollars(advisor!.estimated_annual_fee),
        note: feeNames[advisor!.fee_model],
      },
      {
        label: 'Minimum',
        value: advisor!.minimum_assets === 0 ? 'None' : formatWholeDollars(advisor!.minimum_assets),
      },
      { label: 'Fiduciary', value: advisor!.fiduciary ? 'Yes' : 'No' },
      { label: 'Public record', value: advisor!.has_disclosures ? 'Has disclosures' : 'No disclosures' },
      // Beside the offer and not behind a link (17 CFR 275.206(4)-1(b)).
      { label: 'How we are paid', value: payment! },
    ],
  },
  revenue: {
    confirmed: 'what advisors pay for accepted introductions',
    timing: 'An advisor pays the same amount for each introduction that it accepts, some days after the click.',
  },
};

const feeNames: Readonly<Record<NonNullable<Offer['advisor']>['fee_model'], string>> = {
  percent_of_assets: 'a percentage of your savings',
  flat: 'a flat fee',
  hourly: 'billed by the hour',
  commission: 'from commissions, as the firm estimates',
};
