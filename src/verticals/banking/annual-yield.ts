/** Number of compounding periods in a year: 365 equal days, or twelve equal months. */
const periodsPerYear = { daily: 365, monthly: 12, quarterly: 4, annual: 1 } as const;

export type CompoundingFrequency = keyof typeof periodsPerYear;
export const compoundingFrequencies = Object.keys(periodsPerYear) as [CompoundingFrequency, ...CompoundingFrequency[]];

export const interestTierMethods = ['whole_balance', 'marginal'] as const;

/** Rate in percent that applies from a month of the term on. Months count from 1. */
export interface RateStep {
  readonly from_month: number;
  readonly rate: number;
}

/** Members of a catalog offer that determine the interest on a deposit. */
export interface InterestRules {
  /** Rates in percent, by the balance in USD from which they apply, ascending. The first tier applies from 0 USD. */
  readonly tiers: readonly { readonly from: number; readonly rate: number }[];
  readonly compounding: CompoundingFrequency;
  /**
   * `whole_balance`: the rate of the tier that the deposit reaches applies to the whole deposit. `marginal`: the rate of each tier applies
   * only to the part of the deposit in this tier.
   */
  readonly tier_method: (typeof interestTierMethods)[number];
  /** Term of a certificate of deposit; undefined for an account without a term. */
  readonly term_months?: number;
  /** Rate of every tier in the first months; afterwards, each tier has its own rate. */
  readonly introductory?: { readonly rate: number; readonly months: number };
  /** Rates of a certificate of deposit whose rate changes at known times, from month 1 on. The first rate is that of its only tier. */
  readonly steps?: readonly RateStep[];
}

/**
 * Interest on a deposit in one tier, in USD: `base + (deposit - from) * growth`. All parts of the sum are positive, so their rounding errors
 * do not grow.
 */
export interface TierInterest {
  /** Balance from which the rate of the tier applies: the beginning of the tier, or 0 with `whole_balance`. */
  readonly from: number;
  /** Interest on a deposit of `from` USD. */
  readonly base: number;
  readonly growth: number;
}

/** Returns the number of months for which the annual percentage yield is computed: the term, or 12 for an account without a term. */
export function getYieldPeriodMonths({ term_months = 12 }: Pick<InterestRules, 'term_months'>): number {
  return term_months;
}

/**
 * Returns the interest that 1 USD earns in a number of months. A part of a period at the end of the term earns simple interest. `expm1` and
 * `log1p` avoid the rounding errors of `(1 + rate) ** periods - 1`.
 */
export function computeInterestPerDollar(
  ratePercent: number,
  compounding: CompoundingFrequency,
  months: number,
): number {
  const rate = ratePercent / 100 / periodsPerYear[compounding];
  const periods = (periodsPerYear[compounding] * months) / 12;
  const whole = Math.floor(periods);
  const compounded = whole === 1 ? rate : Math.expm1(whole * Math.log1p(rate));
  const simple = rate * (periods - whole);
  return compounded + simple + compounded * simple;
}

/** Lists the rates that a deposit in a tier earns one after the other. */
function listRateSteps({ introductory, steps }: InterestRules, tierRate: number): readonly RateStep[] {
  if (steps !== undefined) return steps;
  if (introductory === undefined) return [{ from_month: 1, rate: tierRate }];
  return [
    { from_month: 1, rate: introductory.rate },
    { from_month: introductory.months + 1, rate: tierRate },
  ];
}

/**
 * Returns the interest that 1 USD earns in a tier in a number of months, also if the rate changes at known times (12 CFR 1030, Appendix A,
 * part I.B and I.C). A change within a compounding period divides the simple interest of the period.
 */
export function computeTierInterestPerDollar(rules: InterestRules, tierRate: number, months: number): number {
  const steps = listRateSteps(rules, tierRate);
  if (steps.length === 1) return computeInterestPerDollar(tierRate, rules.compounding, months);
  const monthsPerPeriod = 12 / periodsPerYear[rules.compounding];
  let interest = 0;
  for (let period = 0; period * monthsPerPeriod < months; period++) {
    const start = period * monthsPerPeriod;
    const end = Math.min(months, start + monthsPerPeriod);
    let simple = 0;
    for (const [at, { from_month, rate }] of steps.entries()) {
      const stepEnd = (steps[at + 1]?.from_month ?? Number.POSITIVE_INFINITY) - 1;
      const earning = Math.min(end, stepEnd) - Math.max(start, from_month - 1);
      if (earning > 0) simple += ((rate / 100) * earning) / 12;
    }
    interest += (1 + interest) * simple;
  }
  return interest;
}

/** Returns the interest after a number of months for each tier of an offer. Interest that a deposit earns does not change its tier. */
export function compileTierInterest(rules: InterestRules, months: number): readonly TierInterest[] {
  const { tiers, tier_method } = rules;
  /** Interest on a deposit equal to the lowest balance of the current tier. */
  let base = 0;
  return tiers.map(({ from, rate }, at) => {
    const growth = computeTierInterestPerDollar(rules, rate, months);
    if (tier_method === 'whole_balance') return { from: 0, base: 0, growth };
    const tier = { from, base, growth };
    base += ((tiers[at + 1]?.from ?? from) - from) * growth;
    return tier;
  });
}

/**
 * Computes an annual percentage yield with the general formula of 12 CFR 1030, Appendix A, part I.
 *
 * @param interest interest on `principal` in a term of `years`, in USD
 * @returns percent, not rounded
 */
export function computeAnnualPercentageYield(interest: number, principal: number, years: number): number {
  if (years === 1) return (100 * interest) / principal;
  return 100 * Math.expm1(Math.log1p(interest / principal) / years);
}

/**
 * Returns the annual percentage yield of each tier in percent, not rounded. With the method `marginal`, the yield grows or falls within a
 * tier; the result is the yield of a deposit at the beginning of the tier.
 */
export function computeTierYields(rules: InterestRules): number[] {
  const months = getYieldPeriodMonths(rules);
  return compileTierInterest(rules, months).map(({ from, base, growth }, at) => {
    // The yield of the first tier, which begins at 0 USD, does not depend on the deposit.
    const principal = rules.tiers[at]!.from === 0 ? 1 : rules.tiers[at]!.from;
    return computeAnnualPercentageYield(base + (principal - from) * growth, principal, months / 12);
  });
}
