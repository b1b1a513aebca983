import type { InterestRules } from '../../../src/verticals/banking/annual-yield.ts';
import type { DepositOffer } from '../../../src/verticals/banking/offer-schema.ts';

const periods = { daily: 365, monthly: 12, quarterly: 4, annual: 1 } as const;

/** A common multiple of the parts into which months and compounding periods divide a year. */
const partsPerYear = 365 * 12;

/**
 * Returns the interest on a balance after a number of months. Adds up the simple interest of equal parts of a year, and adds it to the
 * balance at the end of each compounding period.
 */
function accrue(balance: number, tierRate: number, rules: InterestRules, months: number): number {
  const partsPerPeriod = partsPerYear / periods[rules.compounding];
  let grown = balance;
  let simple = 0;
  for (let part = 0; part < (partsPerYear * months) / 12; part++) {
    simple += (grown * rateInMonth(rules, tierRate, Math.floor((part * 12) / partsPerYear) + 1)) / 100 / partsPerYear;
    if ((part + 1) % partsPerPeriod === 0) {
      grown += simple;
      simple = 0;
    }
  }
  return grown + simple - balance;
}

/** @param month number of the month, from 1 */
function rateInMonth({ introductory, steps }: InterestRules, tierRate: number, month: number): number {
  if (introductory !== undefined && month <= introductory.months) return introductory.rate;
  return steps?.findLast(({ from_month }) => from_month <= month)?.rate ?? tierRate;
}

/** Returns the interest on a deposit after a number of months, in USD, with the tiers applied one after the other. */
export function slowInterest(rules: InterestRules, deposit: number, months: number): number {
  const { tiers, tier_method } = rules;
  const reached = tiers.filter(({ from }) => from <= deposit);
  if (tier_method === 'whole_balance') return accrue(deposit, reached.at(-1)!.rate, rules, months);
  return reached.reduce((sum, { from, rate }, at) => {
    const part = (reached[at + 1]?.from ?? deposit) - from;
    return sum + accrue(part, rate, rules, months);
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
