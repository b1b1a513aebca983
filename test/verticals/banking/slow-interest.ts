import type { InterestRules } from '../../../src/verticals/banking/annual-yield.ts';
import type { DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';

const periods = { daily: 365, monthly: 12, quarterly: 4, annual: 1 } as const;

/** Returns the interest on a balance after a number of months, computed one compounding period after the other. */
function accrue(
  balance: number,
  ratePercent: number,
  compounding: InterestRules['compounding'],
  months: number,
): number {
  const perYear = periods[compounding];
  const periodRate = ratePercent / 100 / perYear;
  let grown = balance;
  let left = (perYear * months) / 12;
  while (left > 0) {
    // The last period may be shorter: it earns its share of the interest of a period.
    grown += grown * periodRate * Math.min(1, left);
    left -= 1;
  }
  return grown - balance;
}

/** Returns the interest on a deposit after a number of months, in USD, with the tiers applied one after the other. */
export function slowInterest(
  { tiers, tier_method, compounding }: InterestRules,
  deposit: number,
  months: number,
): number {
  const reached = tiers.filter(({ from }) => from <= deposit);
  if (tier_method === 'whole_balance') return accrue(deposit, reached.at(-1)!.rate, compounding, months);
  return reached.reduce((sum, { from, rate }, at) => {
    const part = (reached[at + 1]?.from ?? deposit) - from;
    return sum + accrue(part, rate, compounding, months);
  }, 0);
}

/** Computes the first year's earnings of a deposit month by month, in USD, not rounded. */
export function slowFirstYearEarnings(
  offer: DepositOffer,
  deposit: number,
  conditions: { readonly directDeposit: boolean; readonly newCustomer: boolean },
): number {
  let earnings = 0;
  let months = 0;
  while (months < 12 && months !== offer.term_months) {
    months++;
    if (deposit < (offer.fee_waived_from ?? Number.POSITIVE_INFINITY)) earnings -= offer.monthly_fee;
  }
  if (deposit >= offer.minimum_balance_for_apy) earnings += slowInterest(offer, deposit, months);
  const { bonus } = offer;
  const isEarned =
    bonus !== undefined &&
    deposit >= (bonus.minimum_deposit ?? 0) &&
    (conditions.directDeposit || bonus.direct_deposit === undefined) &&
    (conditions.newCustomer || bonus.new_customer === undefined);
  return isEarned ? earnings + bonus.amount : earnings;
}
