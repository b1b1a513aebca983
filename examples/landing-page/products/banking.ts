import type { Offer } from '../api/marketplace-api.ts';
import { stateField, yesOrNo } from '../form/fields.ts';
import { formatDate, formatDollars, formatRate, formatWholeDollars } from '../pages/formatting.ts';
import type { OfferFigure, Product } from './product.ts';

export const banking: Product = {
  segment: 'banking',
  name: 'Savings and CDs',
  summary: 'Let your savings earn more in a high-yield account or a certificate of deposit.',
  pitch: {
    title: 'Let your savings earn what they could',
    text: 'A high-yield savings account or a certificate of deposit: tell us how much you have. We show what it would earn in the first year.',
    benefits: ['Federally insured banks and credit unions', 'No credit check', 'Fees and bonuses in one figure'],
  },
  sections: [
    {
      title: 'Your account',
      fields: [
        {
          name: 'product_type',
          label: 'Which account are you looking for?',
          required: true,
          choices: [
            ['savings', 'High-yield savings'],
            ['cd', 'Certificate of deposit (CD)'],
            ['money_market', 'Money market account'],
            ['checking', 'Checking account'],
          ],
        },
        {
          name: 'cd_term_months',
          label: 'How long can the bank keep your money?',
          required: true,
          when: { field: 'product_type', is: ['cd'] },
          choices: [3, 6, 9, 12, 18, 24, 36, 48, 60].map((months) => [months, `${months} months`]),
        },
        { name: 'deposit_amount', label: 'How much would you like to deposit?', required: true },
      ],
    },
    {
      title: 'About you',
      fields: [
        stateField,
        {
          name: 'new_customer',
          label: 'Would you open an account at a bank that is new to you?',
          hint: 'Some bonuses are only for new customers.',
          required: false,
          choices: yesOrNo,
        },
        {
          name: 'direct_deposit',
          label: 'Would your wages or benefits be paid into the account?',
          hint: 'Some bonuses require it.',
          required: false,
          choices: yesOrNo,
        },
      ],
    },
  ],
  quizTitle: 'Your savings offers in a minute',
  questions: [
    { id: 'account', title: 'Which account are you looking for?', fields: ['product_type'] },
    { id: 'deposit', title: 'Your deposit', fields: ['cd_term_months', 'deposit_amount'] },
    { id: 'you', title: 'A little about you', fields: ['state', 'new_customer', 'direct_deposit'] },
  ],
  offers: {
    title: 'What your savings could earn',
    request: { text: 'For a deposit of', field: 'deposit_amount' },
    caveat:
      'APY is the annual percentage yield. Earnings are estimates for the first year, with bonuses and after fees. Fees could reduce the ' +
      'earnings on the account.',
    none: {
      text: 'None of the banks and credit unions we compare has an account for these answers today. What often helps:',
      advice: ['another kind of account, or another term,', 'a larger deposit,'],
    },
    prequalification: null,
    productName: ({ deposit }) => deposit!.name,
    figures: (offer) => [
      {
        label: 'APY',
        value: formatRate(offer.deposit!.apy),
        note: `as of ${formatDate(offer.as_of!)}; ${offer.deposit!.variable ? 'the rate may change' : 'fixed rate'}`,
      },
      { label: 'Earnings in the first year, about', value: formatDollars(offer.deposit!.first_year_earnings) },
      ...minimums(offer.deposit!),
      monthlyFee(offer.deposit!),
      ...depositFigures(offer.deposit!),
    ],
  },
  revenue: {
    confirmed: 'what banks owe for clicks',
    timing:
      'A bank pays for each counted click, so the revenue is confirmed at once. Later a bank can take back single clicks, such as repeated ones.',
  },
};

type DepositFigures = NonNullable<Offer['deposit']>;

/** The minimums to open the account and to earn the APY, as one figure if they are equal. */
function minimums({
  minimum_deposit: toOpen,
  minimum_balance_for_apy: toEarn,
}: DepositFigures): readonly OfferFigure[] {
  const format = (amount: number) => (amount === 0 ? 'No minimum' : formatWholeDollars(amount));
  if (toOpen === toEarn) return [{ label: 'Minimum to open and to earn the APY', value: format(toOpen) }];
  return [
    { label: 'Minimum to open', value: format(toOpen) },
    { label: 'Minimum to earn the APY', value: format(toEarn) },
  ];
}

/** The fee with its waiver, because the earnings contain no fee if the deposit reaches the waiver. */
function monthlyFee({ monthly_fee: fee, fee_waived_from: waivedFrom }: DepositFigures): OfferFigure {
  return {
    label: 'Monthly fee',
    value: fee === 0 ? 'None' : formatDollars(fee),
    ...(waivedFrom !== null && { note: `none from a balance of ${formatWholeDollars(waivedFrom)}` }),
  };
}

/** Figures that only some accounts have. A bonus is shown only with its requirement (12 CFR 1030.8(d)). */
function depositFigures(deposit: DepositFigures): readonly OfferFigure[] {
  const { bonus, term_months: term, early_withdrawal_penalty_days: penalty } = deposit;
  return [
    ...(term === null ? [] : [{ label: 'Term', value: `${term} months` }]),
    ...(penalty === null ? [] : [{ label: 'Early withdrawal penalty', value: `${penalty} days of interest` }]),
    ...(bonus === null
      ? []
      : [
          {
            label: 'Bonus',
            value: formatWholeDollars(bonus.amount),
            note: `${bonus.requirement}; to be met within ${bonus.days} days of opening`,
          },
        ]),
  ];
}
