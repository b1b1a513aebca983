import {
  formatDate,
  formatDollarsAndCents,
  formatFee,
  formatIfPresent,
  formatMonths,
  formatOrNone,
  formatPercent,
  joinTexts,
} from '../format.ts';
import type { Figures, Offer } from '../offer.ts';
import { createLabeledText, createTable } from '../offer-card.ts';
import { createSortOrderLabels, type Figure, type OfferCardContent, type ProductView } from './product-view.ts';

interface DepositTier {
  readonly from: number;
  readonly rate: number;
  readonly apy: number;
}

/** Figures of a deposit account (docs/contract.md#offers). */
type DepositFigures = Figures<{
  name: string;
  apy: number;
  rate: number;
  compounding: string;
  tiers: readonly DepositTier[];
  tier_method: string;
  term_months: number;
  minimum_deposit: number;
  minimum_balance_for_apy: number;
  monthly_fee: number;
  fee_waived_from: number;
  early_withdrawal_penalty_days: number;
  bonus: {
    readonly amount: number;
    readonly requirement: string;
    readonly days: number;
    readonly minimum_deposit?: number | null;
    readonly paid_within_days?: number | null;
  };
  introductory: { readonly rate: number; readonly months: number };
  steps: readonly { readonly from_month: number; readonly rate: number }[];
  insured_by: string;
  certificate_number: string;
  variable: boolean;
  first_year_earnings: number;
}>;

interface DepositOffer extends Offer {
  readonly deposit?: DepositFigures;
}

/** Shows deposit accounts. */
export const depositView: ProductView = {
  name: 'deposit',
  title: 'Your banking offers',
  sortOrderLabels: createSortOrderLabels('Highest APY', 'Highest first-year earnings'),
  orderDisclosure: [
    '“Recommended” puts first what should serve you best. It weighs what your deposit earns in the first year, the fees, and ' +
      'the star rating, which our editors give. What a bank or credit union pays us plays no part in it.',
    '“Highest APY” and “Highest first-year earnings” go by that one figure. First-year earnings are interest and bonus, less fees.',
  ],
  paymentDisclosure:
    'Banks and credit unions pay us when you follow an offer. We show offers of those we work with; there are others.',
  caveat: 'Yields are as of the date shown and may change before you open the account. Fees could reduce the earnings.',
  action: { text: 'View account', prequalificationText: 'View account', prequalificationNote: null },
  createNoOffersAdvice: () =>
    'None of our banks and credit unions has an account for these answers today. Another amount or kind of account may change that.',
  createOfferCardContent: (offer: DepositOffer) => createContent(offer, offer.deposit ?? {}),
};

/** The card shows what 12 CFR 1030.8(c) requires beside a yield: date, variable rate, minimums, fees and penalties. */
function createContent({ as_of: asOf }: Offer, deposit: DepositFigures): OfferCardContent {
  const { bonus, variable, introductory, fee_waived_from: feeWaivedFrom } = deposit;
  const date = formatIfPresent(asOf, formatDate);
  const yieldNotes = [
    date && `as of ${date}`,
    formatIfPresent(variable, (is) => (is ? 'variable rate, may change after you open the account' : 'fixed rate')),
  ];
  return {
    productName: deposit.name,
    lenderNote: formatInsurer(deposit),
    figures: [
      [
        'lead wide apy',
        'Annual percentage yield (APY)',
        formatIfPresent(deposit.apy, formatPercent),
        joinTexts('; ', ...yieldNotes),
      ],
      [
        'earnings',
        'Estimated first-year earnings',
        formatIfPresent(deposit.first_year_earnings, formatDollarsAndCents),
        'interest and bonus, less fees',
      ],
      ['term', 'Term', formatIfPresent(deposit.term_months, formatMonths)],
      ['bonus', 'Bonus', bonus && formatFee(bonus.amount), bonus && formatBonusRequirement(bonus)],
      ...createMinimumFigures(deposit),
      [
        'fee',
        'Monthly fee',
        formatOrNone(deposit.monthly_fee),
        formatIfPresent(feeWaivedFrom, (balance) => `none from a balance of ${formatFee(balance)}`),
      ],
      [
        'penalty',
        'Early withdrawal penalty',
        formatIfPresent(deposit.early_withdrawal_penalty_days, (days) => `${days} days of interest`),
      ],
    ],
    details: [
      createLabeledText('Interest rate:', formatInterest(deposit)),
      createLabeledText('Introductory rate:', introductory && formatIntroductoryRate(introductory)),
      createTierTable(deposit),
      createStepTable(deposit),
    ],
  };
}

