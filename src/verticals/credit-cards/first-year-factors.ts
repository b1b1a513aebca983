import { type AprRange, baseRewardCategory, type CardBand, type CardOffer } from './offer-schema.ts';

/**
 * Arithmetic of the first-year value (docs/verticals/credit-cards.md#first-year-value). All figures of a catalog are whole cents or whole
 * hundredths of a percent, so the value is computed exactly, with integers, and rounded once.
 */

/** Parts of a cent in which first-year values are computed: twelve months, twelve parts of principal, 100 hundredths and the middle of a range. */
export const unitsPerCent = 12 * 12 * 100 * 2;

/** Factors of the first-year value, compiled so that the value of one offer needs only a few multiplications. */
export interface FirstYearFactors {
  /** Rewards per USD of monthly spend, at the base rate, by offer. The unit is a part of a cent (`unitsPerCent`), as in all tables below. */
  readonly rewardUnits: Float64Array;
  /** Fee of the first year, by offer. */
  readonly feeUnits: Float64Array;
  /** Bonus, by offer; 0 for an offer without a bonus. */
  readonly bonusUnits: Float64Array;
  /** Purchases that the bonus requires, in USD, by offer. */
  readonly bonusSpendUsd: Float64Array;
  /** Number of months in which these purchases must be made, by offer. */
  readonly bonusMonths: Uint8Array;
  /** Transfer fee per USD of the transfer amount, by offer. */
  readonly transferFeeUnits: Float64Array;
  /** Minimum transfer fee, by offer. */
  readonly transferFeeMinUnits: Float64Array;
  /** Interest of twelve months per USD of the carried balance, by offer and credit band. */
  readonly purchaseInterestUnits: Float64Array;
  /** Interest of twelve months per USD of the transfer amount, by offer and credit band. */
  readonly transferInterestUnits: Float64Array;
}

export function compileFirstYearFactors(offers: readonly CardOffer[], bandNames: readonly string[]): FirstYearFactors {
  const byOffer = (units: (offer: CardOffer) => number) => Float64Array.from(offers, units);
  const byRow = (units: (offer: CardOffer, band: CardBand) => number) =>
    Float64Array.from(
      offers.flatMap((offer) =>
        bandNames.map((name) => (offer.bands[name] === undefined ? 0 : units(offer, offer.bands[name]))),
      ),
    );
  return {
    rewardUnits: byOffer(({ rewards }) => {
      const base = rewards.find(({ category }) => category === baseRewardCategory)!;
      return (hundredths(base.percent) * 12 * unitsPerCent) / 100;
    }),
    feeUnits: byOffer(({ annual_fee, annual_fee_first_year = annual_fee }) => usdToUnits(annual_fee_first_year)),
    bonusUnits: byOffer(({ bonus }) => usdToUnits(bonus?.value ?? 0)),
    bonusSpendUsd: byOffer(({ bonus }) => bonus?.spend ?? 0),
    bonusMonths: Uint8Array.from(offers, ({ bonus }) => bonus?.months ?? 0),
    transferFeeUnits: byOffer(({ transfer_fee }) => (hundredths(transfer_fee.percent) * unitsPerCent) / 100),
    transferFeeMinUnits: byOffer(({ transfer_fee }) => usdToUnits(transfer_fee.min)),
    purchaseInterestUnits: byRow(({ intro_purchase_apr }, { purchase_apr }) =>
      interestUnitsPerUsd(purchase_apr, intro_purchase_apr),
    ),
    transferInterestUnits: byRow(({ intro_transfer_apr }, { purchase_apr, transfer_apr = purchase_apr }) =>
      interestUnitsPerUsd(transfer_apr, intro_transfer_apr),
    ),
  };
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

/** Converts a percentage with two decimals to whole hundredths of a percent. */
function hundredths(percent: number): number {
  return Math.round(percent * 100);
}

function usdToUnits(usd: number): number {
  return Math.round(usd * 100) * unitsPerCent;
}
