import { completedYears } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../verticals/field-vector.ts';
import type { MatchTables } from './match-tables.ts';

/**
 * Whether a borrower has the minimum age for a contract in the borrower's state. A borrower without a birthdate passes
 * (docs/contributing/decisions/counting-rules.md). `today` is a compact date (YYYYMMDD).
 */
export function meetsAgeOfContract(tables: MatchTables, borrower: Readonly<FieldVector>, today: number): boolean {
  const state = borrower[tables.roles.state]!;
  const born = tables.roles.birthdate < 0 ? absentValue : borrower[tables.roles.birthdate]!;
  if (state === absentValue || born === absentValue) return true;
  return completedYears(born, today) >= tables.stateAgeMin[state]!;
}
