import type { FieldVector } from '../../../src/domain/field-vector.ts';
import { roundHalfUp } from '../../../src/domain/money.ts';
import type { FirstPaymentPeriod } from '../../../src/verticals/mortgage/annual-percentage-rate.ts';
import { mortgage } from '../../../src/verticals/mortgage/mortgage.ts';
import type { MortgageCatalog, MortgageOffer } from '../../../src/verticals/mortgage/offer-schema.ts';
import type { PricePart } from '../../../src/verticals/mortgage/price-parts.ts';
import type { ReferenceOrders } from '../../matching/priced-rankings.ts';
import { ageOn, type FieldValues, listSubmittedValues, meetsCriteria } from '../../matching/reference-criteria.ts';
import { today } from './mortgage-fixtures.ts';

/** Figures of one matching offer according to the rules of docs/verticals/mortgage.md, computed month by month and without tables. */
export interface ReferenceMortgage {
  readonly id: string;
  readonly offer: MortgageOffer;
  readonly apr: number;
  readonly term: number;
  readonly payment: number;
  readonly largestLoan: number;
  readonly availableTerms: readonly number[];
  readonly rate: number;
  readonly points: number;
  readonly fees: number;
  readonly loan: number;
  readonly ltvPercent: number;
  readonly principalAndInterest: number;
  readonly premium: number;
  readonly premiumMonths: number;
  /** Upfront premium in USD. */
  readonly upfront: number;
  /** Rate and payment of each month. */
  readonly months: readonly { readonly rate: number; readonly payment: number }[];
  readonly costOverFiveYears: number;
  /** Score of the order `recommended`, in millionths. */
  readonly score: number;
  /** Whether the order `recommended` puts the offer behind offers at 360 months, because the borrower asked for no term. */
  readonly comesLater: boolean;
}

type Values = FieldValues;

/** Returns the matching offers of a catalog, in the order of the file. */
export function referenceMortgages(catalog: MortgageCatalog, borrower: Readonly<FieldVector>): ReferenceMortgage[] {
  const values = listSubmittedValues(mortgage, borrower);
  const loan = loanOf(values);
  const minimumAge = catalog.state_rules?.[values.state as string]?.min_age ?? 0;
  if (loan === null || values.state === undefined) return [];
  if (values.birthdate !== undefined && ageOn(values.birthdate as number, today) < minimumAge) return [];
  return catalog.lenders.flatMap(({ offers }) =>
    offers.flatMap((offer) => referenceMortgage(offer, values, loan) ?? []),
  );
}

/** Returns the requested loan in USD, or null if a figure is missing. */
function loanOf(values: Values): number | null {
  const {
    property_value: value,
    down_payment: down,
    mortgage_balance: balance,
    cash_out_amount: cash,
  } = values as Readonly<Record<string, number>>;
  const loan =
    values.loan_purpose === 'purchase'
      ? value! - down!
      : values.loan_purpose === 'refinance'
        ? balance!
        : values.loan_purpose === 'cash_out'
          ? balance! + cash!
          : Number.NaN;
  return Number.isNaN(loan) || loan === undefined || value === undefined ? null : loan;
}

