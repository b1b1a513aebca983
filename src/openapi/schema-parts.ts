import Type, { type Static, type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { subIdTextLength } from '../ids/sub-id.ts';
import { widgetLoadIdPattern } from '../widgets/widget-beacon.ts';

/** Makes a type deeply read-only and turns `A & B` into one object type, so that TypeScript treats equivalent types as identical. */
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
 * Checks at compile time that a schema matches a type. `defineSchema<SessionResponse>()(schema)` compiles only if the schema and the type
 * have the same members.
 */
export function defineSchema<View>(): <Schema extends TSchema>(
  schema: Schema & IfSameType<NormalizedType<Static<Schema>>, NormalizedType<View>>,
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

/** Schema of a referrer tag. `isReferrerTag` must accept the same values as this schema. */
export const referrerTagSchema = Type.String({
  pattern: '^[a-z0-9_-]{3,64}$',
  description: 'The experiment that the session belongs to.',
});

/**
 * Schema of an object with any names and values of one schema. Uses `additionalProperties`, because many code generators ignore the
 * `patternProperties` of `Type.Record`.
 */
export const dictionarySchema = <Value extends TSchema>(values: Value, description: string) =>
  Type.Unsafe<Readonly<Record<string, Static<Value>>>>({ type: 'object', additionalProperties: values, description });

export const metadataValueSchema = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]);

export const ignoredParametersProperty = {
  ignored: Type.Optional(
    Type.Array(Type.String({ maxLength: bounds.ignoredNameCharactersShown }), {
      maxItems: bounds.ignoredNamesShownMax,
      description: 'With a test key only: unknown members and parameters, which were ignored.',
    }),
  ),
};

// Types of the parts of an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1) that this service uses.

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly OpenApiServer[];
  readonly security: readonly object[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, OpenApiResponse>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface OpenApiServer {
  readonly url: string;
  readonly description?: string;
}

export interface PathItem {
  readonly servers?: readonly OpenApiServer[];
  readonly get?: OpenApiOperation;
  readonly post?: OpenApiOperation;
}

export interface OpenApiOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  /** Security requirements: an empty list if the operation needs no API key; absent if the operation needs an API key. */
  readonly security?: readonly [];
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: { readonly required: true; readonly content: OpenApiContent };
  readonly responses: OpenApiResponses;
}

export interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: TSchema;
  /** Serialization style of the parameter. If `explode` is false, a list is sent as one comma-separated value. */
  readonly style?: 'form';
  readonly explode?: boolean;
  readonly example?: unknown;
}

/** Responses of an operation, by status code or `default`. */
export type OpenApiResponses = Readonly<Record<string, OpenApiResponse | SchemaReference>>;

export interface SchemaReference {
  readonly $ref: string;
}

export interface OpenApiResponse {
  readonly description: string;
  readonly headers?: OpenApiHeaders;
  readonly content?: OpenApiContent;
}

export type OpenApiHeaders = Readonly<Record<string, OpenApiHeader>>;

export interface OpenApiHeader {
  readonly description: string;
  readonly required: boolean;
  readonly schema: TSchema;
}

/** Contents of a request or response body, by media type. */
export type OpenApiContent = Readonly<
  Record<string, { readonly schema: TSchema; readonly examples?: OpenApiExamples }>
>;

export type OpenApiExamples = Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;

export function jsonContent(schema: TSchema, examples: OpenApiExamples | null): OpenApiContent {
  return { 'application/json': examples === null ? { schema } : { schema, examples } };
}
