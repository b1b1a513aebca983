import { absentValue, type FieldVector } from '../../domain/field-vector.ts';
import type { MismatchCallback } from '../../matching/product-ranking.ts';
import { type CardTables, computeBandRecordIndex, offerFigureIndexes, offerRecordLength } from './card-tables.ts';
import {
  bandFirstYearFactorIndexes,
  firstYearValueUnitsPerCent,
  offerFirstYearFactorIndexes,
} from './first-year-factors.ts';

const { rewardUnits, feeCents, bonusCents, bonusMonthlySpendUsd, transferFeeUnits, transferFeeMinCents } =
  offerFirstYearFactorIndexes;
const { purchaseInterestUnits, transferInterestUnits } = bandFirstYearFactorIndexes;

/** Values of a borrower that determine prices and rankings (docs/contract.md#fairness). Amounts are in whole USD; 0 if not submitted. */
export interface CardApplicant {
  /** Index of the credit band among the values of its field. */
  readonly creditBand: number;
  readonly monthlySpend: number;
  readonly transferAmount: number;
  readonly carriedBalance: number;
  /** The larger of `transferAmount` and `carriedBalance`. */
  readonly largestBalance: number;
}

/** Reads the values of a borrower. Returns null if the purpose, the credit band or the state is missing. */
export function readApplicant({ fields, roles }: CardTables, borrower: Readonly<FieldVector>): CardApplicant | null {
  const creditBand = borrower[fields.creditBand]!;
  if (creditBand === absentValue || borrower[fields.purpose] === absentValue || borrower[roles.state] === absentValue) {
    return null;
  }
  const monthlySpend = amountOf(borrower[fields.monthlySpend]);
  const transferAmount = amountOf(borrower[fields.transferAmount]);
  const carriedBalance = amountOf(borrower[fields.carriedBalance]);
  const largestBalance = Math.max(transferAmount, carriedBalance);
  return { creditBand, monthlySpend, transferAmount, carriedBalance, largestBalance };
}

function amountOf(value: number | undefined): number {
  return value === undefined || value === absentValue ? 0 : value;
}

/** Whether the transfer and the carried balance are each at most the largest deposit; true for a card without a largest deposit. */
export function isWithinDeposit(
  { offerFigures }: CardTables,
  offer: number,
  { largestBalance }: CardApplicant,
): boolean {
  return largestBalance <= offerFigures[offer * offerRecordLength + offerFigureIndexes.balanceMaxUsd]!;
}

/** Returns the value of a card in the first year, in whole cents, rounded half up; negative if the card costs more than it pays. */
export function computeFirstYearCents(tables: CardTables, offer: number, applicant: CardApplicant): number {
  const { offerFigures, bandFigures } = tables;
  const { monthlySpend, transferAmount, carriedBalance } = applicant;
  const of = offer * offerRecordLength;
  const ofBand = computeBandRecordIndex(tables, offer, applicant.creditBand);
  let cents = -offerFigures[of + feeCents]!;
  if (monthlySpend >= offerFigures[of + bonusMonthlySpendUsd]!) cents += offerFigures[of + bonusCents]!;
  let units = monthlySpend * offerFigures[of + rewardUnits]!;
  if (transferAmount > 0) {
    const feeMinUnits = offerFigures[of + transferFeeMinCents]! * firstYearValueUnitsPerCent;
    units -= Math.max(transferAmount * offerFigures[of + transferFeeUnits]!, feeMinUnits);
    units -= transferAmount * bandFigures[ofBand + transferInterestUnits]!;
  }
  units -= carriedBalance * bandFigures[ofBand + purchaseInterestUnits]!;
  return cents + Math.floor((units + firstYearValueUnitsPerCent / 2) / firstYearValueUnitsPerCent);
}

/**
 * Returns a function that reports the missing fields that every price needs, and amounts above the largest deposit of a secured card. The
 * filters of the tables check all other rules.
 */
export function createCardMismatchFinder(
  tables: CardTables,
  borrower: Readonly<FieldVector>,
): (offer: number, add: MismatchCallback) => void {
  const { fields, roles } = tables;
  const missing = [fields.purpose, fields.creditBand, roles.state].filter((field) => borrower[field] === absentValue);
  const amountFields = [fields.transferAmount, fields.carriedBalance];
  return (offer, add) => {
    for (const field of missing) add('not_told', field);
    const balanceMax = tables.offerFigures[offer * offerRecordLength + offerFigureIndexes.balanceMaxUsd]!;
    for (const field of amountFields) if (borrower[field]! > balanceMax) add('amount_too_high', field);
  };
}
