import type { FieldVector } from '../../../src/domain/field-vector.ts';
import { roundHalfUp } from '../../../src/domain/money.ts';
import {
  computeAnnualPercentageYield,
  computeTierInterestPerDollar,
} from '../../../src/verticals/banking/annual-yield.ts';
import { banking } from '../../../src/verticals/banking/banking.ts';
import type { DepositCatalog, DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';
import type { ReferenceOrders } from '../../matching/priced-rankings.ts';
import { ageOn, type FieldValues, listSubmittedValues, meetsCriteria } from '../../matching/reference-criteria.ts';
import { today } from './deposit-fixtures.ts';

/**
 * Figures of one matching offer according to the rules of docs/verticals/banking.md, without tables. This reference checks tables, tiers,
 * bonuses, fees and orders. It uses the formulas of src for the interest on one dollar and for the yield, so that both sides round the same
 * numbers. The tests of these formulas use `slow-interest.ts`, which is independent of src.
 */
export interface ReferenceDeposit {
  readonly id: string;
  readonly apy: number;
  readonly rate: number;
  readonly earnings: number;
  readonly bonus: number | null;
  readonly score: number;
  readonly payout: number;
}

type Values = FieldValues;

/** Returns the matching offers of a catalog, in the order of the file. */
export function referenceDeposits(catalog: DepositCatalog, borrower: Readonly<FieldVector>): ReferenceDeposit[] {
  const values = listSubmittedValues(banking, borrower);
  const minimumAge = catalog.state_rules?.[values.state as string]?.min_age ?? 0;
  if (values.birthdate !== undefined && ageOn(values.birthdate as number, today) < minimumAge) return [];
  return catalog.lenders.flatMap(({ offers }) => offers.flatMap((offer) => referenceDeposit(offer, values) ?? []));
}

function referenceDeposit(offer: DepositOffer, values: Values): ReferenceDeposit | null {
  const deposit = values.deposit_amount as number | undefined;
  if (deposit === undefined || values.state === undefined || values.product_type !== offer.product_type) return null;
  if (offer.term_months !== undefined && values.cd_term_months !== offer.term_months) return null;
  if (!meetsCriteria(offer.criteria, values, today) || deposit < offer.minimum_deposit) return null;

  const term = offer.term_months ?? 12;
  const firstYear = Math.min(12, term);
  const earnsInterest = deposit >= offer.minimum_balance_for_apy;
  const tier = offer.tiers.findLast(({ from }) => from <= deposit)!;
  // The yield of a deposit of 0 USD is that of the first dollar.
  const apy = computeAnnualPercentageYield(interestAfter(offer, deposit || 1, term), deposit || 1, term / 12);
  const interest = earnsInterest ? roundHalfUp(interestAfter(offer, deposit, firstYear), 2) : 0;
  const fee = deposit >= (offer.fee_waived_from ?? Number.POSITIVE_INFINITY) ? 0 : offer.monthly_fee;
  const { bonus } = offer;
  const lacksCondition =
    (bonus?.direct_deposit === true && values.direct_deposit !== true) ||
    (bonus?.new_customer === true && values.new_customer !== true);
  const earned = bonus === undefined || lacksCondition || deposit < (bonus.minimum_deposit ?? 0) ? null : bonus.amount;
  const earnings = roundHalfUp(interest + (earned ?? 0) - fee * firstYear, 2);
  const gain = Math.max(0, earnings);
  return {
    id: offer.id,
    apy: earnsInterest ? roundHalfUp(apy, 2) : 0,
    rate: earnsInterest ? tier.rate : 0,
    earnings,
    bonus: earned,
    score:
      60 * roundHalfUp((1e6 * gain) / (gain + 0.05 * Math.max(1_000, deposit)), 0) +
      20 * roundHalfUp((1e6 * Math.max(0, 25 - fee)) / 25, 0) +
      20 * roundHalfUp((1e6 * (offer.stars - 1)) / 4, 0),
    payout: offer.payout_usd,
  };
}

/** Adds up the interest on the parts of a deposit in each tier. */
function interestAfter(offer: DepositOffer, deposit: number, months: number): number {
  const reached = offer.tiers.filter(({ from }) => from <= deposit);
  const ratePerDollar = (rate: number) => computeTierInterestPerDollar(offer, rate, months);
  if (offer.tier_method === 'whole_balance') return deposit * ratePerDollar(reached.at(-1)!.rate);
  return reached.reduce(
    (sum, { from, rate }, at) => sum + ((reached[at + 1]?.from ?? deposit) - from) * ratePerDollar(rate),
    0,
  );
}

export const depositOrders: ReferenceOrders<ReferenceDeposit> = {
  recommended: (one, other) => other.score - one.score,
  lowest_apr: (one, other) => other.apy - one.apy,
  highest_amount: (one, other) => other.earnings - one.earnings,
  svc_revenue: (one, other) => other.payout - one.payout,
};
