import { completedYears } from '../domain/calendar.ts';
import { absentValue, type FieldVector } from '../verticals/pocket-vector.ts';
import type { MatchTables } from './match-tables.ts';

/**
 * Whether a borrower may sign a contract in the state they live in, as far as they have told: a birthdate that was not told
 * keeps nobody out (docs/decisions/age-of-contract.md). `today` is a compact date.
 */
export function meetsAgeOfContract(tables: MatchTables, borrower: Readonly<FieldVector>, today: number): boolean {
  const state = borrower[tables.roles.state]!;
  const born = tables.roles.birthdate < 0 ? absentValue : borrower[tables.roles.birthdate]!;
  if (state === absentValue || born === absentValue) return true;
  return completedYears(born, today) >= tables.stateAgeMin[state]!;
}
