import { createElement } from '../dom.ts';
import {
  formatAsWords,
  formatDollarsAndCents,
  formatFee,
  formatIfPresent,
  formatMonths,
  formatOfferFeature,
  formatOrNone,
  formatPercent,
  formatPercentRange,
  formatShortPercent,
  joinTexts,
} from '../format.ts';
import * as widgetLimits from '../limits.ts';
import type { Figures, NumberRange, Offer } from '../offer.ts';
import { createLabeledText, createTable } from '../offer-card.ts';
import { createSortOrderLabels, type Figure, type OfferCardContent, type ProductView } from './product-view.ts';

interface IntroductoryApr {
  readonly percent: number;
  readonly months: number;
}

/** Fee of `percent` of an amount, but at least `min`. */
interface TransactionFee {
  readonly percent: number;
  readonly min: number;
}

interface Reward {
  /** Spending category; `base` is the rate of all other purchases. */
  readonly category: string;
  readonly percent: number;
}

/** Figures of a credit card (docs/contract.md#offers). */
type CardFigures = Figures<{
  name: string;
  purchase_apr: NumberRange;
  transfer_apr: NumberRange;
  cash_advance_apr: number;
  penalty_apr: number;
  intro_purchase_apr: IntroductoryApr;
  intro_transfer_apr: IntroductoryApr;
  annual_fee: number;
  annual_fee_first_year: number;
  minimum_interest_charge: number;
  transfer_fee: TransactionFee;
  cash_advance_fee: TransactionFee;
  foreign_transaction_fee_percent: number;
  late_fee_max: number;
  returned_payment_fee_max: number;
  grace_period_days: number;
  balance_method: string;
  variable: boolean;
  rewards: readonly Reward[];
  bonus: { readonly value: number; readonly spend: number; readonly months: number };
  security_deposit_min: number;
  security_deposit_max: number;
  first_year_value: number;
}>;

interface CardOffer extends Offer {
  readonly card?: CardFigures;
}

/** Shows credit cards. */
export const creditCardView: ProductView = {
  name: 'credit-card',
  title: 'Your card offers',
  sortOrderLabels: createSortOrderLabels('Lowest purchase APR', 'Highest first-year value'),
  orderDisclosure: [
    '“Recommended” puts first what should serve you best. It weighs the estimated value of the first year, how likely the ' +
      'issuer is to approve you, and the star rating, which our editors give. What an issuer pays us plays no part in it.',
    '“Lowest purchase APR” and “Highest first-year value” go by that one figure. The first-year value is base rewards ' +
      '(the rate for “all other purchases”) and bonus, less fees and interest, for the spending and balances that you told us. It can be ' +
      'negative.',
  ],
  paymentDisclosure:
    'Issuers pay us when you follow an offer. We show offers of the issuers we work with; there are others.',
  caveat: 'Figures are estimates. No credit decision has been made: that is up to the issuer.',
  action: {
    text: 'View card',
    prequalificationText: 'See if you qualify',
    prequalificationNote: 'Seeing if you qualify will not affect your credit score',
  },
  createNoOffersAdvice: () =>
    'None of our issuers has a card for these answers today. Another use of the card may change that; so may checking that every answer is right.',
  createOfferCardContent: ({ card }: CardOffer) => createContent(card ?? {}),
  createPicture: createCardArt,
};

/** Draws a card in a color that depends on the issuer's name, with the issuer's logo or initial. It shows no real card. */
function createCardArt(logo: HTMLElement, { lender_name: issuer }: Offer): HTMLElement {
  const art = createElement('span', { class: 'card-art' }, logo);
  let sum = 0;
  for (const character of issuer) sum += character.codePointAt(0)!;
  // Sets the style through the CSSOM, because a Content-Security-Policy of the page may block `style` attributes.
  art.style.setProperty('--hue', String((sum * 47) % 360));
  return art;
}

function createContent(card: CardFigures): OfferCardContent {
  const { name, rewards, bonus, purchase_apr: purchaseApr } = card;
  return {
    productName: name,
    lenderNote: null,
    figures: [
      [
        'lead wide apr',
        'Purchase APR',
        purchaseApr && formatPercentRange(purchaseApr).replace(' to ', '–'),
        formatIfPresent(card.variable, (is) => (is ? 'variable, follows an index' : 'does not follow an index')),
      ],
      createIntroAprFigure('Intro APR, purchases', card.intro_purchase_apr, purchaseApr),
      createIntroAprFigure('Intro APR, balance transfers', card.intro_transfer_apr, card.transfer_apr),
      ['fee', 'Annual fee', formatAnnualFee(card)],
      [
        'bonus',
        'Bonus',
        bonus && formatFee(bonus.value),
        bonus && `if you spend ${formatFee(bonus.spend)} within ${formatMonths(bonus.months)}`,
      ],
      createRewardsFigure(rewards ?? []),
      [
        'first-year',
        'Estimated first-year value',
        formatIfPresent(card.first_year_value, formatDollarsAndCents),
        'base rewards and bonus, less fees and interest',
      ],
      ['security-deposit', 'Security deposit', formatSecurityDeposit(card)],
    ],
    details: [
      createLabeledText('Rewards:', rewards?.length ? `${rewards.map(formatReward).join(', ')}.` : null),
      createCostTable(card),
    ],
  };
}

