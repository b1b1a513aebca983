import Type, { type TSchema } from 'typebox';
import type { Header, Headers } from './openapi-types.ts';

function always(description: string, schema: TSchema): Header {
  return { description, required: true, schema };
}

/** The same header, where not every answer has it. */
function sometimes(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, header]) => [name, { ...header, required: false }]));
}

const seconds = Type.Integer({ minimum: 1 });

/** Of every answer. */
export const requestIdHeader: Headers = {
  'X-Request-Id': always(
    'Names this request; tell it when you report a problem.',
    Type.String({ minLength: 8, maxLength: 64 }),
  ),
};

export const resetHeader: Headers = {
  'X-RateLimit-Reset': always('When the next request can succeed: Unix seconds.', Type.Integer({ minimum: 0 })),
};

/** Of answers that a script of a page is to read. */
export const pageOriginHeader: Headers = {
  'Access-Control-Allow-Origin': {
    description: 'The origin of the page that asked, or `*`. There when a browser has told an origin.',
    required: false,
    schema: Type.String(),
  },
};

/** Of every answer to a key that is known (docs/contract.md#limit-headers). */
export const limitHeaders: Headers = {
  'X-RateLimit-Limit': always('The tightest limit of the operation.', Type.Integer({ minimum: 1 })),
  'X-RateLimit-Remaining': always('What is left of it after this request.', Type.Integer({ minimum: 0 })),
  'X-RateLimit-Reset': always(
    'When it is whole again or, with 429, when the next request can succeed: Unix seconds.',
    Type.Integer({ minimum: 0 }),
  ),
  'RateLimit-Policy': always(
    'All limits of the operation, e.g. `"minute";q=500;w=60`: 500 in any 60 seconds.',
    Type.String(),
  ),
  RateLimit: always(
    'The tightest of them: `r` is what is left, `t` the seconds until it is whole again.',
    Type.String(),
  ),
};

/** Of answers that may be given before the key was looked at. */
export const limitHeadersIfKnown = sometimes(limitHeaders);

export const retryAfterHeader: Headers = {
  'Retry-After': always('Whole seconds to wait before the next attempt.', seconds),
};

export const challengeHeader: Headers = {
  'WWW-Authenticate': always('How to authenticate.', Type.Unsafe({ type: 'string', const: 'Bearer' })),
};

export const allowHeader: Headers = { Allow: always('The methods that this path answers.', Type.String()) };

export const replayedHeader: Headers = {
  'Idempotency-Replayed': {
    description: 'There when an earlier request with the same `Idempotency-Key` got this answer first.',
    required: false,
    schema: Type.Unsafe({ type: 'string', const: 'true' }),
  },
};

export const noStoreHeader: Headers = {
  'Cache-Control': always('No cache may keep the answer.', Type.Unsafe({ type: 'string', const: 'no-store' })),
};