/** Creates the minimums to open the account and to earn the APY, as one figure if they are equal. */
function createMinimumFigures({ minimum_deposit: toOpen, minimum_balance_for_apy: toEarn }: DepositFigures): Figure[] {
  const create = (name: string, amount: number | null | undefined): Figure => [
    'minimum',
    `Minimum to ${name}`,
    formatIfPresent(amount, (usd) => (usd === 0 ? 'No minimum' : formatFee(usd))),
  ];
  return toOpen === toEarn
    ? [create('open and to earn the APY', toOpen)]
    : [create('open', toOpen), create('earn the APY', toEarn)];
}

/**
 * Formats what the bonus requires, the deadlines, and the smallest deposit (12 CFR 1030.8(d)). The text of the requirement can contain other
 * numbers of days than the deadline.
 */
function formatBonusRequirement({
  requirement,
  days,
  minimum_deposit: minimum,
  paid_within_days: paidWithin,
}: NonNullable<DepositFigures['bonus']>): string {
  return joinTexts(
    '; ',
    `${requirement}; to be met within ${days} days of opening`,
    minimum ? `for a deposit of ${formatFee(minimum)} or more` : null,
    paidWithin ? `paid within ${paidWithin} days after that` : null,
  );
}

/** Formats the insurer, and the number of the institution at this insurer: `Member FDIC, certificate 12345`. */
function formatInsurer({ insured_by: insurer, certificate_number: number }: DepositFigures): string | null {
  if (insurer === 'fdic') return `Member FDIC${number ? `, certificate ${number}` : ''}`;
  if (insurer === 'ncua') return `Insured by NCUA${number ? `, charter ${number}` : ''}`;
  return null;
}

function formatInterest({ rate, compounding }: DepositFigures): string | null {
  const method = compounding ? `, compounding: ${compounding}` : '';
  return formatIfPresent(rate, (percent) => `${formatPercent(percent)}${method}.`);
}

function formatIntroductoryRate({ rate, months }: NonNullable<DepositFigures['introductory']>): string {
  return `${formatPercent(rate)} for the first ${formatMonths(months)}. The APY includes it.`;
}

/** Creates the table of a certificate's rates (12 CFR 1030, Appendix A, part I.B). */
function createStepTable({ steps }: DepositFigures): HTMLElement | null {
  if (!steps) return null;
  return createTable(
    'Rates by month of the term; the APY is that of the whole term',
    ['From month', 'Rate'],
    steps.map(({ from_month: month, rate }) => [`${month}`, formatPercent(rate)]),
  );
}

/** Creates the table of tiers. An account with a single tier has no table. */
function createTierTable(deposit: DepositFigures): HTMLElement | null {
  const { tiers, tier_method: method } = deposit;
  if (!tiers || tiers.length < 2) return null;
  const rule =
    method === 'marginal'
      ? 'the rate of a tier applies to the part of the balance within the tier'
      : 'the rate of the tier that the balance reaches applies to the whole balance';
  return createTable(
    `Rates by balance: ${rule}`,
    ['Balance from', 'Rate', 'APY'],
    tiers.map(({ from, rate, apy }, at) => [
      formatFee(from),
      formatPercent(rate),
      method === 'marginal' ? formatMarginalYields(deposit, rate, apy, tiers[at + 1]?.apy) : formatPercent(apy),
    ]),
  );
}

/**
 * Formats the yields in a tier whose rate applies only to the part of the balance within the tier. The yield changes with the balance, from
 * `apy` to the yield at the beginning of the next tier (12 CFR 1030, Appendix A, Tiering Method B). In the last tier, the yield approaches
 * the yield of the tier's rate.
 */
function formatMarginalYields(deposit: DepositFigures, rate: number, apy: number, nextApy: number | undefined): string {
  const text = formatPercent(apy);
  if (nextApy !== undefined) return nextApy === apy ? text : `${text} to ${formatPercent(nextApy)}`;
  const limit = computeYieldOfRate(rate, deposit);
  if (limit > apy) return `from ${text}`;
  return limit < apy ? `up to ${text}` : text;
}

const periodsPerYear: Readonly<Record<string, number>> = { daily: 365, monthly: 12, quarterly: 4, annual: 1 };

/** Computes the annual percentage yield of a rate in percent, with two decimals; NaN if the compounding is unknown. */
function computeYieldOfRate(ratePercent: number, { compounding, term_months: months }: DepositFigures): number {
  const perYear = periodsPerYear[compounding ?? ''] ?? Number.NaN;
  const years = (months ?? 12) / 12;
  const periods = perYear * years;
  const rate = ratePercent / 100 / perYear;
  // A part of a period at the end of the term earns simple interest.
  const grown = (1 + rate) ** Math.floor(periods) * (1 + rate * (periods % 1));
  return Math.round((grown ** (1 / years) - 1) * 1e4) / 100;
}
