import Type, { type TSchema } from 'typebox';
import { bounds } from '../bounds.ts';
import { type ErrorBody, errorBody } from '../domain/error-body.ts';
import { type ErrorCode, errorTable, type RequestParam } from '../domain/errors.ts';
import { type InvalidField, invalidRequest, type Refusal } from '../domain/outcome.ts';
import type { Examples, Header, Headers, Response, Responses } from './openapi-types.ts';
import { schemaFor, stringEnum } from './schema-parts.ts';

function requiredHeader(description: string, schema: TSchema): Header {
  return { description, required: true, schema };
}

/** The same header, where not every answer has it. */
function optionalHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, { ...header, required: false }]));
}

const secondsSchema = Type.Integer({ minimum: 1 });

/** Of every answer. */
export const requestIdHeader: Headers = {
  'X-Request-Id': requiredHeader(
    'Names this request; tell it when you report a problem.',
    Type.String({ minLength: 8, maxLength: 64 }),
  ),
};

export const resetHeader: Headers = {
  'X-RateLimit-Reset': requiredHeader('When the next request can succeed: Unix seconds.', Type.Integer({ minimum: 0 })),
};

/** Of answers that a script of a page is to read. */
export const allowOriginHeader: Headers = {
  'Access-Control-Allow-Origin': {
    description: 'The origin of the page that asked, or `*`. There when a browser has told an origin.',
    required: false,
    schema: Type.String(),
  },
};

/** Of every answer to a key that is known (docs/contract.md#limit-headers). */
export const limitHeaders: Headers = {
  'X-RateLimit-Limit': requiredHeader('The tightest limit of the operation.', Type.Integer({ minimum: 1 })),
  'X-RateLimit-Remaining': requiredHeader('What is left of it after this request.', Type.Integer({ minimum: 0 })),
  'X-RateLimit-Reset': requiredHeader(
    'When it is whole again or, with 429, when the next request can succeed: Unix seconds.',
    Type.Integer({ minimum: 0 }),
  ),
  'RateLimit-Policy': requiredHeader(
    'All limits of the operation, e.g. `"minute";q=500;w=60`: 500 in any 60 seconds.',
    Type.String(),
  ),
  RateLimit: requiredHeader(
    'The tightest of them: `r` is what is left, `t` the seconds until it is whole again.',
    Type.String(),
  ),
};

/** Of answers that may be given before the key was looked at. */
const optionalLimitHeaders = optionalHeaders(limitHeaders);

export const retryAfterHeader: Headers = {
  'Retry-After': requiredHeader('Whole seconds to wait before the next attempt.', secondsSchema),
};

const authenticateHeader: Headers = {
  'WWW-Authenticate': requiredHeader('How to authenticate.', Type.Unsafe({ type: 'string', const: 'Bearer' })),
};

const allowHeader: Headers = { Allow: requiredHeader('The methods that this path answers.', Type.String()) };

export const replayedHeader: Headers = {
  'Idempotency-Replayed': {
    description: 'There when an earlier request with the same `Idempotency-Key` got this answer first.',
    required: false,
    schema: Type.Unsafe({ type: 'string', const: 'true' }),
  },
};

export const noStoreHeader: Headers = {
  'Cache-Control': requiredHeader('No cache may keep the answer.', Type.Unsafe({ type: 'string', const: 'no-store' })),
};

const invalidFieldSchema = schemaFor<InvalidField>()(
  Type.Object(
    {
      field: Type.String({ description: 'The pocket field.' }),
      code: stringEnum(['type', 'enum', 'range', 'format', 'min_age'], {
        description: 'What is wrong with its value.',
      }),
      message: Type.String({ description: 'The same in words, for developers.' }),
      min: Type.Optional(Type.Number({ description: 'The least it may be; for `min_age`, years.' })),
      max: Type.Optional(Type.Number({ description: 'The most it may be.' })),
      allowed: Type.Optional(
        Type.Array(Type.Union([Type.String(), Type.Number(), Type.Boolean()]), { description: 'What it may be.' }),
      ),
    },
    { title: 'InvalidField' },
  ),
);

