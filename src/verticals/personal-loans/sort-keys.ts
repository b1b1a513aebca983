import { bounds } from '../../bounds.ts';
import { absentValue } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import type { Applicant, OfferPrice } from './price-offer.ts';

/** Returns the score of a priced offer for an applicant; higher is better. */
export type ScoreOffer = (tables: LoanTables, offer: number, applicant: Applicant, price: OfferPrice) => number;

/** Weights of the score parts of `recommended`, in percent (docs/contract.md#sort-orders). The payout must never be a part. */
export const recommendedWeights = {
  /** Weight of the cost score: 1 if the middle of the APR range is 0 %, 0 if it is `aprPercentMax`. */
  cost: 45,
  approval: 30,
  /** Weight of the amount score: 1 if the requested amount is at most 80 % of the offer's largest amount, 0 if it equals that amount. */
  amountFit: 8,
  /** Weight of the term score: the shorter of requested and quoted term divided by the longer; 1 if no term was requested. */
  termFit: 7,
  /** Weight of the star rating: the score is 1 at five stars, 0 at one star. */
  stars: 10,
} as const;

/**
 * Computes the score of `recommended`, in millionths. Each part is the quotient of two exact numbers, rounded to millionths. The rest
 * is integer arithmetic, so the order never depends on rounding errors of a floating-point sum.
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

function termFitMillionths(requestedMonths: number, quotedMonths: number): number {
  if (requestedMonths === absentValue) return 1_000_000;
  return ratioMillionths(Math.min(requestedMonths, quotedMonths), Math.max(requestedMonths, quotedMonths));
}

function ratioMillionths(part: number, whole: number): number {
  return Math.round((1_000_000 * part) / whole);
}

/** Sort keys of docs/contract.md#sort-orders. Keys are exact numbers; a lower key is better. The offer number breaks ties. */

/** Sort key of `lowest_apr`: the lower end of the shown APR range, then the upper end. The key is below 2^24. */
export function aprKey(tables: LoanTables, slot: number): number {
  return tables.aprMin[slot]! * 4_096 + tables.aprMax[slot]!;
}

/** Sort key of `highest_amount`: the largest amount that the borrower can get, then the key of `lowest_apr`. */
export function amountKey(tables: LoanTables, slot: number, amountMax: number): number {
  return aprKey(tables, slot) - amountMax * 2 ** 24;
}

/** Returns the largest amount of an offer whose `amountKey` is at least `key`; negative for an infinite key. */
export function maxAmountFromKey(key: number): number {
  return Math.ceil(-key / 2 ** 24);
}

/** Sort key of `svc_revenue`: the expected revenue of a click. */
export function revenueKey(tables: LoanTables, row: number): number {
  return -tables.expectedRevenueMicros[row]!;
}
