import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { type ErrorCode, errorTable, type RequestParamName } from '../domain/errors.ts';
import {
  type ApiError,
  createErrorBody,
  type ErrorBody,
  type InvalidField,
  invalidRequest,
} from '../domain/outcome.ts';
import { constantSchema, defineSchema, stringEnum } from '../operations/schema-parts.ts';
import type {
  OpenApiExamples,
  OpenApiHeader,
  OpenApiHeaders,
  OpenApiResponse,
  OpenApiResponses,
} from './openapi-types.ts';

export function requiredHeader(description: string, schema: TSchema): OpenApiHeader {
  return { description, required: true, schema };
}

/** Description of the header `X-Request-Id`, which every response contains. */
export const requestIdHeader: OpenApiHeaders = {
  'X-Request-Id': requiredHeader(
    'Id of this request, for problem reports.',
    Type.String({ minLength: 8, maxLength: 64 }),
  ),
};

export const rateLimitResetHeader: OpenApiHeaders = {
  'X-RateLimit-Reset': requiredHeader('When to retry, in Unix seconds.', Type.Integer({ minimum: 0 })),
};

export const allowOriginHeader: OpenApiHeaders = {
  'Access-Control-Allow-Origin': {
    description: 'The origin of the page, or `*`. Present for requests with `Origin`.',
    required: false,
    schema: Type.String(),
  },
};

/** Rate limit headers, which every response to a request with a valid API key contains (docs/contract.md#limit-headers). */
export const rateLimitHeaders: OpenApiHeaders = {
  'X-RateLimit-Limit': requiredHeader('The limit with the fewest requests left.', Type.Integer({ minimum: 1 })),
  'X-RateLimit-Remaining': requiredHeader('Number of requests left in this limit.', Type.Integer({ minimum: 0 })),
  'X-RateLimit-Reset': requiredHeader(
    'When the limit resets or, with 429, when to retry, in Unix seconds.',
    Type.Integer({ minimum: 0 }),
  ),
  'RateLimit-Policy': requiredHeader(
    'All limits, e.g. `"minute";q=500;w=60` for 500 requests in any 60 seconds.',
    Type.String(),
  ),
  RateLimit: requiredHeader(
    'The limit with the fewest requests left: `r` requests, reset in `t` seconds.',
    Type.String(),
  ),
};

/** Rate limit headers, declared as optional, for error responses that may be sent before the API key is checked. */
const optionalLimitHeaders: OpenApiHeaders = Object.fromEntries(
  Object.entries(rateLimitHeaders).map(([name, header]) => [name, { ...header, required: false }]),
);

export const retryAfterHeader: OpenApiHeaders = {
  'Retry-After': requiredHeader('Seconds to wait before the next attempt.', Type.Integer({ minimum: 1 })),
};

const authenticateHeader: OpenApiHeaders = {
  'WWW-Authenticate': requiredHeader('How to authenticate.', constantSchema('Bearer')),
};

const allowHeader: OpenApiHeaders = { Allow: requiredHeader('The allowed methods of this path.', Type.String()) };

export const idempotencyReplayedHeader: OpenApiHeaders = {
  'Idempotency-Replayed': {
    description: 'Present if an earlier request created this response.',
    required: false,
    schema: constantSchema('true'),
  },
};

export const noStoreHeader: OpenApiHeaders = {
  'Cache-Control': requiredHeader('The response must not be cached.', constantSchema('no-store')),
};

/** Headers of responses that are JSON or CSV (docs/contract.md#csv). */
export const csvHeaders: OpenApiHeaders = {
  Vary: requiredHeader('Contains `Accept`, which selects JSON or CSV.', Type.String()),
  Link: {
    description:
      'CSV: the next page, as `<?...>; rel="next"` relative to the URL of the request. Absent on the last page.',
    required: false,
    schema: Type.String(),
  },
};

const invalidFieldSchema = defineSchema<InvalidField>()(
  Type.Object(
    {
      field: Type.String({ description: 'The pocket field.' }),
      code: stringEnum(['type', 'enum', 'range', 'format', 'min_age'], { description: 'The kind of error.' }),
      message: Type.String({ description: 'The error in words, for developers.' }),
      min: Type.Optional(Type.Number({ description: 'Minimum; for `min_age` in years.' })),
      max: Type.Optional(Type.Number({ description: 'Maximum.' })),
      allowed: Type.Optional(
        Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { description: 'The allowed values.' }),
      ),
    },
    { title: 'InvalidField' },
  ),
);

