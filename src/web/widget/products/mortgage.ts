import {
  formatDollars,
  formatDollarsAndCents,
  formatIfPresent,
  formatMonths,
  formatOfferFeature,
  formatOrNone,
  formatPercent,
  formatPercentRange,
  formatShortPercent,
  joinTexts,
} from '../format.ts';
import type { Figures, Offer } from '../offer.ts';
import { createLabeledText, createTable, createTermsText } from '../offer-card.ts';
import { loanAction } from './loan.ts';
import type { Figure, OfferCardContent, ProductView } from './product-view.ts';

/** Payments of a loan from one month to the next change of the rate or of the payment. */
interface PaymentPeriod {
  readonly from_month: number;
  readonly rate: number;
  readonly payment: number;
}

type AdjustableRate = Figures<{
  index_percent: number;
  margin_percent: number;
  fully_indexed_rate: number;
  caps_percent: { readonly first: number; readonly periodic: number; readonly lifetime: number };
  adjustment_months: number;
  payments: readonly PaymentPeriod[];
}>;

/** Figures of a mortgage (docs/contract.md#offers). */
type MortgageFigures = Figures<{
  loan_type: string;
  rate_type: string;
  rate: number;
  /** Months before the rate of an adjustable loan may change. */
  fixed_months: number;
  points_percent: number;
  lender_fees: number;
  loan_amount: number;
  ltv_percent: number;
  principal_and_interest: number;
  mortgage_insurance: number;
  mortgage_insurance_months: number;
  upfront_premium: number;
  adjustable: AdjustableRate;
  cost_over_five_years: number;
  lock_days: number;
  nmls_id: string;
}>;

interface MortgageOffer extends Offer {
  readonly mortgage?: MortgageFigures;
}

/** Shows mortgages. There is no sort order by revenue, because it could be a paid referral (RESPA, 12 CFR 1024.14). */
export const mortgageView: ProductView = {
  name: 'mortgage',
  title: 'Your mortgage offers',
  sortOrderLabels: {
    recommended: 'Recommended',
    lowest_apr: 'Lowest APR',
    highest_amount: 'Highest loan amount',
  },
  orderDisclosure: [
    '“Recommended” puts first what should serve you best. It weighs what the loan costs over five years, how likely the ' +
      'lender is to approve you, and the star rating, which our editors give.',
    '“Lowest APR” goes by that one figure. “Highest loan amount” goes by the largest loan that the lender would make.',
    'What a lender pays us plays no part in any order.',
  ],
  paymentDisclosure:
    'A lender pays us the same for each application that it accepts, whether or not the loan closes, and wherever its offer ' +
    'stands. We show offers of the lenders we work with; there are others.',
  caveat:
    'Figures are estimates and no commitment to lend. Payments do not include taxes and insurance premiums for the home, ' +
    'so the actual payment will be greater.',
  action: loanAction,
  createNoOffersAdvice: () =>
    'None of our lenders has a mortgage for these answers today. A larger down payment or a smaller loan may change that; ' +
    'so may checking that every answer is right.',
  createOfferCardContent: (offer: MortgageOffer) => createContent(offer, offer.mortgage ?? {}),
};

/**
 * The APR is as prominent as the rate, and term and amount follow the payment (Regulation Z, 12 CFR 1026.24(c) and (d)). All rates and
 * payments of an adjustable loan are as prominent as the first ones (1026.24(f)).
 */
function createContent(offer: Offer, mortgage: MortgageFigures): OfferCardContent {
  const { payment_term_months: term } = offer;
  const {
    loan_amount: amount,
    mortgage_insurance: insurance,
    mortgage_insurance_months: insuranceMonths,
    points_percent: points,
    rate_type: rateType,
  } = mortgage;
  const isAdjustable = rateType === 'adjustable';
  const loan = joinTexts(
    ' ',
    formatIfPresent(amount, (usd) => `for a loan of ${formatDollars(usd)}`),
    formatIfPresent(term, (months) => `over ${formatMonths(months)}`),
  );
  return {
    lenderNote: formatIfPresent(mortgage.nmls_id, (id) => `NMLS ID ${id}`),
    figures: [
      [
        'lead rate',
        isAdjustable ? 'Initial interest rate' : 'Interest rate',
        formatIfPresent(mortgage.rate, formatPercent),
        isAdjustable ? formatRateChange(mortgage) : null,
      ],
      ['lead apr', 'APR', formatIfPresent(offer.apr_range, formatPercentRange)],
      [
        'lead wide',
        'Estimated payment',
        formatIfPresent(offer.monthly_payment_estimate, formatPerMonth),
        joinTexts('; ', loan, isAdjustable ? formatFirstPeriod(mortgage) : null),
      ],
      ...createLaterPeriodFigures(mortgage, term),
      [
        'wide insurance',
        'Mortgage insurance',
        formatOrNone(insurance, formatPerMonth),
        insurance ? formatInsuranceNote(insuranceMonths) : null,
      ],
      ['points', 'Points', formatOrNone(points, (percent) => `${formatShortPercent(percent)} of the loan`)],
      ['fees', 'Lender fees', formatOrNone(mortgage.lender_fees)],
      ['lock', 'Rate lock', formatIfPresent(mortgage.lock_days, (days) => `${days} days`)],
      ['wide type', 'Loan type', formatLoanType(mortgage)],
    ],
    details: createDetails(offer, mortgage),
  };
}

