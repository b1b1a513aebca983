import {
  formatDollars,
  formatDollarsAndCents,
  formatIfPresent,
  formatMonths,
  formatPercentRange,
  joinTexts,
} from '../format.ts';
import type { Offer } from '../offer.ts';
import { createLabeledText, createTermsText } from '../offer-card.ts';
import { createSortOrderLabels, type OfferCardContent, type ProductView } from './product-view.ts';

export const loanAction: ProductView['action'] = {
  text: 'View offer',
  prequalificationText: 'Check your rate',
  prequalificationNote: 'Checking your rate will not affect your credit score',
};

/** Shows loans of a fixed amount with equal monthly payments. */
export const loanView: ProductView = {
  name: 'loan',
  title: 'Your loan offers',
  sortOrderLabels: createSortOrderLabels('Lowest APR', 'Highest amount'),
  orderDisclosure: [
    '“Recommended” puts first what should serve you best. It weighs what a loan costs (APR), how likely the lender is ' +
      'to approve you, how well amount and term fit what you asked for, and the star rating, which our editors give. ' +
      'What a lender pays us plays no part in it.',
    '“Lowest APR” and “Highest amount” go by that one figure.',
  ],
  paymentDisclosure:
    'Lenders pay us when you follow an offer, apply, or are funded. We show offers of the lenders we work with; there are others.',
  caveat: 'Figures are estimates. No credit decision has been made: that is up to the lender.',
  action: loanAction,
  createNoOffersAdvice: (loan) =>
    `None of our lenders has an offer${loan === null ? '' : ` of ${loan}`} for these answers today. ` +
    'A smaller amount may change that; so may checking that every answer is right.',
  createOfferCardContent: createLoanContent,
};

/** Shows the offers of verticals without a view of their own, with texts that hold for every product. */
export const defaultProductView: ProductView = {
  ...loanView,
  title: 'Your offers',
  orderDisclosure: [
    '“Recommended” puts first what should serve you best. What a provider pays us plays no part in it.',
  ],
  paymentDisclosure:
    'Providers pay us when you follow an offer. We show offers of those we work with; there are others.',
  caveat: 'Figures are estimates. The terms of an offer are up to the provider.',
  action: { text: 'View offer', prequalificationText: 'View offer', prequalificationNote: null },
  createNoOffersAdvice: () =>
    'None of our providers has an offer for these answers today. Other answers may change that; so may checking that every answer is right.',
};

/** The card shows the loan amount, term and APR range after the monthly payment (Regulation Z, 12 CFR 1026.24(d)). */
function createLoanContent(offer: Offer, loanAmount: number | null): OfferCardContent {
  const { monthly_payment_estimate: paymentUsd, payment_term_months: term, loan_amount_range: amounts } = offer;
  const payment = formatIfPresent(paymentUsd, formatDollarsAndCents);
  const rates = formatIfPresent(offer.apr_range, formatPercentRange);
  const amount = formatIfPresent(loanAmount, formatDollars);
  const loan = joinTexts(' ', amount, term === null ? null : `over ${formatMonths(term)}`);
  const note = joinTexts(', ', loan && `for ${loan}`, rates && `APR from ${rates}`);
  const hasExample = paymentUsd !== null && term !== null && loanAmount !== null && rates !== null;
  return {
    lenderNote: null,
    figures: [
      ['payment', 'Estimated payment', payment && `${payment}/month`, note],
      ['apr', 'APR range', rates?.replace(' to ', '–')],
      ['amount', 'Loan amount', amounts && `${formatDollars(amounts.min)}–${formatDollars(amounts.max)}`],
    ],
    details: [
      createLabeledText(
        'Representative example.',
        hasExample
          ? `A loan of ${loan}, at the middle of this lender’s rates for you, takes ${term} monthly payments of ${payment}: ` +
              `${formatDollarsAndCents(paymentUsd * term)} in all. APR from ${rates}, any origination fee included.`
          : null,
      ),
      createTermsText(offer),
    ],
  };
}
