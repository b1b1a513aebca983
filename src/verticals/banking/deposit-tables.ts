import { findFieldIndex, getChoiceValues } from '../../domain/field-vector.ts';
import { roundHalfUp, usdToMicros } from '../../domain/money.ts';
import type { Vertical } from '../../domain/vertical.ts';
import {
  type ChoiceFieldRule,
  compileCommonTables,
  indexFirstItems,
  listOffersSortedById,
  type MatchTables,
} from '../../matching/match-tables.ts';
import { compileTierInterest, computeTierYields, getYieldPeriodMonths } from './annual-yield.ts';
import type { DepositCatalog, DepositOffer } from './offer-schema.ts';
import { computeDepositIndependentScore } from './recommendation-score.ts';

/** Conditions of a bonus, as bits of `bonusConditions`. */
export const bonusConditionBits = { directDeposit: 1, newCustomer: 2 } as const;

/**
 * Tables that only catalogs of deposit accounts have. Tables of tiers contain the tiers of all offers, one offer after the other; all other
 * tables have one value per offer.
 */
export interface DepositTables extends MatchTables {
  /** Positions of pocket fields in the field vector. */
  readonly fields: {
    readonly productType: number;
    readonly depositAmount: number;
    readonly cdTermMonths: number;
    readonly directDeposit: number;
    readonly newCustomer: number;
  };
  /** Encoded value of `product_type` for a certificate of deposit. */
  readonly cdCode: number;
  /** Index of the first tier of each offer in the tables of tiers, followed by the total number of tiers. */
  readonly firstTier: Uint32Array;
  /** Balance in USD from which the tier applies. */
  readonly tierFrom: Float64Array;
  /** Yield at the beginning of the tier, in hundredths of a percent. With `whole_balance`, the yield is the same in the whole tier. */
  readonly tierApy: Uint16Array;
  /** Balance in USD from which the rate of the tier applies: `tierFrom`, or 0 with `whole_balance`. */
  readonly rateFrom: Float64Array;
  /** Interest in cents in the first year, or in the term of a shorter certificate: `yearBase + (deposit - rateFrom) * yearGrowth`. */
  readonly yearBase: Float64Array;
  readonly yearGrowth: Float64Array;
  /** Interest in the term for which the yield is computed, in USD: `termBase + (deposit - rateFrom) * termGrowth`. */
  readonly termBase: Float64Array;
  readonly termGrowth: Float64Array;

  /** 1 if the yield depends on the deposit within a tier (`marginal`), otherwise 0. */
  readonly hasMarginalTiers: Uint8Array;
  /** Term for which the yield is computed, in years. */
  readonly termYears: Float64Array;
  /** Smallest deposit with which the account can be opened, in USD. */
  readonly minimumDeposit: Float64Array;
  /** Smallest deposit that earns interest, in USD. */
  readonly minimumBalanceForApy: Float64Array;
  readonly monthlyFeeCents: Float64Array;
  /** Number of months in the first year: twelve, or the term of a shorter certificate of deposit. */
  readonly feeMonths: Uint8Array;
  /** Smallest deposit without a monthly fee, in USD; infinite if the fee is never waived. */
  readonly feeWaivedFrom: Float64Array;
  /** Bonus in cents; 0 if the offer has none. */
  readonly bonusCents: Float64Array;
  /** Smallest deposit that earns the bonus, in USD. */
  readonly bonusMinimumDeposit: Float64Array;
  /** Bits of `bonusConditionBits`. */
  readonly bonusConditions: Uint8Array;
  /** Results of `computeDepositIndependentScore` for deposits that pay the monthly fee, and for deposits that do not pay the fee. */
  readonly scoreWithFee: Float64Array;
  readonly scoreWithoutFee: Float64Array;
}

