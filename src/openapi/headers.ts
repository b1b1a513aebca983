import Type, { type TSchema } from 'typebox';
import type { Header, Headers } from './openapi-types.ts';

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
export const optionalLimitHeaders = optionalHeaders(limitHeaders);

export const retryAfterHeader: Headers = {
  'Retry-After': requiredHeader('Whole seconds to wait before the next attempt.', secondsSchema),
};

export const authenticateHeader: Headers = {
  'WWW-Authenticate': requiredHeader('How to authenticate.', Type.Unsafe({ type: 'string', const: 'Bearer' })),
};

export const allowHeader: Headers = { Allow: requiredHeader('The methods that this path answers.', Type.String()) };

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
