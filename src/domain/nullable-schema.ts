import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';

/**
 * Copies `schema` and allows null in the copy. `schema` must have exactly one `type`. Objects and enumerations get `anyOf`, because
 * some code generators lose the null in a list of types that contains `object`, or in a list of values.
 */
export function nullableSchema<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  const { type, description, ...rest } = schema as { readonly type?: string; readonly description?: string };
  if (type === 'object' || 'enum' in schema) {
    const anyOf = [{ type, ...rest }, { type: 'null' }];
    return Type.Unsafe<Static<Schema> | null>(description === undefined ? { anyOf } : { description, anyOf });
  }
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] });
}
