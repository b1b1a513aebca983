import Type, { type Static, type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { nullableSchema } from '../domain/nullable-schema.ts';
import { subIdTextLength } from '../ids/sub-id.ts';
import { widgetLoadIdPattern } from '../widgets/widget-beacon.ts';

/** Type of the values of a schema, deeply read-only. An intersection `A & B` becomes one object type. */
export type ValueOf<Schema extends TSchema> = NormalizedType<Static<Schema>>;

type NormalizedType<Value> = Value extends readonly (infer Item)[]
  ? readonly NormalizedType<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: NormalizedType<Value[Name]> }
    : Value;

type IfSameType<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2
    ? unknown
    : { 'schema does not match the type': One };

/**
 * Checks at compile time that a schema matches a type that another folder defines. `defineSchema<OfferView>()(schema)` compiles only if the
 * schema and the type have the same members. Other types are derived from their schema with `ValueOf`.
 */
export function defineSchema<Value>(): <Schema extends TSchema>(
  schema: Schema & IfSameType<ValueOf<Schema>, NormalizedType<Value>>,
) => Schema {
  return (schema) => schema;
}

// A schema with a `title` becomes a component of the OpenAPI document. The schema's `title` is the component's name.

type Options = Readonly<Record<string, unknown>>;

export const stringEnum = <const Word extends string>(values: readonly Word[], options: Options = {}) =>
  Type.Unsafe<Word>({ type: 'string', enum: values, ...options });
export const constantSchema = <const Word extends string>(value: Word) =>
  Type.Unsafe<Word>({ type: 'string', const: value });
export const nonNegativeIntegerSchema = (description: string) => Type.Integer({ minimum: 0, description });
export const usdSchema = (description: string) => Type.Number({ minimum: 0, description: `${description}, in USD` });
export const timestampSchema = (description: string) =>
  Type.String({ format: 'date-time', description: `${description}: ISO 8601, UTC` });
export const isoDateSchema = (description: string) => Type.String({ format: 'date', description });
export const urlSchema = (description: string) => Type.String({ format: 'uri', description });

export const subIdSchema = Type.String({
  pattern: `^sub_[0-9a-f]{${subIdTextLength - 'sub_'.length}}$`,
  description: 'The id of a session.',
});

export const widgetLoadIdSchema = Type.String({
  pattern: widgetLoadIdPattern,
  description: 'The id of one load of the widget.',
});

/** Schema of a referrer tag or of a name with the same pattern. `isReferrerTag` must accept the same values as this schema. */
export const tagSchema = (description: string) => Type.String({ pattern: '^[a-z0-9_-]{3,64}$', description });

export const referrerTagSchema = tagSchema('The tag under which the session is counted, chosen by the caller.');

/**
 * Schema of an object with any names and values of one schema. Uses `additionalProperties`, because many code generators ignore the
 * `patternProperties` of `Type.Record`.
 */
export const dictionarySchema = <Value extends TSchema>(values: Value, description: string) =>
  Type.Unsafe<Readonly<Record<string, Static<Value>>>>({ type: 'object', additionalProperties: values, description });

export const metadataValueSchema = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

/** Members at the end of a page of a list. */
export const pageEndProperties = {
  has_more: Type.Boolean({ description: 'Whether there is a next page.' }),
  next_cursor: nullableSchema(Type.String({ description: 'The `cursor` of the next page; `null` at the end.' })),
};

/** Member `ignored` of a response, so that developers notice misspelt names (docs/contract.md#ignored-names). */
export type IgnoredParameters = ValueOf<Type.TObject<typeof ignoredParametersProperty>>;

export const ignoredParametersProperty = {
  ignored: Type.Optional(
    Type.Array(Type.String({ maxLength: bounds.ignoredNameCharactersShown }), {
      maxItems: bounds.ignoredNamesShownMax,
      description: 'With a test key only: unknown members and parameters, which were ignored.',
    }),
  ),
};
