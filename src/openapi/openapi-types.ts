import type { TSchema } from 'typebox';

// Types of the parts of an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1) that this service uses.

export interface PathItem extends Readonly<Partial<Record<'get' | 'post' | 'put' | 'delete', OpenApiOperation>>> {
  readonly servers?: readonly { readonly url: string; readonly description: string }[];
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
  readonly in: 'query' | 'path' | 'header';
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
