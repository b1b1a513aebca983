import type { PocketField, Vertical } from './vertical.ts';

/** Returns the values of a choice field. Throws for a field of another kind. */
export function choiceValues(vertical: Vertical, name: string): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${vertical.segment}: ${name} must be a choice field`);
  return field.values;
}

/** Returns the values of a field whose values can be listed, as callers submit them; empty for other kinds of fields. */
export function enumValues(field: PocketField): readonly unknown[] {
  if (field.kind === 'boolean') return [false, true];
  return field.kind === 'choice' || field.kind === 'integer_choice' ? field.values : [];
}

/**
 * Pocket fields of a borrower as 32-bit integers, in the order of the vertical's fields. A field that was not submitted has
 * `absentValue`. Sessions and matching threads store borrowers in this form.
 */
export type FieldVector = number[];

/** Encodes a field without a value. Submitted values of every kind are encoded as 0 or more. */
export const absentValue = -1;

export function emptyFieldVector(vertical: Vertical): FieldVector {
  return new Array<number>(vertical.fields.length).fill(absentValue);
}

/** Returns the position of a field in the vector, or -1 if the vertical has no field with this name. */
export function fieldIndex(vertical: Vertical, name: string): number {
  return fieldIndexes(vertical).get(name) ?? -1;
}

const fieldIndexesByVertical = new WeakMap<Vertical, ReadonlyMap<string, number>>();

function fieldIndexes(vertical: Vertical): ReadonlyMap<string, number> {
  let index = fieldIndexesByVertical.get(vertical);
  if (index === undefined) {
    index = new Map(vertical.fields.map((field, position) => [field.name, position]));
    fieldIndexesByVertical.set(vertical, index);
  }
  return index;
}
