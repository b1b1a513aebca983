import assert from 'node:assert/strict';
import type { Answer } from './http-client.ts';

/** Statuses of the codes, written down from docs/contract.md#error-codes once more: the table of the code is what is tested. */
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
 * The answer is this error, with its status, as JSON, and with no member but those the error has; returns its body.
 *
 * @param param what INVALID_REQUEST must name
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

/** Whether an answer is an error of the documented table, for tests that cannot foresee which. */
export function isDocumentedError(answer: Answer): boolean {
  const { error, message, param } = jsonOf<ErrorBody>(answer);
  return (
    Object.hasOwn(statuses, error) &&
    statuses[error as RefusalCode] === answer.status &&
    typeof message === 'string' &&
    (error === 'INVALID_REQUEST') === (typeof param === 'string')
  );
}

/** The body as JSON, of an answer that says it is JSON and must not be stored. */
export function jsonOf<Body>(answer: Answer): Body {
  assert.equal(answer.headers.get('content-type'), 'application/json', answer.text);
  assert.equal(answer.headers.get('cache-control'), 'no-store');
  return JSON.parse(answer.text) as Body;
}

export function assertOk<Body>(answer: Answer): Body {
  assert.equal(answer.status, 200, answer.text);
  return jsonOf<Body>(answer);
}

/** An ISO 8601 UTC timestamp with milliseconds; returns its time. */
export function assertTimestamp(value: unknown): number {
  assert.ok(typeof value === 'string', 'a timestamp is a string');
  assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  return Date.parse(value);
}

/** An object with exactly these members, each of the type named. */
export function assertShape(value: object, shape: Readonly<Record<string, string>>): void {
  const types = Object.fromEntries(Object.entries(value).map(([name, member]) => [name, typeOf(member)]));
  assert.deepEqual(types, shape);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}
