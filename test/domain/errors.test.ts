import assert from 'node:assert/strict';
import { it } from 'node:test';
import { errorTable } from '../../src/domain/errors.ts';

it('the error table has the codes and statuses of the contract', () => {
  const statuses = Object.fromEntries(Object.entries(errorTable).map(([code, { status }]) => [code, status]));
  assert.deepEqual(statuses, {
    INVALID_REFERRER_TAG: 400,
    INVALID_FIELD_VALUE: 400,
    SUB_ID_EXPIRED: 400,
    INSUFFICIENT_INPUTS: 400,
    INVALID_REQUEST: 400,
    UNAUTHORIZED: 401,
    VERTICAL_MISMATCH: 403,
    ORIGIN_NOT_ALLOWED: 403,
    TAG_LIMIT_EXCEEDED: 403,
    SUB_ID_NOT_FOUND: 404,
    NOT_FOUND: 404,
    METHOD_NOT_ALLOWED: 405,
    PAYLOAD_TOO_LARGE: 413,
    UNSUPPORTED_MEDIA_TYPE: 415,
    MISDIRECTED_REQUEST: 421,
    IDEMPOTENCY_MISMATCH: 422,
    RATE_LIMIT_EXCEEDED: 429,
    INTERNAL_ERROR: 500,
    SERVICE_UNAVAILABLE: 503,
  });
});
