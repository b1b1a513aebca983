import assert from 'node:assert/strict';
import type { Answer } from './http-client.ts';

/** Statuses by error code, copied from docs/contract.md#error-codes, because the tests check the table in the code. */
const statuses = {
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
  SERVICE_UNAVAILABLE: 503,
} as const;

export type RefusalCode = keyof typeof statuses;

export interface ErrorBody {
  readonly error: string;
  readonly message: string;
  readonly param?: string;
  readonly missing_required?: readonly string[];
  readonly fields_invalid?: readonly Readonly<Record<string, unknown>>[];
}

/**
 * Asserts that a response is this error, with its status, as JSON, and without additional members. Returns the body.
 *
 * @param param the parameter that an INVALID_REQUEST error must name
 */
export function assertRefused(answer: Answer, code: RefusalCode, param?: string): ErrorBody {
  const { status, text, headers } = answer;
  assert.equal(status, statuses[code], text);
  const body = jsonOf<ErrorBody>(answer);
  assert.equal(body.error, code);
  assert.equal(body.param, param);
  const members = ['error', 'message'];
  if (param !== undefined) members.push('param');
  if (code === 'INVALID_FIELD_VALUE') members.push('fields_invalid');
  if (code === 'INSUFFICIENT_INPUTS') members.push('missing_required');
  assert.deepEqual(Object.keys(body).sort(), members.sort());
  assert.ok(typeof body.message === 'string' && body.message.length > 10);
  if (param !== undefined) assert.match(body.message, param === 'body' ? /body must be/ : new RegExp(`^${param} `));
  assert.equal(headers.has('www-authenticate'), code === 'UNAUTHORIZED');
  assert.equal(headers.has('allow'), code === 'METHOD_NOT_ALLOWED');
  assert.equal(headers.has('retry-after'), code === 'RATE_LIMIT_EXCEEDED' || code === 'SERVICE_UNAVAILABLE');
  return body;
}

/** Whether a response is a documented error, for tests that do not know the error in advance. */
export function isDocumentedError(answer: Answer): boolean {
  const { error, message, param } = jsonOf<ErrorBody>(answer);
  return (
    Object.hasOwn(statuses, error) &&
    statuses[error as RefusalCode] === answer.status &&
    typeof message === 'string' &&
    (error === 'INVALID_REQUEST') === (typeof param === 'string')
  );
}

/** Parses the body of a response, which must be JSON with `Cache-Control: no-store`. */
export function jsonOf<Body>(answer: Answer): Body {
  assert.equal(answer.headers.get('content-type'), 'application/json', answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return JSON.parse(answer.text) as Body;
}

export function assertOk<Body>(answer: Answer): Body {
  assert.equal(answer.status, 200, answer.text);
  return jsonOf<Body>(answer);
}

/** Asserts that a value is an ISO 8601 timestamp in UTC with milliseconds. Returns the time in milliseconds. */
export function assertTimestamp(value: unknown): number {
  assert.ok(typeof value === 'string', 'a timestamp is a string');
  assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return Date.parse(value);
}

/** Asserts that an object has exactly these members with these types. */
export function assertShape(value: object, shape: Readonly<Record<string, string>>): void {
  const types = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, typeOf(member)]));
  assert.deepEqual(types, shape);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
