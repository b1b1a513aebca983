import type { AddMismatch } from '../../matching/explain-offers.ts';
import { absentValue, type FieldVector } from '../field-vector.ts';
import type { LoanTables } from './loan-tables.ts';
import { type Applicant, emptyApplicant, maxMonthlyPayment, paymentUnitsPerUsd, readApplicant } from './price-offer.ts';

/** Returns a function that reports every reason why `priceOffer` finds no price of an offer for the borrower. */
export function findPriceMismatches(
  tables: LoanTables,
  borrower: Readonly<FieldVector>,
): (offer: number, add: AddMismatch) => void {
  const applicant = emptyApplicant();
  if (readApplicant(tables, borrower, applicant)) return (offer, add) => checkPrice(tables, offer, applicant, add);
  const { roles } = tables;
  const missing = [roles.amount, roles.creditBand, roles.state].filter((field) => borrower[field] === absentValue);
  return (_offer, add) => {
    for (const field of missing) add('not_told', field);
  };
}

/** Checks each rule of `priceOffer` separately. An offer that does not serve the credit band has no prices to check. */
function checkPrice(tables: LoanTables, offer: number, applicant: Applicant, add: AddMismatch): void {
  const { roles } = tables;
  const { amount } = applicant;
  if (amount < tables.amountMin[offer]!) add('amount_too_low', roles.amount);
  const stateRule = tables.stateRuleSet[offer]! * tables.stateCount + applicant.state;
  if (amount < tables.stateAmountMin[stateRule]!) add('amount_too_low_in_state', roles.state);
  const { annualIncome, monthlyDebt } = applicant;
  const share = tables.debtToIncomeMax[offer]!;
  const limited = share !== Number.POSITIVE_INFINITY;
  if (limited && annualIncome < 0) add('not_told', roles.annualIncome);
  if (limited && monthlyDebt < 0) add('not_told', roles.monthlyDebt);

  const row = offer * tables.bandCount + applicant.creditBand;
  const amountMax = tables.amountMax[row]!;
  if (amountMax === 0) return;
  if (amount > amountMax) add('amount_too_high', roles.amount);

  const slots = tables.termMonths.map((_months, term) => row * tables.termMonths.length + term);
  const offered = slots.filter((slot) => tables.aprMaxPercent[slot] !== Number.POSITIVE_INFINITY);
  const withinCap = offered.filter((slot) => tables.aprMaxPercent[slot]! <= tables.stateAprCap[stateRule]!);
  if (withinCap.length === 0) add('apr_above_cap', roles.state);
  if (!limited || annualIncome < 0 || monthlyDebt < 0) return;
  const room = maxMonthlyPayment(share, annualIncome, monthlyDebt);
  const affordable = (withinCap.length === 0 ? offered : withinCap).some(
    (slot) => amount * paymentUnitsPerUsd * tables.paymentFactor[slot]! <= room,
  );
  if (!affordable) add('debt_to_income', roles.monthlyDebt);
}