function referenceMortgage(offer: MortgageOffer, values: Values, loan: number): ReferenceMortgage | null {
  const value = values.property_value as number;
  const band = offer.bands[values.credit_score_range as string];
  if (band === undefined || !meetsCriteria(offer.criteria, values, today)) return null;
  const rateType = offer.adjustable === undefined ? 'fixed' : 'adjustable';
  if (values.rate_type !== undefined && values.rate_type !== rateType) return null;
  if (loan < offer.amount.min || loan > offer.amount.max || !isWithin(loan, value, band.max_ltv_percent)) return null;

  const { max_debt_to_income_percent: percent } = offer;
  const { annual_income: income, monthly_debt_payments: debts } = values as Readonly<Record<string, number>>;
  if (percent !== undefined && (income === undefined || debts === undefined)) return null;
  const priceOf = (usd: number, term: number) => sumPrice(offer, truncatedLtv(usd, value), offer.terms[term]!, band);
  const isAffordable = (usd: number, term: number) =>
    percent === undefined ||
    firstPayment(offer, priceOf(usd, term), usd, value, term) + debts! <= (percent / 100) * (income! / 12) + 1e-9;

  const availableTerms = Object.keys(offer.terms)
    .map(Number)
    .filter((term) => isAffordable(loan, term));
  if (availableTerms.length === 0) return null;
  const requested = values.loan_term_months as number | undefined;
  const wanted = requested ?? 360;
  const term = availableTerms.toSorted((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted) || a - b)[0]!;
  // A higher loan-to-value band can be cheaper, so each band is searched for its last affordable dollar.
  let largestLoan = loan;
  for (const { max_ltv_percent: max } of offer.ltv_bands) {
    const last = Math.min(offer.amount.max, lastWithin(value, Math.min(max, band.max_ltv_percent)));
    const first = offer.ltv_bands.reduce(
      (least, { max_ltv_percent: lower }) => (lower < max ? Math.max(least, lastWithin(value, lower) + 1) : least),
      loan,
    );
    largestLoan = Math.max(
      largestLoan,
      lastTrue(first, last, (usd) => isAffordable(usd, term)),
    );
  }

  const price = priceOf(loan, term);
  const figures = simulateLoan(offer, price, loan, value, term);
  const costOverFiveYears = roundHalfUp(figures.costOverFiveYears, 2);
  const millionths = (part: number) => Math.round(1e6 * part);
  return {
    id: offer.id,
    offer,
    apr: roundHalfUp(figures.aprPercent, 2),
    term,
    payment: roundHalfUp(figures.principalAndInterest + figures.premium, 2),
    largestLoan,
    availableTerms: availableTerms.toSorted((a, b) => a - b),
    rate: price.rate_percent,
    points: price.points_percent,
    fees: price.lender_fees_usd,
    loan,
    ltvPercent: truncatedLtv(loan, value),
    principalAndInterest: roundHalfUp(figures.principalAndInterest, 2),
    premium: roundHalfUp(figures.premium, 2),
    premiumMonths: figures.premiumMonths,
    upfront: roundHalfUp(figures.upfront, 2),
    months: figures.months,
    costOverFiveYears,
    score: Math.round(
      (60 * millionths(Math.max(0, 1 - costOverFiveYears / (0.6 * loan))) +
        25 * millionths(band.approval_likelihood) +
        15 * millionths((offer.stars - 1) / 4)) /
        100,
    ),
    comesLater: requested === undefined && term !== 360,
  };
}

/** Returns the loan-to-value ratio in percent, without the digits after the second decimal. */
function truncatedLtv(loan: number, value: number): number {
  return Number((BigInt(loan) * 10_000n) / BigInt(value)) / 100;
}

/** Whether a loan is at most this percentage of the value. Percentages have two decimals. */
function isWithin(loan: number, value: number, percent: number): boolean {
  return truncatedLtv(loan, value) <= percent;
}

function lastWithin(value: number, percent: number): number {
  return lastTrue(0, 2 * value, (loan) => isWithin(loan, value, percent));
}

