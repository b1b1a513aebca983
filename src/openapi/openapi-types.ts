import type { TSchema } from 'typebox';

// The parts of an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1) that this service uses.

export interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly servers: readonly Server[];
  readonly security: readonly Security[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, Response>>;
    readonly securitySchemes: Readonly<Record<string, object>>;
  };
}

export interface Server {
  readonly url: string;
  readonly description?: string;
}

type Security = Readonly<Record<string, readonly string[]>>;

export interface PathItem {
  readonly servers?: readonly Server[];
  readonly get?: Operation;
  readonly post?: Operation;
}

export interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security?: readonly Security[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required: true; readonly content: Content };
  readonly responses: Responses;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'header';
  readonly required?: boolean;
  readonly description: string;
  readonly schema: TSchema;
  /** Serialization of the parameter. With `explode` false, a list is one value with commas as separators. */
  readonly style?: 'form';
  readonly explode?: boolean;
  readonly example?: unknown;
}

/** Responses by status code, or `default`. */
export type Responses = Readonly<Record<string, Response | Reference>>;

export interface Reference {
  readonly $ref: string;
}

export interface Response {
  readonly description: string;
  readonly headers?: Headers;
  readonly content?: Content;
}

export type Headers = Readonly<Record<string, Header>>;

export interface Header {
  readonly description: string;
  readonly required: boolean;
  readonly schema: TSchema;
}

/** Content by media type. */
export type Content = Readonly<Record<string, MediaType>>;

export interface MediaType {
  readonly schema: TSchema;
  readonly examples?: Examples;
}

export type Examples = Readonly<Record<string, { readonly summary?: string; readonly value: unknown }>>;
