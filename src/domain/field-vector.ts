import { getOrAdd } from './get-or-add.ts';
import type { PocketField, Vertical } from './vertical.ts';

/** Returns the values of a choice field. Throws a TypeError if the vertical has no choice field with this name. */
export function getChoiceValues(vertical: Vertical, name: string | undefined): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${vertical.segment}: ${name} must be a choice field`);
  return field.values;
}

/** Returns the allowed values of a choice, integer choice or boolean field, as callers submit them; an empty list for other kinds. */
export function listAllowedValues(field: PocketField): readonly unknown[] {
  if (field.kind === 'boolean') return [false, true];
  return field.kind === 'choice' || field.kind === 'integer_choice' ? field.values : [];
}

/**
 * Pocket fields of a borrower as 32-bit integers, in the order of the vertical's fields. Fields that were not submitted are encoded as
 * `absentValue`. Sessions and matching threads store borrowers as field vectors.
 */
export type FieldVector = number[];

/** Encoding of a field without a value. Encoded values are never negative. */
export const absentValue = -1;

export function emptyFieldVector(vertical: Vertical): FieldVector {
  return new Array<number>(vertical.fields.length).fill(absentValue);
}

/** Returns the position of a field in the vector, or -1 if the vertical has no field with this name or if `name` is undefined. */
export function findFieldIndex(vertical: Vertical, name: string | undefined): number {
  return name === undefined ? -1 : (fieldIndexes(vertical).get(name) ?? -1);
}

const fieldIndexesByVertical = new WeakMap<Vertical, ReadonlyMap<string, number>>();

function fieldIndexes(vertical: Vertical): ReadonlyMap<string, number> {
  const createIndexes = () => new Map(vertical.fields.map((field, position) => [field.name, position]));
  return getOrAdd(fieldIndexesByVertical, vertical, createIndexes);
}
