/** The unit in which tables keep the share of income that debt may take: four decimals of a percent. */
export const debtShareScale = 1_000_000;

/** What the room for a payment is counted in: so many to the dollar that shares of a monthly income are whole numbers. */
export const paymentUnitsPerUsd = 12 * debtShareScale;

/**
 * What a debt-to-income limit leaves for the monthly payment of a loan, in `paymentUnitsPerUsd`; negative where the debts alone are
 * above it. `share` is in `debtShareScale`, `annualIncome` and `monthlyDebt` are in whole USD.
 *
 * The limit is exact: all three are whole numbers, and so is what they leave. 57 % of 60,000 USD a year are 2,850 a month and no
 * hair less. A payment is the amount times a factor that a double holds only nearly, and is compared unrounded, not by the
 * cents it is answered in. What is equal on paper fits, so the room is given a few units in the last place more (as in
 * `roundHalfUp`): a millionth of a cent decides against the borrower, the last bits of a double never do.
 */
export function maxMonthlyPayment(share: number, annualIncome: number, monthlyDebt: number): number {
  return (share * annualIncome - paymentUnitsPerUsd * monthlyDebt) * (1 + 4 * Number.EPSILON);
}
