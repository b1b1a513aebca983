import { bounds } from '../../bounds.ts';
import { absentValue } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import type { Applicant, OfferPrice } from './price-offer.ts';

/** Weighs one priced offer for one applicant; more is better. */
export type ScoreOffer = (tables: LoanTables, offer: number, applicant: Applicant, price: OfferPrice) => number;

/**
 * Weights of the parts of `recommended`, in percent (docs/contract.md#sort-orders). The payout of an offer is not among
 * them and never will be.
 */
export const recommendedWeights = {
  /** The middle of the borrower's APR range: 1 at 0 %, 0 at the highest rate ever shown. */
  cost: 45,
  /** The lender's approval likelihood in the borrower's credit band. */
  approval: 30,
  /** Room above the amount asked for: 1 when it is at most 80 % of what the borrower can get, 0 when it is all of it. */
  amountFit: 8,
  /** The shorter of the term asked for and the term quoted over the longer; 1 when none was asked for. */
  termFit: 7,
  /** 1 at five stars, 0 at one. */
  stars: 10,
} as const;

/**
 * The score of `recommended`, in whole millionths. Each part is the quotient of two exact numbers, rounded to millionths, and
 * the rest is arithmetic of integers: so the order never hangs on the last bit of a floating-point sum, and whoever follows
 * the rules comes to the same.
 */
export const recommendedScore: ScoreOffer = (tables, offer, applicant, price) => {
  const row = offer * tables.bandCount + applicant.creditBand;
  const aprMiddleTimes200 = tables.aprMin[price.slot]! + tables.aprMax[price.slot]!;
  const { cost, approval, amountFit, termFit, stars } = recommendedWeights;
  const sum =
    cost * ratioMillionths(200 * bounds.aprPercentMax - aprMiddleTimes200, 200 * bounds.aprPercentMax) +
    approval * ratioMillionths(tables.approvalLikelihood[row]!, 1) +
    amountFit * Math.min(1_000_000, ratioMillionths(5 * (price.amountMax - applicant.amount), price.amountMax)) +
    termFit * termFitMillionths(applicant.termMonths, tables.termMonths[price.termIndex]!) +
    stars * ratioMillionths(tables.stars[offer]! - 1, 4);
  return Math.round(sum / 100);
};

function termFitMillionths(wantedMonths: number, quotedMonths: number): number {
  if (wantedMonths === absentValue) return 1_000_000;
  return ratioMillionths(Math.min(wantedMonths, quotedMonths), Math.max(wantedMonths, quotedMonths));
}

function ratioMillionths(part: number, whole: number): number {
  return Math.round((1_000_000 * part) / whole);
}

/**
 * Keys of docs/contract.md#sort-orders, each one exact number of which less is better, so that two offers are compared by one
 * comparison. Ties go by the number of the offer.
 */

/** `lowest_apr`: the lower end of the range as answered, then the upper one; below 2^24. */
export function aprKey(tables: LoanTables, slot: number): number {
  return tables.aprMin[slot]! * 4_096 + tables.aprMax[slot]!;
}

/** `highest_amount`: the most the borrower can get, then `lowest_apr`. */
export function amountKey(tables: LoanTables, slot: number, amountMax: number): number {
  return aprKey(tables, slot) - amountMax * 2 ** 24;
}

/** The largest amount among the offers whose `amountKey` is this or greater; negative for an infinite key. */
export function maxAmountFromKey(key: number): number {
  return Math.ceil(-key / 2 ** 24);
}

/** `svc_revenue`. */
export function revenueKey(tables: LoanTables, row: number): number {
  return -tables.expectedRevenueMicros[row]!;
}
