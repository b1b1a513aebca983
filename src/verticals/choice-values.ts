import type { Vertical } from './vertical.ts';

/** The values of a field of words, in their order. Throws for any other field: the roles of a vertical must suit its fields. */
export function choiceValues(vertical: Vertical, name: string): readonly string[] {
  const field = vertical.fields.find((candidate) => candidate.name === name);
  if (field?.kind !== 'choice') throw new TypeError(`${vertical.segment}: ${name} must be a choice field`);
  return field.values;
}