/** Compiles a catalog that `parseCatalog` accepted for this vertical. */
export function compileDepositTables(catalog: DepositCatalog, vertical: Vertical): DepositTables {
  const offers = listOffersSortedById<DepositCatalog['lenders'][number]>(catalog).map(({ offer }) => offer);
  const common = compileCommonTables(offers, catalog.state_rules, vertical, fieldRules);
  common.expectedRevenueMicros.set(offers.map(({ payout_usd }) => usdToMicros(payout_usd)));
  const perOffer = (read: (offer: DepositOffer) => number) => Float64Array.from(offers, read);
  return {
    ...common,
    fields: {
      productType: requireField(vertical, 'product_type'),
      depositAmount: requireField(vertical, 'deposit_amount'),
      cdTermMonths: requireField(vertical, 'cd_term_months'),
      directDeposit: requireField(vertical, 'direct_deposit'),
      newCustomer: requireField(vertical, 'new_customer'),
    },
    cdCode: getChoiceValues(vertical, 'product_type').indexOf('cd'),
    ...compileTiers(offers),
    hasMarginalTiers: Uint8Array.from(offers, ({ tier_method }) => Number(tier_method === 'marginal')),
    termYears: perOffer((offer) => getYieldPeriodMonths(offer) / 12),
    minimumDeposit: perOffer(({ minimum_deposit }) => minimum_deposit),
    minimumBalanceForApy: perOffer(({ minimum_balance_for_apy }) => minimum_balance_for_apy),
    monthlyFeeCents: perOffer(({ monthly_fee }) => toCents(monthly_fee)),
    feeMonths: Uint8Array.from(offers, firstYearMonths),
    feeWaivedFrom: perOffer(({ fee_waived_from = Number.POSITIVE_INFINITY }) => fee_waived_from),
    bonusCents: perOffer(({ bonus }) => (bonus?.amount ?? 0) * 100),
    bonusMinimumDeposit: perOffer(({ bonus }) => bonus?.minimum_deposit ?? 0),
    bonusConditions: Uint8Array.from(
      offers,
      ({ bonus }) =>
        (bonus?.direct_deposit ? bonusConditionBits.directDeposit : 0) |
        (bonus?.new_customer ? bonusConditionBits.newCustomer : 0),
    ),
    scoreWithFee: perOffer(({ monthly_fee, stars }) => computeDepositIndependentScore(toCents(monthly_fee), stars)),
    scoreWithoutFee: perOffer(({ stars }) => computeDepositIndependentScore(0, stars)),
  };
}

/** Converts an amount with at most two decimals. */
function toCents(usd: number): number {
  return Math.round(usd * 100);
}

/** Months in which the first year's interest and fees are counted: twelve, or the term of a shorter certificate of deposit. */
function firstYearMonths(offer: DepositOffer): number {
  return Math.min(12, getYieldPeriodMonths(offer));
}

function compileTiers(offers: readonly DepositOffer[]) {
  const tiers = offers.flatMap((offer) => {
    const year = compileTierInterest(offer, firstYearMonths(offer));
    const term = compileTierInterest(offer, getYieldPeriodMonths(offer));
    const yields = computeTierYields(offer);
    return offer.tiers.map(({ from }, at) => ({ from, apy: yields[at]!, year: year[at]!, term: term[at]! }));
  });
  return {
    firstTier: indexFirstItems(offers.map((offer) => offer.tiers)),
    tierFrom: Float64Array.from(tiers, ({ from }) => from),
    tierApy: Uint16Array.from(tiers, ({ apy }) => roundHalfUp(apy * 100, 0)),
    rateFrom: Float64Array.from(tiers, ({ year }) => year.from),
    yearBase: Float64Array.from(tiers, ({ year }) => year.base * 100),
    yearGrowth: Float64Array.from(tiers, ({ year }) => year.growth * 100),
    termBase: Float64Array.from(tiers, ({ term }) => term.base),
    termGrowth: Float64Array.from(tiers, ({ term }) => term.growth),
  };
}

/**
 * Rules that apply in addition to the criteria of offers: the kind of account, and the term of a certificate of deposit. If the term is
 * missing, the rule for the term excludes no offer, because only a depositor who asks for a certificate needs a term. `readDepositor`
 * checks the term.
 */
const fieldRules: readonly ChoiceFieldRule<DepositOffer>[] = [
  { field: 'product_type', admits: ({ product_type }, value) => value === product_type },
  {
    field: 'cd_term_months',
    admits: ({ term_months }, value) => term_months === undefined || value === undefined || value === term_months,
  },
];

function requireField(vertical: Vertical, name: string): number {
  const index = findFieldIndex(vertical, name);
  if (index < 0) throw new TypeError(`${vertical.segment}: a vertical with deposit accounts needs the field ${name}`);
  return index;
}
