import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { fieldIndex } from '../verticals/pocket-vector.ts';
import type { PocketField, Vertical } from '../verticals/vertical.ts';

/**
 * How a field's value is kept as a number. The journal remembers the shapes it was written with, so that a version whose
 * fields are others, or in another order, reads what an earlier one wrote.
 */
export interface FieldEncoding {
  readonly name: string;
  readonly kind: string;
  /** Of a choice, whose value is kept as an index into these. */
  readonly words?: readonly string[];
}

const FieldEncodings = Compile(
  Type.Record(
    Type.String(),
    Type.Array(
      Type.Object({ name: Type.String(), kind: Type.String(), words: Type.Optional(Type.Array(Type.String())) }),
    ),
  ),
);

export function fieldEncodings({ fields }: Vertical): FieldEncoding[] {
  return fields.map(fieldEncoding);
}

function fieldEncoding(field: PocketField): FieldEncoding {
  const { name, kind } = field;
  return field.kind === 'choice' ? { name, kind, words: field.values } : { name, kind };
}

export function serializeFieldEncodings(verticals: readonly Vertical[]): string {
  return JSON.stringify(Object.fromEntries(verticals.map((vertical) => [vertical.number, fieldEncodings(vertical)])));
}

/** The shapes of each vertical by its number. Throws an error in words. */
export function parseFieldEncodings(text: string): ReadonlyMap<number, readonly FieldEncoding[]> {
  const parsed: unknown = JSON.parse(text);
  if (!FieldEncodings.Check(parsed)) throw new Error('the shapes of the fields cannot be read');
  return new Map(Object.entries(parsed).map(([number, shapes]) => [Number(number), shapes]));
}

/**
 * Changes (position, value, position, value) in one set of shapes, as they are in the fields of a vertical today. A field or a
 * word that is no more is left out. Null when the two are the same and there is nothing to do.
 */
export function createChangeTranslator(
  written: readonly FieldEncoding[],
  vertical: Vertical,
): ((changes: readonly number[]) => number[]) | null {
  if (JSON.stringify(written) === JSON.stringify(fieldEncodings(vertical))) return null;
  const positions = written.map(({ name, kind }) => {
    const position = fieldIndex(vertical, name);
    return vertical.fields[position]?.kind === kind ? position : -1;
  });
  return (changes) => {
    const translated: number[] = [];
    for (let i = 0; i < changes.length; i += 2) {
      const position = positions[changes[i]!] ?? -1;
      if (position < 0) continue;
      const value = translateValue(written[changes[i]!]!, vertical.fields[position]!, changes[i + 1]!);
      if (value !== null) translated.push(position, value);
    }
    return translated;
  };
}

function translateValue(from: FieldEncoding, to: PocketField, value: number): number | null {
  if (to.kind !== 'choice' || value < 0) return value;
  const index = to.values.indexOf(from.words?.[value] ?? '');
  return index < 0 ? null : index;
}
