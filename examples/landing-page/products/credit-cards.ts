import type { Offer } from '../api/marketplace-api.ts';
import { annualIncomeField, creditScoreField, stateField, yesOrNo } from '../form/fields.ts';
import { formatDollars, formatPercentRange, formatRate, formatWholeDollars } from '../pages/formatting.ts';
import type { OfferFigure, Product } from './product.ts';

export const creditCards: Product = {
  segment: 'credit-cards',
  name: 'Credit cards',
  summary: 'Earn cash back on your purchases, or move a balance to a card with a lower rate.',
  pitch: {
    title: 'The credit card that pays you the most, or costs you the least',
    text: 'Cash back, travel or a balance transfer: tell us how you use a card. We show what each card is worth to you in the first year.',
    benefits: ['Comparing leaves your credit score alone', 'Rewards and fees in one figure', 'Free of charge for you'],
  },
  sections: [
    {
      title: 'Your card',
      fields: [
        {
          name: 'card_purpose',
          label: 'What do you want from the card?',
          required: true,
          choices: [
            ['cash_back', 'Cash back'],
            ['balance_transfer', 'A balance transfer'],
            ['travel', 'Travel rewards'],
            ['low_interest', 'Low interest'],
            ['build_credit', 'Building credit'],
            ['student', 'A student card'],
          ],
        },
        {
          name: 'monthly_spend',
          label: 'How much would you spend with the card each month?',
          required: false,
          when: { field: 'card_purpose', is: ['cash_back', 'travel'] },
        },
        {
          name: 'transfer_amount',
          label: 'How much debt would you transfer?',
          hint: 'From $100 to $100,000',
          required: false,
          when: { field: 'card_purpose', is: ['balance_transfer'] },
        },
        {
          name: 'carried_balance',
          label: 'Which purchases would you repay over a year?',
          hint: 'The total of these purchases',
          required: false,
          when: { field: 'card_purpose', is: ['low_interest'] },
        },
        {
          name: 'annual_fee_accepted',
          label: 'Would you pay an annual fee?',
          required: false,
          choices: yesOrNo,
        },
      ],
    },
    { title: 'About you', fields: [creditScoreField, annualIncomeField, stateField] },
  ],
  quizTitle: 'Your card offers in a minute',
  questions: [
    {
      id: 'purpose',
      title: 'What do you want from the card?',
      fields: ['card_purpose'],
    },
    { id: 'credit', title: 'What is your credit score, roughly?', fields: ['credit_score_range'] },
    { id: 'you', title: 'A little about you', fields: ['annual_income', 'annual_fee_accepted', 'state'] },
    {
      id: 'more',
      title: 'One last question',
      fields: ['monthly_spend', 'transfer_amount', 'carried_balance'],
      optional: true,
    },
  ],
  offers: {
    title: 'Cards that fit you',
    caveat:
      'No credit decision has been made. Each issuer checks your application and decides by itself. The first-year value is an estimate ' +
      'from your answers. All purchases count at the base rate of the rewards, the rate for all other purchases.',
    none: {
      text: 'None of the issuers we compare has a card for these answers today. What often helps:',
      advice: ['a card for another purpose, such as building credit,', 'accepting an annual fee,'],
    },
    prequalification: 'See if you qualify before you apply',
    productName: ({ card }) => card!.name,
    figures: ({ apr_range: apr, card }) => [
      {
        label: 'Value in the first year, about',
        value: formatDollars(card!.first_year_value),
        note: 'base rewards and bonus, less fees and interest',
      },
      {
        label: 'Purchase APR',
        value: formatPercentRange(apr!),
        ...(card!.variable ? { note: 'variable, follows an index' } : {}),
      },
      ...introFigure('Intro APR for purchases', card!.intro_purchase_apr, apr!),
      ...introFigure('Intro APR for transfers', card!.intro_transfer_apr, card!.transfer_apr),
      { label: 'Annual fee', value: annualFeeText(card!) },
      ...depositFigure(card!),
      ...bonusFigure(card!),
      ...rewardsFigure(card!),
    ],
  },
  revenue: {
    confirmed: 'what issuers owe for clicks',
    timing:
      'An issuer pays for each counted click, so the revenue is confirmed at once. Later an issuer can take back single clicks, such as repeated ones.',
  },
};

type Card = NonNullable<Offer['card']>;

function annualFeeText({ annual_fee: fee, annual_fee_first_year: firstFee }: Card): string {
  if (fee === firstFee) return fee === 0 ? 'None' : formatWholeDollars(fee);
  return `${formatWholeDollars(firstFee)} in the first year, then ${formatWholeDollars(fee)}`;
}

/** Shows the deposits of a secured card. */
function depositFigure({ security_deposit_min: min, security_deposit_max: max }: Card): readonly OfferFigure[] {
  if (min === null) return [];
  const value =
    max === null ? `${formatWholeDollars(min)} or more` : `${formatWholeDollars(min)} to ${formatWholeDollars(max)}`;
  return [{ label: 'Security deposit', value }];
}

/** An introductory rate is shown only with its duration and the rate that follows (12 CFR 1026.16(g)). */
function introFigure(
  label: string,
  intro: Card['intro_transfer_apr'],
  apr: Card['transfer_apr'],
): readonly OfferFigure[] {
  if (intro === null) return [];
  const note = `for ${intro.months} months, then ${formatPercentRange(apr)}`;
  return [{ label, value: formatRate(intro.percent), note }];
}

function bonusFigure({ bonus }: Card): readonly OfferFigure[] {
  if (bonus === null) return [];
  const { value, spend, months } = bonus;
  const period = months === 1 ? '1 month' : `${months} months`;
  return [
    {
      label: 'Bonus',
      value: formatWholeDollars(value),
      note: `if you spend ${formatWholeDollars(spend)} within ${period}`,
    },
  ];
}

/** Shows the highest rate of the rewards, and the other rates below it. */
function rewardsFigure({ rewards }: Card): readonly OfferFigure[] {
  const [best, ...others] = rewards
    .filter(({ percent }) => percent > 0)
    .sort((one, other) => other.percent - one.percent)
    .map(({ category, percent }) => {
      const purchases = category === 'base' ? 'all other purchases' : category.replaceAll('_', ' ');
      return `${percent}% on ${purchases}`;
    });
  if (best === undefined) return [];
  return [{ label: 'Rewards', value: best, ...(others.length > 0 ? { note: others.join(', ') } : {}) }];
}