export const errorSchema = schemaFor<ErrorBody>()(
  Type.Object(
    {
      error: stringEnum(Object.keys(errorTable) as ErrorCode[], {
        description: 'What to tell errors apart by. More may be added for cases that have none yet.',
      }),
      message: Type.String({
        description:
          'What to do, for developers; for `INVALID_REQUEST` also which values are allowed. Never repeats anything of the request.',
      }),
      param: Type.Optional(
        Type.String({ description: '`INVALID_REQUEST`: the member, parameter or header at fault, or `body`.' }),
      ),
      missing_required: Type.Optional(
        Type.Array(Type.String(), {
          description: '`INSUFFICIENT_INPUTS`: the required pocket fields that the session lacks.',
        }),
      ),
      fields_invalid: Type.Optional(
        Type.Array(invalidFieldSchema, { description: '`INVALID_FIELD_VALUE`: every pocket field at fault.' }),
      ),
      request_id: Type.Optional(
        Type.String({ description: '`INTERNAL_ERROR`: what to report, as in `X-Request-Id`.' }),
      ),
    },
    { title: 'Error' },
  ),
);

/** When each status comes, and with which headers beside those of every answer. */
export type StatusDescriptions = Readonly<Record<number, { readonly when: string; readonly headers: Headers }>>;

/** Those of operations that need a key. */
const statuses: StatusDescriptions = {
  400: { when: 'Something in the request has to be mended, or the session is over.', headers: optionalLimitHeaders },
  401: { when: 'No valid API key.', headers: authenticateHeader },
  403: { when: 'The key does not allow it.', headers: limitHeaders },
  404: { when: 'No session of this account, vertical and mode has this id.', headers: limitHeaders },
  405: { when: 'The path does not answer this method.', headers: allowHeader },
  413: { when: `The body is larger than ${bounds.requestBodyBytesMax / 1024} KiB.`, headers: limitHeaders },
  415: { when: 'The body is not `application/json`.', headers: limitHeaders },
  422: { when: 'The `Idempotency-Key` was used before with another body.', headers: limitHeaders },
  429: { when: 'A limit of the key is used up.', headers: { ...limitHeaders, ...retryAfterHeader } },
  500: { when: 'The service failed.', headers: optionalLimitHeaders },
  503: {
    when: 'The service cannot take the request now, or could not answer it in time: it may have taken effect all the same.',
    headers: { ...optionalLimitHeaders, ...retryAfterHeader },
  },
};

/** What the examples of an operation's errors tell. */
interface ErrorExamples {
  /** What INVALID_REQUEST names. */
  readonly invalidParam?: RequestParam;
  /** Of INSUFFICIENT_INPUTS. */
  readonly missingRequired?: readonly string[];
  /** A recorded body of INVALID_FIELD_VALUE. */
  readonly invalidFields?: unknown;
}

const sampleRequestId = 'pC7ZkX0wQm2s-4f';

/**
 * The errors of an operation by their statuses (docs/contract.md#error-codes). A status that stands for one error is the same wherever it
 * comes, so it is referred to by the name of that error.
 */
export function errorResponses(codes: readonly ErrorCode[], samples: ErrorExamples = {}): Responses {
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, of]) => [
      status,
      of.length === 1 ? { $ref: `#/components/responses/${of[0]}` } : errorResponse(statuses, status, of, samples),
    ]),
  );
}

/** The same where they come for reasons and with headers of their own. */
export function customErrorResponses(
  own: StatusDescriptions,
  codes: readonly ErrorCode[],
  samples: ErrorExamples = {},
): Record<string, Response> {
  const byStatus = Map.groupBy(codes, (code) => errorTable[code].status);
  return Object.fromEntries([...byStatus].map(([status, of]) => [status, errorResponse(own, status, of, samples)]));
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

/** What is referred to so. */
export const sharedErrorResponses: Readonly<Record<string, Response>> = Object.fromEntries(
  sharedCodes.map((code) => [code, errorResponse(statuses, errorTable[code].status, [code], {})]),
);

function errorResponse(
  of: StatusDescriptions,
  status: number,
  codes: readonly ErrorCode[],
  samples: ErrorExamples,
): Response {
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
): Examples {
  const refusals: { readonly [Code in ErrorCode]?: Refusal } = {
    INVALID_REQUEST: invalidRequest(invalidParam).refusal,
    INSUFFICIENT_INPUTS: { code: 'INSUFFICIENT_INPUTS', ...(missingRequired !== undefined && { missingRequired }) },
  };
  return Object.fromEntries(
    codes.map((code) => {
      const refusal = refusals[code] ?? { code };
      const recorded = code === 'INVALID_FIELD_VALUE' ? invalidFields : undefined;
      return [code, { value: recorded ?? errorBody(refusal, sampleRequestId) }];
    }),
  );
}