/** The APR after the introductory period is shown beside the introductory APR (Regulation Z, 12 CFR 1026.16(g)). */
function createIntroAprFigure(
  name: string,
  intro: IntroductoryApr | null | undefined,
  afterwards: NumberRange | null | undefined,
): Figure {
  return ['intro', name, intro && formatIntroApr(intro), afterwards && `then ${formatPercentRange(afterwards)}`];
}

function formatIntroApr({ percent, months }: IntroductoryApr): string {
  return `${formatPercent(percent)} for ${formatMonths(months)}`;
}

function formatAnnualFee({ annual_fee: fee, annual_fee_first_year: firstFee }: CardFigures): string | null {
  if (fee === null || fee === undefined) return null;
  if (firstFee === null || firstFee === undefined || firstFee === fee) return formatOrNone(fee);
  return `${formatFee(firstFee)} in the first year, then ${formatFee(fee)}`;
}

function formatSecurityDeposit({ security_deposit_min: min, security_deposit_max: max }: CardFigures): string | null {
  return formatIfPresent(
    min,
    (least) =>
      formatIfPresent(max, (most) => `${formatFee(least)} to ${formatFee(most)}`) ?? `${formatFee(least)} or more`,
  );
}

function createRewardsFigure(rewards: readonly Reward[]): Figure {
  const earning = rewards.filter(({ percent }) => percent > 0).sort((a, b) => b.percent - a.percent);
  const [best, ...others] = earning.slice(0, widgetLimits.rewardsShownMax);
  return ['rewards', 'Rewards', best && formatReward(best), others.map(formatReward).join(', ')];
}

function formatReward({ category, percent }: Reward): string {
  return `${formatShortPercent(percent)} on ${category === 'base' ? 'all other purchases' : formatAsWords(category)}`;
}

function formatTransactionFee({ percent, min }: TransactionFee): string | null {
  if (percent === 0) return formatOrNone(min);
  const share = `${formatShortPercent(percent)} of the amount`;
  return min === 0 ? share : `${formatFee(min)} or ${share}, whichever is greater`;
}

/** Creates the table of rates and fees, in the order and with the row names of 12 CFR 1026.60. */
function createCostTable(card: CardFigures): HTMLElement {
  const withIntro = (intro: IntroductoryApr | null | undefined, range: NumberRange | null | undefined) =>
    formatIfPresent(range, (rates) =>
      joinTexts(', then ', intro ? formatIntroApr(intro) : null, formatPercentRange(rates)),
    );
  return createTable('Rates and fees', null, [
    ['APR for purchases', withIntro(card.intro_purchase_apr, card.purchase_apr)],
    ['APR for balance transfers', withIntro(card.intro_transfer_apr, card.transfer_apr)],
    ['APR for cash advances', formatIfPresent(card.cash_advance_apr, formatPercent)],
    ['Penalty APR', card.penalty_apr === null ? 'None' : formatIfPresent(card.penalty_apr, formatPercent)],
    ['How to avoid paying interest on purchases', formatIfPresent(card.grace_period_days, formatGracePeriod)],
    ['Minimum interest charge', formatOrNone(card.minimum_interest_charge)],
    ['Annual fee', formatAnnualFee(card)],
    ['Balance transfer fee', formatIfPresent(card.transfer_fee, formatTransactionFee)],
    ['Cash advance fee', formatIfPresent(card.cash_advance_fee, formatTransactionFee)],
    [
      'Foreign transaction fee',
      formatOrNone(card.foreign_transaction_fee_percent, (fee) => `${formatShortPercent(fee)} of each transaction`),
    ],
    ['Late payment fee', formatOrNone(card.late_fee_max, formatFeeUpTo)],
    ['Returned payment fee', formatOrNone(card.returned_payment_fee_max, formatFeeUpTo)],
    ['How the balance is computed', formatIfPresent(card.balance_method, formatOfferFeature)],
  ]);
}

function formatFeeUpTo(amount: number): string {
  return `Up to ${formatFee(amount)}`;
}

function formatGracePeriod(days: number): string {
  if (days === 0) return 'Interest on purchases starts on the transaction date.';
  return `Pay the entire balance by the due date, at least ${days} days after the end of each billing period.`;
}
