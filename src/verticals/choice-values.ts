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
