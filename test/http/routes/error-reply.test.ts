import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ErrorCode, errorTable } from '../../../src/domain/errors.ts';
import { type ApiError, invalidRequest } from '../../../src/domain/outcome.ts';
import { formatHeader, type HeaderText, splitHeaders } from '../../../src/http/engines/response-head.ts';
import { errorReply } from '../../../src/http/routes/replies.ts';

const codes = Object.keys(errorTable) as ErrorCode[];

function bodyOf(error: ApiError, requestId = 'request-1'): Record<string, unknown> {
  return JSON.parse(errorReply(error, requestId).body.toString());
}

function headerOf(headers: HeaderText, name: string): string | undefined {
  const pairs = splitHeaders(headers);
  const at = pairs.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return at < 0 ? undefined : pairs[at + 1];
}

describe('errorReply', () => {
  for (const code of codes) {
    it(`sends ${code} with its status, as uncacheable JSON`, () => {
      const { status, headers, body } = errorReply({ code }, 'request-1');
      assert.equal(status, errorTable[code].status);
      assert.equal(headerOf(headers, 'content-type'), 'application/json');
      assert.equal(headerOf(headers, 'cache-control'), 'no-store');
      const extra = code === 'INTERNAL_ERROR' ? { request_id: 'request-1' } : {};
      assert.deepEqual(JSON.parse(body.toString()), { error: code, message: errorTable[code].message, ...extra });
    });
  }

  it('names the invalid parameter', () => {
    assert.deepEqual(bodyOf({ code: 'INVALID_REQUEST', param: 'max_offers' }), {
      error: 'INVALID_REQUEST',
      message: errorTable.INVALID_REQUEST.message,
      param: 'max_offers',
    });
  });

  it('explains the allowed transfer coding', () => {
    const { message } = bodyOf(invalidRequest('Transfer-Encoding').error);
    assert.match(String(message), /^Transfer-Encoding must be chunked alone, in one header, without Content-Length/);
  });

  it('lists the invalid fields', () => {
    const fieldsInvalid = [{ field: 'state', code: 'enum', message: 'must be one of them', allowed: ['CA'] }] as const;
    assert.deepEqual(bodyOf({ code: 'INVALID_FIELD_VALUE', fieldsInvalid }), {
      error: 'INVALID_FIELD_VALUE',
      message: errorTable.INVALID_FIELD_VALUE.message,
      fields_invalid: fieldsInvalid,
    });
  });

  it('sends Retry-After if it is known', () => {
    const unavailable = errorReply({ code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 }, 'request-1');
    assert.equal(headerOf(unavailable.headers, 'retry-after'), '1');
    assert.equal(headerOf(errorReply({ code: 'NOT_FOUND' }, 'request-1').headers, 'retry-after'), undefined);
  });

  it('adds extra headers to this reply only', () => {
    const before = errorReply({ code: 'METHOD_NOT_ALLOWED' }, 'request-1', formatHeader('Allow', 'GET'));
    assert.equal(headerOf(before.headers, 'allow'), 'GET');
    assert.equal(headerOf(before.headers, 'content-type'), 'application/json');
    assert.equal(headerOf(errorReply({ code: 'METHOD_NOT_ALLOWED' }, 'request-2').headers, 'allow'), undefined);
  });
});
