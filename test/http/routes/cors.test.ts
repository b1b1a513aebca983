import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RequestContext } from '../../../src/http/engines/listener.ts';
import { type HeaderText, splitHeaders } from '../../../src/http/engines/response-head.ts';
import { Cors } from '../../../src/http/routes/cors.ts';

/** A request with this Origin header. */
function from(origin: string): RequestContext {
  return { header: (name: string) => (name === 'origin' ? origin : '') } as RequestContext;
}

function named(headers: HeaderText): Record<string, string> {
  const pairs = splitHeaders(headers);
  return Object.fromEntries(pairs.flatMap((name, at) => (at % 2 === 0 ? [[name, pairs[at + 1]!]] : [])));
}

const allowed = 'https://partner.example';

describe('Cors', () => {
  it('sends no headers without configured origins', () => {
    const off = new Cors([]);
    assert.equal(off.headersFor(from(allowed)), '');
    assert.equal(off.preflightHeaders(from(allowed), 'GET'), '');
  });

  it('lets an allowed origin read the response and its headers', () => {
    const headers = named(new Cors(['https://other.example', allowed]).headersFor(from(allowed)));
    assert.equal(headers['Access-Control-Allow-Origin'], allowed);
    assert.equal(headers.Vary, 'Origin');
    const exposed = headers['Access-Control-Expose-Headers']!.split(', ');
    for (const name of ['X-Request-Id', 'X-RateLimit-Reset', 'Retry-After']) assert(exposed.includes(name));
  });

  it('sends only Vary to other origins', () => {
    const cors = new Cors([allowed]);
    for (const origin of [
      '',
      'null',
      '*',
      'https://partner.example.evil.example',
      'https://evil.example',
      'http://partner.example',
      'https://partner.example:8443',
      'https://PARTNER.example',
      `${allowed}/`,
    ]) {
      assert.deepEqual(named(cors.headersFor(from(origin))), { Vary: 'Origin' });
      assert.deepEqual(named(cors.preflightHeaders(from(origin), 'GET')), { Vary: 'Origin' });
    }
  });

  it('answers a preflight with the methods of the path and the request headers of the API', () => {
    const headers = named(new Cors([allowed]).preflightHeaders(from(allowed), 'POST, OPTIONS'));
    assert.equal(headers['Access-Control-Allow-Origin'], allowed);
    assert.equal(headers['Access-Control-Allow-Methods'], 'POST, OPTIONS');
    const requestHeaders = headers['Access-Control-Allow-Headers']!.toLowerCase().split(', ');
    for (const name of ['authorization', 'content-type']) assert(requestHeaders.includes(name));
    assert.match(headers['Access-Control-Max-Age']!, /^\d+$/);
  });

  it('never allows credentials', () => {
    const headers = named(new Cors([allowed]).preflightHeaders(from(allowed), 'POST'));
    assert.equal(headers['Access-Control-Allow-Credentials'], undefined);
  });
});
