import type { PocketField, Vertical } from './vertical.ts';

/** The values of a choice field. Throws for a field of another kind. */
export function choiceValues(vertical: Vertical, name: string): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${vertical.segment}: ${name} must be a choice field`);
  return field.values;
}

/** The values of a field with an enumerable set of them, as submitted; empty for other kinds of fields. */
export function enumValues(field: PocketField): readonly unknown[] {
  if (field.kind === 'boolean') return [false, true];
  return field.kind === 'choice' || field.kind === 'integer_choice' ? field.values : [];
}

/**
 * The pocket fields of a borrower as 32-bit integers, one for each field of the vertical in its order; `absentValue` for a field that
 * was not submitted. Sessions and matching threads keep borrowers in this form.
 */
export type FieldVector = number[];

/** Encodes a field without a value. Values of all kinds of fields encode to 0 or more. */
export const absentValue = -1;

export function emptyFieldVector(vertical: Vertical): FieldVector {
  return new Array<number>(vertical.fields.length).fill(absentValue);
}

/** Position of a field in the vector, or -1 for a name that is not a field of the vertical. */
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
