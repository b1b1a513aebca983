import type { Static, TSchema } from 'typebox';

/** Read-only all the way down, and every intersection one object: two spellings of a type come out the same. */
type NormalizedType<Value> = Value extends readonly (infer Item)[]
  ? readonly NormalizedType<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: NormalizedType<Value[Name]> }
    : Value;

type IfSameType<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2
    ? unknown
    : { 'is not what it describes': One };

/**
 * Ties a schema to the type of what is really answered or taken: `describes<SessionView>()(schema)` compiles only while both
 * have the same members, so that neither can change without the other.
 */
export function schemaFor<View>(): <Schema extends TSchema>(
  schema: Schema & IfSameType<NormalizedType<Static<Schema>>, NormalizedType<View>>,
) => Schema {
  return (schema) => schema;
}
