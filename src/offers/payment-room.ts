import type { MatchTables } from './match-tables.ts';
import type { Applicant } from './price-offer.ts';

/** The unit in which tables keep the share of income that debt may take: four decimals of a percent. */
export const debtShareUnit = 1_000_000;

/**
 * What an offer's debt-to-income limit leaves the applicant for its payment, in USD a month: infinite where the offer has no
 * limit, negative where the debts are above it, and where income or debt is not known, since neither is ever guessed (D6).
 *
 * The limit holds for what is owed and earned to the last cent, so share, income and debt stay whole numbers until one
 * division at the end: 57 % of 60,000 USD a year are exactly 2,850 a month. A payment is the amount times a factor that a
 * double holds only nearly, and is compared unrounded, not by the cents it is answered in. What is equal on paper counts as
 * fitting, so the room is given a few units in the last place more (as `roundHalfUp` does): a millionth of a cent decides
 * against the borrower, and the last bits of a double never do.
 */
export function paymentRoom(tables: MatchTables, offer: number, applicant: Applicant): number {
  const share = tables.debtToIncomeMax[offer]!;
  if (share === Number.POSITIVE_INFINITY) return share;
  const { annualIncome, monthlyDebt } = applicant;
  if (annualIncome < 0 || monthlyDebt < 0) return -1;
  const room = (share * annualIncome - 12 * debtShareUnit * monthlyDebt) / (12 * debtShareUnit);
  return room * (1 + 4 * Number.EPSILON);
}
