import { completedYears } from '../domain/calendar.ts';
import { absent, type PocketVector } from '../verticals/pocket-vector.ts';
import type { MatchTables } from './match-tables.ts';

/**
 * Whether a borrower may sign a contract in the state they live in, as far as they have told: a birthdate that was not told
 * keeps nobody out (docs/contributing/decisions/counting-rules.md#missing-birthdates). `today` is a compact date.
 */
export function isOfContractAge(tables: MatchTables, borrower: Readonly<PocketVector>, today: number): boolean {
  const state = borrower[tables.roles.state]!;
  const born = tables.roles.birthdate < 0 ? absent : borrower[tables.roles.birthdate]!;
  if (state === absent || born === absent) return true;
  return completedYears(born, today) >= tables.stateAgeMin[state]!;
}
