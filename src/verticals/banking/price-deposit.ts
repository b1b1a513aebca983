import { absentValue, type FieldVector } from '../../domain/field-vector.ts';
import type { MismatchCallback } from '../../matching/product-ranking.ts';
import { computeAnnualPercentageYield } from './annual-yield.ts';
import { bonusConditionBits, type DepositTables } from './deposit-tables.ts';

/** Submitted values that determine prices and rankings. */
export interface Depositor {
  /** Deposit in whole USD. */
  readonly deposit: number;
  /** Bits of `bonusConditionBits` that the depositor meets. */
  readonly conditionsMet: number;
}

/** Figures of one offer for one deposit. */
export interface DepositOfferFigures {
  /** Index of the tier that the deposit reaches in the tables of tiers; -1 if the deposit is too small to earn interest. */
  tier: number;
  /** Annual percentage yield of the deposit, in hundredths of a percent. */
  apy: number;
  /** Monthly fee for an account with this deposit, in cents. */
  feeCents: number;
  /** Whether the depositor can earn the bonus of the offer; false if the offer has none. */
  hasBonus: boolean;
  /** Interest plus bonus minus fees in the first year, in cents. */
  earningsCents: number;
}

export function createEmptyDepositOfferFigures(): DepositOfferFigures {
  return { tier: -1, apy: 0, feeCents: 0, hasBonus: false, earningsCents: 0 };
}

/** Reads submitted values. Returns null if the deposit, the state or the term of a certificate is missing. */
export function readDepositor(tables: DepositTables, borrower: Readonly<FieldVector>): Depositor | null {
  const { fields, roles } = tables;
  const deposit = borrower[fields.depositAmount]!;
  if (deposit === absentValue || borrower[roles.state] === absentValue || lacksTerm(tables, borrower)) return null;
  // A condition that the depositor did not answer counts as not met.
  const conditionsMet =
    (borrower[fields.directDeposit] === 1 ? bonusConditionBits.directDeposit : 0) |
    (borrower[fields.newCustomer] === 1 ? bonusConditionBits.newCustomer : 0);
  return { deposit, conditionsMet };
}

/** Whether the depositor asks for a certificate of deposit without a term. */
function lacksTerm({ fields, cdCode }: DepositTables, borrower: Readonly<FieldVector>): boolean {
  return borrower[fields.productType] === cdCode && borrower[fields.cdTermMonths] === absentValue;
}

/** Prices an offer and writes the result into `price`. Returns false if the deposit is below the minimum of the offer. */
export function priceDeposit(
  tables: DepositTables,
  offer: number,
  { deposit, conditionsMet }: Depositor,
  price: DepositOfferFigures,
): boolean {
  if (deposit < tables.minimumDeposit[offer]!) return false;
  let interestCents = 0;
  price.tier = -1;
  price.apy = 0;
  if (deposit >= tables.minimumBalanceForApy[offer]!) {
    const tier = findTier(tables, offer, deposit);
    price.tier = tier;
    price.apy = yieldAtDeposit(tables, offer, tier, deposit);
    interestCents = roundToInteger(
      tables.yearBase[tier]! + (deposit - tables.rateFrom[tier]!) * tables.yearGrowth[tier]!,
    );
  }
  price.feeCents = deposit >= tables.feeWaivedFrom[offer]! ? 0 : tables.monthlyFeeCents[offer]!;
  const bonusCents = tables.bonusCents[offer]!;
  price.hasBonus =
    bonusCents > 0 &&
    (tables.bonusConditions[offer]! & ~conditionsMet) === 0 &&
    deposit >= tables.bonusMinimumDeposit[offer]!;
  price.earningsCents = interestCents + (price.hasBonus ? bonusCents : 0) - price.feeCents * tables.feeMonths[offer]!;
  return true;
}

function findTier({ firstTier, tierFrom }: DepositTables, offer: number, deposit: number): number {
  let tier = firstTier[offer + 1]! - 1;
  while (deposit < tierFrom[tier]!) tier--;
  return tier;
}

/** Returns the annual percentage yield in hundredths of a percent, rounded half up. */
function yieldAtDeposit(tables: DepositTables, offer: number, tier: number, deposit: number): number {
  // The yield at the beginning of a tier is also the yield of every deposit in the first tier.
  if (tables.hasMarginalTiers[offer] === 0 || tier === tables.firstTier[offer]) return tables.tierApy[tier]!;
  const interest = tables.termBase[tier]! + (deposit - tables.rateFrom[tier]!) * tables.termGrowth[tier]!;
  return roundToInteger(computeAnnualPercentageYield(interest, deposit, tables.termYears[offer]!) * 100);
}

/** Rounds a non-negative number to an integer as `roundHalfUp` does. A ranking calls this function often, so it avoids slow powers. */
function roundToInteger(value: number): number {
  return Math.floor(value * (1 + 4 * Number.EPSILON) + 0.5);
}

/** Returns a function that reports why `priceDeposit` returns false for an offer and this depositor. */
export function createDepositMismatchFinder(
  tables: DepositTables,
  borrower: Readonly<FieldVector>,
): (offer: number, add: MismatchCallback) => void {
  const { depositAmount, cdTermMonths } = tables.fields;
  const depositor = readDepositor(tables, borrower);
  if (depositor !== null) {
    return (offer, add) => {
      if (depositor.deposit < tables.minimumDeposit[offer]!) add('amount_too_low', depositAmount);
    };
  }
  const missing = [depositAmount, tables.roles.state].filter((field) => borrower[field] === absentValue);
  if (lacksTerm(tables, borrower)) missing.push(cdTermMonths);
  return (_offer, add) => {
    for (const field of missing) add('not_told', field);
  };
}
