import type { FieldVector } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import { computeAprPercent, monthlyPaymentPerDollar } from '../../src/verticals/common/loan-math.ts';
import type { LoanCatalog, LoanLender, LoanOffer } from '../../src/verticals/personal-loans/offer-schema.ts';
import { recommendationWeights } from '../../src/verticals/personal-loans/recommendation-score.ts';
import type { Quote } from './loan-fixtures.ts';
import type { ReferenceOrders } from './priced-rankings.ts';
import { ageOn, type FieldValues, listSubmittedValues, meetsCriteria } from './reference-criteria.ts';

/** One offer as the plain rules see it. */
export interface ReferenceMatch {
  readonly id: string;
  readonly quote: Quote;
  readonly revenueMicros: number;
  readonly score: number;
}

/**
 * The rules of matching written down as plainly as they can be, straight from the catalog file, offer by offer and without
 * any table: what the fast matcher is compared with.
 */
export function referenceMatches(
  catalog: LoanCatalog,
  vertical: Vertical,
  borrower: Readonly<FieldVector>,
  today: number,
): ReferenceMatch[] {
  const values = listSubmittedValues(vertical, borrower);
  return catalog.lenders.flatMap((lender) =>
    lender.offers.flatMap((offer) => referenceMatch(catalog, lender, offer, vertical, values, today) ?? []),
  );
}

const compareAprs = (one: ReferenceMatch, other: ReferenceMatch) =>
  one.quote.apr_range.min - other.quote.apr_range.min || one.quote.apr_range.max - other.quote.apr_range.max;

export const loanOrders: ReferenceOrders<ReferenceMatch> = {
  recommended: (one, other) => other.score - one.score,
  lowest_apr: compareAprs,
  highest_amount: (one, other) =>
    other.quote.loan_amount_range.max - one.quote.loan_amount_range.max || compareAprs(one, other),
  svc_revenue: (one, other) => other.revenueMicros - one.revenueMicros,
};

type Band = LoanOffer['bands'][string];
type Values = FieldValues;

function referenceMatch(
  catalog: LoanCatalog,
  lender: LoanLender,
  offer: LoanOffer,
  vertical: Vertical,
  values: Values,
  today: number,
): ReferenceMatch | null {
  const { roles } = vertical;
  if (!meetsCriteria(offer.criteria, values, today)) return null;
  const amount = values[roles.amount!] as number | undefined;
  const state = values[roles.state] as string | undefined;
  const band = offer.bands[(values[roles.creditBand!] as string | undefined) ?? 'none'];
  if (amount === undefined || state === undefined || band === undefined) return null;

  const withCoBorrower = roles.coBorrower !== undefined && values[roles.coBorrower] === true;
  if (offer.joint_applications === 'required' && !withCoBorrower) return null;
  if (offer.joint_applications === 'not_accepted' && withCoBorrower) return null;

  const ageOfContract = catalog.state_rules[state]?.min_age;
  const born = roles.birthdate === undefined ? undefined : (values[roles.birthdate] as number | undefined);
  if (ageOfContract !== undefined && born !== undefined && ageOn(born, today) < ageOfContract) return null;

  const share = shareOfBand(offer, vertical, values[roles.creditBand!] as string);
  if (share === 0) return null;

  let cap = catalog.max_apr_percent;
  let least = offer.amount.min;
  for (const rules of [catalog.state_rules, lender.state_rules, offer.state_rules]) {
    cap = Math.min(cap, rules?.[state]?.max_apr_percent ?? 36);
    least = Math.max(least, rules?.[state]?.min_amount ?? 0);
  }
  let most = Math.min(offer.amount.max, band.max_amount);
  if (amount < least || amount > most) return null;

  let terms = offer.term_months.filter((months) => aprsOf(band, months).max <= cap).sort((a, b) => a - b);
  if (offer.max_debt_to_income_percent !== undefined) {
    const income = values[roles.annualIncome!] as number | undefined;
    const debt = values[roles.monthlyDebt!] as number | undefined;
    if (income === undefined || debt === undefined) return null;
    const percent = offer.max_debt_to_income_percent;
    const fits = (usd: number, months: number) => fitsBeside(debt, income, percent, usd * middleFactor(band, months));
    terms = terms.filter((months) => fits(amount, months));
    // Not further than the rules on amounts let it count.
    most = Math.min(most, Math.max(...terms.map((months) => lastFitting(amount, most, (usd) => fits(usd, months)))));
  }
  if (terms.length === 0) return null;

  const wanted = roles.term === undefined ? undefined : (values[roles.term] as number | undefined);
  const nearest = [...terms].sort((a, b) => Math.abs(a - 36) - Math.abs(b - 36) || a - b)[0]!;
  const quoted = wanted !== undefined && terms.includes(wanted) ? wanted : nearest;
  const aprs = aprsOf(band, quoted);
  const apr_range = { min: round(aprs.min), max: round(aprs.max) };
  const payoutMicros = Math.round(offer.payout_usd * 1e6);
  const { cost, approval, amountFit, termFit, stars } = recommendationWeights;
  const score =
    cost * millionths(36 * 200 - Math.round((apr_range.min + apr_range.max) * 100), 36 * 200) +
    approval * millionths(band.approval_likelihood * share, 1) +
    amountFit * Math.min(1e6, millionths((most - amount) * 5, most)) +
    termFit * (wanted === undefined ? 1e6 : millionths(Math.min(wanted, quoted), Math.max(wanted, quoted))) +
    stars * millionths(offer.stars - 1, 4);
  return {
    id: offer.id,
    quote: {
      apr_range,
      payment_term_months: quoted,
      monthly_payment_estimate: round(amount * middleFactor(band, quoted)),
      loan_amount_range: { min: least, max: most },
      term_months: terms,
    },
    revenueMicros:
      (offer.payout_model ?? vertical.revenueModel) === 'cost_per_click'
        ? payoutMicros
        : Math.round(payoutMicros * band.confirm_rate!),
    score: Math.round(score / 100),
  };
}

