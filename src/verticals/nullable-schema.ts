import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';

/** Copies `schema` and allows null in the copy. `schema` must have exactly one `type`. */
export function nullableSchema<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  const { type } = schema as { readonly type?: string };
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] });
}
