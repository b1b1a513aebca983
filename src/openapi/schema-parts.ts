import Type, { type Static, type TSchema, type TUnsafe } from 'typebox';
import { bounds } from '../bounds.ts';
import { subIdCharacters } from '../ids/sub-id.ts';
import { widgetLoadIdPattern } from '../widgets/widget-beacon.ts';

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

/** Schemas that many others are made of. Whatever has a `title` is a component of the document, referred to by that name. */

type Options = Readonly<Record<string, unknown>>;

/** One of some words. */
export function stringEnum<const Word extends string>(values: readonly Word[], options: Options = {}): TUnsafe<Word> {
  return Type.Unsafe<Word>({ type: 'string', enum: values, ...options });
}

/** Either what the schema, of a single type, says, or null. */
export function nullable<Schema extends TSchema>(schema: Schema): TUnsafe<Static<Schema> | null> {
  const { type } = schema as { readonly type?: string };
  return Type.Unsafe<Static<Schema> | null>({ ...schema, type: [type, 'null'] });
}

/** How many of something there are. */
export function countSchema(description: string) {
  return Type.Integer({ minimum: 0, description });
}

export function usdSchema(description: string) {
  return Type.Number({ minimum: 0, description: `${description}, in USD` });
}

export function timestampSchema(description: string) {
  return Type.String({ format: 'date-time', description: `${description}: ISO 8601, UTC` });
}

export function isoDateSchema(description: string) {
  return Type.String({ format: 'date', description });
}

export function urlSchema(description: string) {
  return Type.String({ format: 'uri', description });
}

export const subIdSchema = Type.String({
  pattern: `^sub_[0-9a-f]{${subIdCharacters - 'sub_'.length}}$`,
  description: 'The id of a session.',
});

export const widgetLoadIdSchema = Type.String({
  pattern: widgetLoadIdPattern,
  description: 'The id of one load of the widget, which the script makes up.',
});

/** As `isReferrerTag` judges it. */
export const referrerTagSchema = Type.String({
  pattern: '^[a-z0-9_-]{3,64}$',
  description: 'The experiment that the session belongs to.',
});

export const metadataValueSchema = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

/** The optional member `ignored` of answers to test keys. */
export const ignoredProperty = {
  ignored: Type.Optional(
    Type.Array(Type.String({ maxLength: bounds.ignoredNameCharactersShown }), {
      maxItems: bounds.ignoredNamesShownMax,
      description:
        'With a test key only: members and query parameters of the request that the operation does not know and ignored. Absent when there are none.',
    }),
  ),
};