/** Returns the last integer from `first` to `last` for which a condition holds that holds up to some integer; 0 if it never holds. */
function lastTrue(first: number, last: number, condition: (at: number) => boolean): number {
  if (first > last || !condition(first)) return 0;
  let [yes, no] = [first, last + 1];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (condition(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

type ReferencePrice = Readonly<Required<PricePart>>;

/** Adds the parts of a price, in the units of the catalog. */
function sumPrice(offer: MortgageOffer, ltvPercent: number, term: PricePart, band: PricePart): ReferencePrice {
  const ltvBand = offer.ltv_bands.find(({ max_ltv_percent: max }) => ltvPercent <= max)!;
  const sum = (name: keyof ReferencePrice) =>
    Math.round(1_000 * ((term[name] ?? 0) + (ltvBand[name] ?? 0) + (band[name] ?? 0))) / 1_000;
  return {
    rate_percent: sum('rate_percent'),
    points_percent: sum('points_percent'),
    lender_fees_usd: sum('lender_fees_usd'),
    prepaid_interest_days: sum('prepaid_interest_days'),
    upfront_premium_percent: sum('upfront_premium_percent'),
    annual_premium_percent: sum('annual_premium_percent'),
  };
}

const isPrivatelyInsured = ({ loan_type: type }: MortgageOffer) => type === 'conventional' || type === 'jumbo';

/** Returns the first payment of principal, interest and mortgage insurance. The rate is the same in the whole first year. */
function firstPayment(offer: MortgageOffer, price: ReferencePrice, loan: number, value: number, term: number): number {
  const financed = loan * (1 + price.upfront_premium_percent / 100);
  const monthly = price.rate_percent / 1_200;
  const payment = (financed * monthly) / (1 - (1 + monthly) ** -term);
  const premium = (loan * price.annual_premium_percent) / 1_200;
  if (isPrivatelyInsured(offer)) return payment + (isWithin(loan, value, 80) ? 0 : premium);
  let [balance, balances] = [1, 0];
  for (let month = 0; month < 12; month++) {
    balances += balance;
    balance = balance * (1 + monthly) - payment / financed;
  }
  return payment + (premium * balances) / 12;
}

/** Yearly rate in percent for each month of a loan, under the rules of docs/verticals/mortgage.md#adjustable-loans. */
export function listMonthlyRates({ adjustable }: MortgageOffer, initialRate: number, termMonths: number): number[] {
  let rate = initialRate;
  return Array.from({ length: termMonths }, (_, month) => {
    if (adjustable === undefined || month < adjustable.fixed_months) return rate;
    const { fixed_months, adjustment_months, index_percent, margin_percent, caps_percent } = adjustable;
    if ((month - fixed_months) % adjustment_months !== 0) return rate;
    const cap = month === fixed_months ? caps_percent.first : caps_percent.periodic;
    const indexed = index_percent + margin_percent;
    if (indexed > rate) rate = Math.min(indexed, rate + cap, initialRate + caps_percent.lifetime);
    else rate = Math.max(indexed, rate - cap);
    return rate;
  });
}

/** Computes the figures of a loan month by month, not rounded. */
function simulateLoan(offer: MortgageOffer, price: ReferencePrice, loan: number, value: number, termMonths: number) {
  const upfront = (loan * price.upfront_premium_percent) / 100;
  const financed = loan + upfront;
  const closing =
    (loan * price.points_percent) / 100 +
    price.lender_fees_usd +
    (financed * price.rate_percent * price.prepaid_interest_days) / 36_500;
  const balances: number[] = [];
  const principalAndInterest: number[] = [];
  let balance = financed;
  let scheduled = 0;
  let before: number | null = null;
  const rates = listMonthlyRates(offer, price.rate_percent, termMonths);
  for (const [month, current] of rates.entries()) {
    const monthly = current / 1_200;
    if (current !== before) scheduled = (balance * monthly) / (1 - (1 + monthly) ** (month - termMonths));
    before = current;
    balances.push(balance);
    principalAndInterest.push(scheduled);
    balance = balance * (1 + monthly) - scheduled;
  }
  const annual = price.annual_premium_percent / 100;
  const premiums = balances.map((owed, month) => {
    if (isPrivatelyInsured(offer)) {
      const isInsured = !isWithin(loan, value, 80) && owed > 0.78 * value + 1e-6 && month < termMonths / 2;
      return isInsured ? (loan * annual) / 12 : 0;
    }
    if (offer.loan_type === 'fha' && isWithin(loan, value, 90) && month >= 11 * 12) return 0;
    const year = balances.slice(month - (month % 12), month - (month % 12) + 12);
    const averageBalance = year.reduce((sum, each) => sum + each, 0) / 12;
    return (((loan * averageBalance) / financed) * annual) / 12;
  });
  const payments = principalAndInterest.map((each, month) => each + premiums[month]!);
  const paidIn60 = payments.slice(0, 60).reduce((sum, each) => sum + each, 0);
  return {
    principalAndInterest: principalAndInterest[0]!,
    premium: premiums[0]!,
    premiumMonths: premiums.filter((premium) => premium > 0).length,
    upfront,
    months: payments.map((payment, month) => ({ rate: rates[month]!, payment: roundHalfUp(payment, 2) })),
    costOverFiveYears: paidIn60 + closing + upfront - (financed - balances[60]!),
    aprPercent: bisectAprPercent(loan - closing, payments),
  };
}

/**
 * Finds by bisection the APR at which the payments are worth `financed`. The first payment is paid after the first period, the others one
 * month apart. Part of a month bears simple interest (12 CFR 1026, Appendix J (b)(5)).
 */
export function bisectAprPercent(
  financed: number,
  payments: readonly number[],
  { months, monthFraction }: FirstPaymentPeriod = { months: 1, monthFraction: 0 },
): number {
  let [low, high] = [0, 0.1];
  for (let step = 0; step < 60; step++) {
    const rate = (low + high) / 2;
    let value = 0;
    for (let at = payments.length - 1; at > 0; at--) value = (value + payments[at]!) / (1 + rate);
    value = (value + payments[0]!) / ((1 + monthFraction * rate) * (1 + rate) ** months);
    if (value > financed) low = rate;
    else high = rate;
  }
  return low * 1_200;
}

const compareScores = (one: ReferenceMortgage, other: ReferenceMortgage) =>
  Number(one.comesLater) - Number(other.comesLater) || other.score - one.score;

/** No order depends on the payout. */
export const mortgageOrders: ReferenceOrders<ReferenceMortgage> = {
  recommended: compareScores,
  lowest_apr: (one, other) => one.apr - other.apr,
  highest_amount: (one, other) => other.largestLoan - one.largestLoan || one.apr - other.apr,
  svc_revenue: compareScores,
};
