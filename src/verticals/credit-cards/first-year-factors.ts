import { type AprRange, baseRewardCategory, type CardOffer, type CreditBandTerms } from './offer-schema.ts';

/**
 * Arithmetic of the first-year value (docs/verticals/credit-cards.md#first-year-value). All figures of a catalog are whole cents or whole
 * hundredths of a percent, so the value is computed exactly, with integers, and rounded once.
 */

/**
 * Number of units per cent. First-year values are computed in these units, so that all parts of a value are integers: a monthly interest is a
 * twelfth of the annual rate (12), principal is repaid in twelve parts (12), rates are in hundredths of a percent (100), and the middle of an
 * APR range is half of a sum (2).
 */
export const firstYearValueUnitsPerCent = 28_800;

/** Position of each factor in an offer's record of first-year factors. All factors are integers below 2^32. */
export const offerFirstYearFactorIndexes = {
  /** Rewards in a year for each USD of monthly spend, at the base rate, in parts of a cent (`firstYearValueUnitsPerCent`). */
  rewardUnits: 0,
  /** Fee of the first year. */
  feeCents: 1,
  /** Bonus; 0 for an offer without a bonus. */
  bonusCents: 2,
  /** Smallest monthly spend with which the borrower reaches the bonus. */
  bonusMonthlySpendUsd: 3,
  /** Transfer fee per USD of the transfer amount, in parts of a cent. */
  transferFeeUnits: 4,
  transferFeeMinCents: 5,
} as const;

/** Position of each factor in the record of first-year factors for an offer and a credit band. All factors are integers below 2^32. */
export const bandFirstYearFactorIndexes = {
  /** Interest of twelve months per USD of the carried balance, in parts of a cent. */
  purchaseInterestUnits: 0,
  /** Interest of twelve months per USD of the transfer amount, in parts of a cent. */
  transferInterestUnits: 1,
} as const;

/** Writes the first-year factors of an offer into the record of `table` that starts at the index `from`. */
export function writeOfferFirstYearFactors(offer: CardOffer, table: Uint32Array, from: number): void {
  const { rewards, annual_fee, annual_fee_first_year = annual_fee, bonus, transfer_fee } = offer;
  const base = rewards.find(({ category }) => category === baseRewardCategory)!;
  table[from + offerFirstYearFactorIndexes.rewardUnits] =
    (toHundredths(base.percent) * 12 * firstYearValueUnitsPerCent) / 100;
  table[from + offerFirstYearFactorIndexes.feeCents] = toHundredths(annual_fee_first_year);
  table[from + offerFirstYearFactorIndexes.bonusCents] = toHundredths(bonus?.value ?? 0);
  table[from + offerFirstYearFactorIndexes.bonusMonthlySpendUsd] =
    bonus === undefined ? 0 : Math.ceil(bonus.spend / bonus.months);
  table[from + offerFirstYearFactorIndexes.transferFeeUnits] =
    (toHundredths(transfer_fee.percent) * firstYearValueUnitsPerCent) / 100;
  table[from + offerFirstYearFactorIndexes.transferFeeMinCents] = toHundredths(transfer_fee.min);
}

/** Writes the first-year factors of an offer in one credit band into the record of `table` that starts at the index `from`. */
export function writeBandFirstYearFactors(
  offer: CardOffer,
  band: CreditBandTerms,
  table: Uint32Array,
  from: number,
): void {
  const { purchase_apr, transfer_apr = purchase_apr } = band;
  table[from + bandFirstYearFactorIndexes.purchaseInterestUnits] = interestUnitsPerUsd(
    purchase_apr,
    offer.intro_purchase_apr,
  );
  table[from + bandFirstYearFactorIndexes.transferInterestUnits] = interestUnitsPerUsd(
    transfer_apr,
    offer.intro_transfer_apr,
  );
}

/**
 * Returns the interest of twelve months on a balance of one dollar that is repaid in twelve equal parts of principal. The opening balances of
 * the months are 12/12, 11/12, ... 1/12 of a dollar. The annual rate is the introductory rate during its months, and afterwards the middle
 * of the range.
 */
function interestUnitsPerUsd(range: AprRange, intro: CardOffer['intro_purchase_apr']): number {
  const introMonths = Math.min(12, intro?.months ?? 0);
  // Sum of the opening balances of the introductory months, in twelfths of the dollar: 12 + 11 + ...
  const introTwelfths = (introMonths * (25 - introMonths)) / 2;
  const laterTwelfths = 78 - introTwelfths;
  return (
    2 * toHundredths(intro?.percent ?? 0) * introTwelfths +
    (toHundredths(range.min) + toHundredths(range.max)) * laterTwelfths
  );
}

/** Converts a percentage or an amount in USD, with two decimals, to whole hundredths of a percent or to cents. */
export function toHundredths(value: number): number {
  return Math.round(value * 100);
}
