import type { PocketField, Vertical } from './vertical.ts';

/** The values of a field of words, in their order. Throws for any other field: the roles of a vertical must suit its fields. */
export function choiceValues(vertical: Vertical, name: string): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${vertical.segment}: ${name} must be a choice field`);
  return field.values;
}

/** The values of a field that has few of them, as they are submitted; none for a field of any number, date or digits. */
export function enumValues(field: PocketField): readonly unknown[] {
  if (field.kind === 'boolean') return [false, true];
  return field.kind === 'choice' || field.kind === 'integer_choice' ? field.values : [];
}

/**
 * The pocket fields of a session as integers of 32 bits, one for each field of the vertical and in its order; `absent` where
 * nothing was submitted. The form in which a session keeps its borrower, and in which the borrower crosses to a matching
 * worker. Names and wording of the fields are never needed again, since no answer repeats a value.
 */
export type FieldVector = number[];

/** Marks a field without a value. Every kind of field encodes to 0 or more. */
export const absentValue = -1;

export function emptyFieldVector(vertical: Vertical): FieldVector {
  return new Array<number>(vertical.fields.length).fill(absentValue);
}

/** Position of a field in the vector, or -1 for a name that is not a pocket field of this vertical. */
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