export const errorSchema = defineSchema<ErrorBody>()(
  Type.Object(
    {
      error: stringEnum(Object.keys(errorTable) as ErrorCode[], { description: 'New codes may be added.' }),
      message: Type.String({ description: 'What to do, for developers. Never repeats parts of the request.' }),
      param: Type.Optional(Type.String({ description: '`INVALID_REQUEST`: the invalid part.' })),
      missing_required: Type.Optional(
        Type.Array(Type.String(), { description: '`INSUFFICIENT_INPUTS`: the missing fields.' }),
      ),
      fields_invalid: Type.Optional(
        Type.Array(invalidFieldSchema, { description: '`INVALID_FIELD_VALUE`: all invalid fields.' }),
      ),
      request_id: Type.Optional(Type.String({ description: '`INTERNAL_ERROR`: the `X-Request-Id`.' })),
    },
    { title: 'Error' },
  ),
);

/** For each error status: when the error occurs, and which additional headers the response contains. */
export type ErrorStatusDescriptions = Readonly<
  Record<number, { readonly when: string; readonly headers: OpenApiHeaders }>
>;

/** Descriptions and headers of the error statuses of operations that need an API key. */
const statuses: ErrorStatusDescriptions = {
  400: { when: 'The request is invalid, or the session has expired.', headers: optionalLimitHeaders },
  401: { when: 'No valid API key.', headers: authenticateHeader },
  403: { when: 'The key does not allow it.', headers: rateLimitHeaders },
  404: { when: 'No session of this account, vertical and mode has this id.', headers: rateLimitHeaders },
  405: { when: 'The path does not allow this method.', headers: allowHeader },
  413: { when: `The body is larger than ${bounds.requestBodyBytesMax / 1024} KiB.`, headers: rateLimitHeaders },
  415: { when: 'The body is not `application/json`.', headers: rateLimitHeaders },
  422: { when: 'The `Idempotency-Key` was used before with another body.', headers: rateLimitHeaders },
  429: {
    when: 'A limit of the key or of the account is used up.',
    headers: { ...rateLimitHeaders, ...retryAfterHeader },
  },
  500: { when: 'The service failed.', headers: optionalLimitHeaders },
  503: {
    when: 'The service cannot handle the request now, or not in time. The request may still have taken effect.',
    headers: { ...optionalLimitHeaders, ...retryAfterHeader },
  },
};

interface ErrorExamples {
  /** Value of `param` in the example response of an INVALID_REQUEST error. */
  readonly invalidParam?: RequestParamName;
  readonly missingRequired?: readonly string[];
  /** Recorded response body of an INVALID_FIELD_VALUE error. */
  readonly invalidFields?: unknown;
}

const sampleRequestId = 'pC7ZkX0wQm2s-4f';

/**
 * Returns the OpenAPI error responses of an operation by status (docs/contract.md#error-codes). Descriptions in `own` replace the standard
 * descriptions of error statuses. If `own` is undefined, a status with only one error code, whose response is shared, is a `$ref` to `sharedErrorResponses`.
 */
export function errorResponses(
  codes: readonly ErrorCode[],
  samples: ErrorExamples = {},
  own?: ErrorStatusDescriptions,
): OpenApiResponses {
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [
      status,
      own === undefined && of.length === 1 && sharedCodes.includes(of[0]!)
        ? { $ref: `#/components/responses/${of[0]}` }
        : errorResponse(own ?? statuses, status, of, samples),
    ]),
  );
}

const sharedCodes: readonly ErrorCode[] = [
  'UNAUTHORIZED',
  'VERTICAL_MISMATCH',
  'SUB_ID_NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'IDEMPOTENCY_MISMATCH',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
];

/** Shared error responses, by error code. The responses from {@link errorResponses} contain a `$ref` to these shared responses. */
export const sharedErrorResponses: Readonly<Record<string, OpenApiResponse>> = Object.fromEntries(
  sharedCodes.map((code) => [code, errorResponse(statuses, errorTable[code].status, [code], {})]),
);

function errorResponse(
  of: ErrorStatusDescriptions,
  status: number,
  codes: readonly ErrorCode[],
  samples: ErrorExamples,
): OpenApiResponse {
  const { when, headers } = of[status]!;
  const names = codes.map((code) => `\`${code}\``).join(', ');
  return {
    description: `${when} ${names}.`,
    headers: { ...requestIdHeader, ...noStoreHeader, ...headers },
    content: { 'application/json': { schema: errorSchema, examples: examplesOf(codes, samples) } },
  };
}

function examplesOf(
  codes: readonly ErrorCode[],
  { invalidParam = 'body', missingRequired, invalidFields }: ErrorExamples,
): OpenApiExamples {
  const errors: { readonly [Code in ErrorCode]?: ApiError } = {
    INVALID_REQUEST: invalidRequest(invalidParam).error,
    INSUFFICIENT_INPUTS: { code: 'INSUFFICIENT_INPUTS', ...(missingRequired !== undefined && { missingRequired }) },
  };
  return Object.fromEntries(
    codes.map((code) => {
      const error = errors[code] ?? { code };
      const recorded = code === 'INVALID_FIELD_VALUE' ? invalidFields : undefined;
      return [code, { value: recorded ?? createErrorBody(error, sampleRequestId) }];
    }),
  );
}
