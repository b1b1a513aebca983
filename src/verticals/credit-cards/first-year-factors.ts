import { type AprRange, baseRewardCategory, type CardBand, type CardOffer } from './offer-schema.ts';

/**
 * Arithmetic of the first-year value (docs/verticals/credit-cards.md#first-year-value). All figures of a catalog are whole cents or whole
 * hundredths of a percent, so the value is computed exactly, with integers, and rounded once.
 */

/** Parts of a cent in which first-year values are computed: 12 months x 12 parts of principal x 100 hundredths x 2 for the middle of a range. */
export const unitsPerCent = 28_800;

/** Factors of the first-year value by offer: position of each factor in a record. All factors are integers below 2^32. */
export const offerFactorColumns = {
  /** Rewards of a year per USD of monthly spend, at the base rate, in parts of a cent (`unitsPerCent`). */
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

/** Factors of the first-year value by offer and credit band: position of each factor in a record. All factors are integers below 2^32. */
export const bandFactorColumns = {
  /** Interest of twelve months per USD of the carried balance, in parts of a cent. */
  purchaseInterestUnits: 0,
  /** Interest of twelve months per USD of the transfer amount, in parts of a cent. */
  transferInterestUnits: 1,
} as const;

/** Writes the factors of an offer into a record that starts at `from`. */
export function writeOfferFactors(offer: CardOffer, table: Uint32Array, from: number): void {
  const { rewards, annual_fee, annual_fee_first_year = annual_fee, bonus, transfer_fee } = offer;
  const base = rewards.find(({ category }) => category === baseRewardCategory)!;
  table[from + offerFactorColumns.rewardUnits] = (hundredths(base.percent) * 12 * unitsPerCent) / 100;
  table[from + offerFactorColumns.feeCents] = hundredths(annual_fee_first_year);
  table[from + offerFactorColumns.bonusCents] = hundredths(bonus?.value ?? 0);
  table[from + offerFactorColumns.bonusMonthlySpendUsd] =
    bonus === undefined ? 0 : Math.ceil(bonus.spend / bonus.months);
  table[from + offerFactorColumns.transferFeeUnits] = (hundredths(transfer_fee.percent) * unitsPerCent) / 100;
  table[from + offerFactorColumns.transferFeeMinCents] = hundredths(transfer_fee.min);
}

/** Writes the factors of an offer in one credit band into a record that starts at `from`. */
export function writeBandFactors(offer: CardOffer, band: CardBand, table: Uint32Array, from: number): void {
  const { purchase_apr, transfer_apr = purchase_apr } = band;
  table[from + bandFactorColumns.purchaseInterestUnits] = interestUnitsPerUsd(purchase_apr, offer.intro_purchase_apr);
  table[from + bandFactorColumns.transferInterestUnits] = interestUnitsPerUsd(transfer_apr, offer.intro_transfer_apr);
}

/**
 * Returns the interest of twelve months on a balance of one dollar that is repaid in twelve equal parts of principal. The opening balances of
 * the months are 12, 11, ... 1 twelfths of the dollar. The annual rate is the introductory rate during its months, and afterwards the middle
 * of the range.
 */
function interestUnitsPerUsd(range: AprRange, intro: CardOffer['intro_purchase_apr']): number {
  const introMonths = Math.min(12, intro?.months ?? 0);
  // Sum of the opening balances of the introductory months, in twelfths of the dollar: 12 + 11 + ...
  const introTwelfths = (introMonths * (25 - introMonths)) / 2;
  const laterTwelfths = 78 - introTwelfths;
  return (
    2 * hundredths(intro?.percent ?? 0) * introTwelfths +
    (hundredths(range.min) + hundredths(range.max)) * laterTwelfths
  );
}

/** Converts a percentage or an amount in USD, with two decimals, to whole hundredths of a percent or to cents. */
export function hundredths(value: number): number {
  return Math.round(value * 100);
}
