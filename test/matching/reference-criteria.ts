import type { FieldVector } from '../../src/domain/field-vector.ts';
import type { Vertical } from '../../src/domain/vertical.ts';
import type { OfferCriterion } from '../../src/matching/match-tables.ts';

/** Rules of criteria for the references of all verticals, without tables and bit sets. */

export type FieldValues = Readonly<Record<string, unknown>>;

/** Returns the values that a borrower submitted, by the name of the field. */
export function listSubmittedValues(vertical: Vertical, borrower: Readonly<FieldVector>): FieldValues {
  const submitted = vertical.fields.flatMap((field, at) => {
    const code = borrower[at]!;
    if (code === -1) return [];
    const value = field.kind === 'choice' ? field.values[code] : field.kind === 'boolean' ? code === 1 : code;
    return [[field.name, value] as const];
  });
  return Object.fromEntries(submitted);
}

export function meetsCriteria(criteria: readonly OfferCriterion[], values: FieldValues, today: number): boolean {
  return criteria.every(({ field, ...criterion }) => {
    const value = values[field];
    if (value === undefined) return false;
    if (criterion.in !== undefined && !criterion.in.includes(value)) return false;
    if (criterion.not_in?.includes(value)) return false;
    if (criterion.min !== undefined && (value as number) < criterion.min) return false;
    if (criterion.max !== undefined && (value as number) > criterion.max) return false;
    return criterion.min_age === undefined || ageOn(value as number, today) >= criterion.min_age;
  });
}

/** Returns the completed years between two dates, both as YYYYMMDD. */
export function ageOn(born: number, today: number): number {
  const [bornYear, todayYear] = [Math.floor(born / 10_000), Math.floor(today / 10_000)];
  const hadBirthday = today % 10_000 >= born % 10_000;
  return todayYear - bornYear - (hadBirthday ? 0 : 1);
}