/**
 * Whether a payment and the debts stay within a percentage of the income, by fractions of whole numbers: to nine decimals
 * of a dollar, far finer than the figures and far coarser than the error of a double.
 */
function fitsBeside(monthlyDebt: number, annualIncome: number, percent: number, payment: number): boolean {
  const [whole, decimals = ''] = String(percent).split('.');
  const shareMillionths = BigInt(whole! + decimals.padEnd(4, '0'));
  const owedBillionths = BigInt(monthlyDebt) * 1_000_000_000n + BigInt(Math.round(payment * 1e9));
  // owed / 10^9 <= share / 10^6 x income / 12
  return owedBillionths * 12n <= shareMillionths * BigInt(annualIncome) * 1_000n;
}

/** The last of the whole numbers from `first`, which fits, to `last` that fits, where those that fit come first. */
function lastFitting(first: number, last: number, fits: (value: number) => boolean): number {
  let [low, high] = [first, last];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Of the band's scores, one by one, the share that the offer takes. */
function shareOfBand(offer: LoanOffer, vertical: Vertical, bandName: string): number {
  const bands = vertical.fields.find(({ name }) => name === vertical.roles.creditBand) as { values: readonly string[] };
  const scores = vertical.creditScores?.[bands.values.indexOf(bandName)];
  if (offer.min_credit_score === undefined || scores === undefined) return 1;
  let all = 0;
  let taken = 0;
  for (let score = scores.min; score <= scores.max; score++) {
    all++;
    if (score >= offer.min_credit_score) taken++;
  }
  return taken / all;
}

function aprsOf(band: Band, months: number): { min: number; max: number } {
  const { min, max } = noteRate(band, months);
  const fee = band.terms?.[months]?.origination_fee_percent ?? band.origination_fee_percent;
  return { min: computeAprPercent(min, fee, months), max: computeAprPercent(max, fee, months) };
}

function noteRate(band: Band, months: number): { min: number; max: number } {
  return band.terms?.[months]?.note_rate_percent ?? band.note_rate_percent;
}

function middleFactor(band: Band, months: number): number {
  const { min, max } = noteRate(band, months);
  return monthlyPaymentPerDollar((min + max) / 2, months);
}

function millionths(part: number, whole: number): number {
  return Math.round((part * 1e6) / whole);
}

function round(value: number): number {
  return Math.floor(value * 100 + 0.5 + 1e-9) / 100;
}