function createDetails(offer: Offer, mortgage: MortgageFigures): (HTMLElement | null)[] {
  return [
    createTable('The loan', null, [
      ['Loan amount', formatIfPresent(mortgage.loan_amount, formatDollars)],
      ['Loan-to-value ratio', formatIfPresent(mortgage.ltv_percent, formatShortPercent)],
      ['Principal and interest', formatIfPresent(mortgage.principal_and_interest, formatPerMonth)],
      ['Upfront premium, part of the loan', formatOrNone(mortgage.upfront_premium)],
      ['Cost over five years', formatIfPresent(mortgage.cost_over_five_years, formatDollarsAndCents)],
      [
        'Largest loan of this lender for you',
        formatIfPresent(offer.loan_amount_range, ({ max }) => formatDollars(max)),
      ],
    ]),
    createAdjustmentTable(mortgage),
    createTermsText(offer),
    createLabeledText(
      'Cost over five years:',
      'payments, points, fees, prepaid interest and upfront premium, less the principal that you repay.',
    ),
  ];
}

function formatPerMonth(amount: number): string {
  return `${formatDollarsAndCents(amount)}/month`;
}

function formatRateChange({ fixed_months: months }: MortgageFigures): string {
  return `may change after ${formatIfPresent(months, formatMonths) ?? 'an initial period'}`;
}

/** Formats the months of the first payment: `in months 1 to 84`. */
function formatFirstPeriod({ adjustable }: MortgageFigures): string {
  const next = adjustable?.payments?.[1];
  return next === undefined ? 'at the initial rate' : `in ${formatMonthRange(1, next.from_month - 1)}`;
}

function formatMonthRange(first: number, last: number): string {
  return first === last ? `month ${first}` : `months ${first} to ${last}`;
}

/** Creates a figure for each rate and payment after the first one. */
function createLaterPeriodFigures({ adjustable }: MortgageFigures, term: number | null): Figure[] {
  const [, ...periods] = adjustable?.payments ?? [];
  const note = formatIfPresent(adjustable?.index_percent, (index) => `if the index stays at ${formatPercent(index)}`);
  return periods.map(({ from_month: from, rate, payment }, at) => {
    const last = periods[at + 1] === undefined ? term : periods[at + 1]!.from_month - 1;
    const months = formatIfPresent(last, (month) => formatMonthRange(from, month)) ?? `months from ${from} on`;
    return ['lead wide', `Then, in ${months}`, `${formatPercent(rate)}, ${formatPerMonth(payment)}`, note];
  });
}

/** Creates the table with the rule of an adjustable rate. Returns null for a fixed rate. */
function createAdjustmentTable({ adjustable }: MortgageFigures): HTMLElement | null {
  if (!adjustable) return null;
  const { caps_percent: caps } = adjustable;
  const limit = (name: 'first' | 'periodic' | 'lifetime') =>
    formatIfPresent(caps, (limits) => `${limits[name]} percentage ${limits[name] === 1 ? 'point' : 'points'}`);
  return createTable('The adjustable rate', null, [
    ['Index', formatIfPresent(adjustable.index_percent, formatPercent)],
    ['Margin', formatIfPresent(adjustable.margin_percent, formatPercent)],
    ['Fully indexed rate', formatIfPresent(adjustable.fully_indexed_rate, formatPercent)],
    ['Time between changes', formatIfPresent(adjustable.adjustment_months, formatMonths)],
    ['Largest first change', limit('first')],
    ['Largest later change', limit('periodic')],
    ['Largest increase in all', limit('lifetime')],
  ]);
}

function formatInsuranceNote(months: number | null | undefined): string {
  return `included in the payment${formatIfPresent(months, (count) => `, for ${formatMonths(count)}`) ?? ''}`;
}

/** Formats loan type and rate type: `Conventional, fixed rate`. */
function formatLoanType({ loan_type: type, rate_type: rateType }: MortgageFigures): string | null {
  return joinTexts(', ', formatIfPresent(type, formatOfferFeature), rateType ? `${rateType} rate` : null) || null;
}
