import Type, { IsOptional, type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { ErrorCode } from '../domain/errors.ts';
import type { ApiOperation, OperationExamples } from '../operations/api-operation.ts';
import type { RequestMember, RequestMembers } from '../operations/request-members.ts';
import {
  jsonContent,
  type OpenApiContent,
  type OpenApiExamples,
  type OpenApiOperation,
  type OpenApiParameter,
  type OpenApiResponse,
  type PathItem,
} from './openapi-types.ts';
import type { RecordedExamples } from './recorded-examples.ts';
import {
  csvHeaders,
  errorResponses,
  idempotencyReplayedHeader,
  noStoreHeader,
  rateLimitHeaders,
  requestIdHeader,
} from './responses.ts';

/** Possible error codes of every operation that requires an API key. */
const keyErrors = [
  'INVALID_REQUEST',
  'UNAUTHORIZED',
  'VERTICAL_MISMATCH',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const;
/** Additional error codes of operations that have a request body. */
const bodyErrors = ['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'] as const;

const idempotencyKeyParameter: OpenApiParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'Makes retries safe: while the session lives, the same key and body return the first response.',
  schema: Type.String({ maxLength: bounds.idempotencyKeyCharactersMax, pattern: '^[!-~]+$' }),
};

/** Returns the OpenAPI descriptions of the operations, by path below `/v1/<vertical>`. */
export function apiPaths(
  operations: readonly ApiOperation[],
  vertical: VerticalWithProduct,
  samples: RecordedExamples | null,
): Readonly<Record<string, PathItem>> {
  const paths: Record<string, PathItem> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: describeOperation(operation, vertical, samples) };
  }
  return paths;
}

function describeOperation(
  operation: ApiOperation,
  vertical: VerticalWithProduct,
  samples: RecordedExamples | null,
): OpenApiOperation {
  const { id, summary, description, parameters = {}, body, invalidParamExample, isRepeat } = operation;
  const listed = [
    ...(isRepeat === undefined ? [] : [idempotencyKeyParameter]),
    ...listParameters(parameters, vertical, operation.pathParameters),
  ];
  return {
    operationId: id,
    tags: ['API'],
    summary,
    description,
    ...(listed.length > 0 && { parameters: listed }),
    ...(body !== undefined && {
      requestBody: {
        required: true,
        content: jsonContent(bodySchema(body, vertical), findExamples(body.examples, samples)),
      },
    }),
    responses: {
      200: successResponse(operation, vertical, samples),
      ...errorResponses(listErrorCodes(operation), {
        invalidParam: invalidParamExample,
        missingRequired: vertical.vertical.required.slice(-1),
        invalidFields: samples?.invalidFields,
      }),
    },
  };
}

/** Describes query parameters, and path parameters whose names are in `pathParameters`, in the document of a vertical. */
export function listParameters(
  members: RequestMembers,
  vertical: VerticalWithProduct,
  pathParameters: readonly string[] = [],
): readonly OpenApiParameter[] {
  return Object.entries(members).map(([name, member]) => {
    const { description = '', schema } = { ...member, ...member.forVertical?.(vertical) };
    return {
      name,
      in: pathParameters.includes(name) ? 'path' : 'query',
      ...(isRequired(member) && { required: true }),
      description,
      schema,
      ...('items' in schema && ({ style: 'form', explode: false } as const)),
    };
  });
}

function isRequired({ schema }: RequestMember): boolean {
  return !IsOptional(schema) && !('default' in schema);
}

function bodySchema({ title, members }: NonNullable<ApiOperation['body']>, vertical: VerticalWithProduct): TSchema {
  const schemas = Object.entries(members).map(([name, { schema, forVertical }]) => [
    name,
    forVertical?.(vertical).schema ?? schema,
  ]);
  return Type.Object(Object.fromEntries(schemas), { title });
}

function successResponse(
  { response, isReplayed }: ApiOperation,
  vertical: VerticalWithProduct,
  samples: RecordedExamples | null,
): OpenApiResponse {
  const { description, schema, examples, html, csv } = response;
  return {
    description,
    headers: {
      ...requestIdHeader,
      ...noStoreHeader,
      ...rateLimitHeaders,
      ...(isReplayed !== undefined && idempotencyReplayedHeader),
      ...(csv !== undefined && csvHeaders),
    },
    content: {
      ...jsonContent(typeof schema === 'function' ? schema(vertical) : schema, findExamples(examples, samples)),
      ...(html !== undefined && { 'text/html': textContent(html, samples) }),
      ...(csv !== undefined && { 'text/csv': textContent(csv, samples) }),
    },
  };
}

function textContent(
  { description, examples }: NonNullable<ApiOperation['response']['html']>,
  samples: RecordedExamples | null,
): OpenApiContent[string] {
  return {
    schema: Type.String({ description }),
    ...(samples && { examples: findExamples(examples, samples)! }),
  };
}

/** Returns the recorded examples in the document; null if no examples were recorded. */
function findExamples(
  examples: OperationExamples | undefined,
  samples: RecordedExamples | null,
): OpenApiExamples | null {
  if (samples === null || examples === undefined) return null;
  const found = Object.entries(examples).map(([name, { summary, recorded }]) => {
    if (!Object.hasOwn(samples, recorded)) throw new Error(`no recorded example ${recorded}; run make openapi`);
    return [name, { ...(summary !== undefined && { summary }), value: samples[recorded] }] as const;
  });
  return Object.fromEntries(found);
}

function listErrorCodes({ parameters = {}, body, scope, isRepeat, errors }: ApiOperation): readonly ErrorCode[] {
  const members: RequestMembers = { ...parameters, ...body?.members };
  return [
    ...Object.values(members).flatMap(({ errorCode }) => errorCode ?? []),
    ...keyErrors,
    ...(body === undefined ? [] : bodyErrors),
    ...(isRepeat === undefined ? [] : (['IDEMPOTENCY_MISMATCH'] as const)),
    ...(scope === undefined ? (['INSUFFICIENT_SCOPE'] as const) : []),
    ...errors,
  ];
}
