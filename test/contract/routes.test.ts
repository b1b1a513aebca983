import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/api-caller.ts';
import { describePersonalLoans, describeService } from '../support/contract-suite.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

const allowed = {
  session: ['POST', 'OPTIONS'],
  inputs: ['POST', 'OPTIONS'],
  marketplace: ['GET', 'HEAD', 'OPTIONS'],
  analytics: ['GET', 'HEAD', 'OPTIONS'],
};
/** HTTP methods to send, including unknown methods whose names differ from a known method in one letter. */
const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PURGE', 'GE', 'GETS', 'POS', 'POSTS'];

describePersonalLoans('routes:', (door) => {
  const { fixture } = door;
  for (const [operation, answered] of Object.entries(allowed)) {
    test(`${operation} returns 405 with an Allow header for methods other than ${answered.join(', ')}`, async () => {
      const { market } = door;
      const { key } = market.issueKey(fixture);
      const path = `/v1/${fixture.vertical.segment}/${operation}`;
      const { status, text, headers } = await market.http.send({ method: 'OPTIONS', path });
      assert.deepEqual([status, text, headers.get('allow')], [204, '', answered.join(', ')]);
      for (const name of headers.keys()) assert.doesNotMatch(name, /^access-control/);
      for (const method of methods.filter((name) => !answered.includes(name))) {
        const answer = await market.http.send({ method, path, headers: { Authorization: `Bearer ${key}` } });
        if (method === 'HEAD') assert.deepEqual([answer.status, answer.text], [405, '']);
        else assertError(answer, 'METHOD_NOT_ALLOWED');
        assert.equal(answer.headers.get('allow'), answered.join(', '), method);
      }
    });
  }

  test('returns 404 for paths that differ from a route in case, slashes, dot segments or encoding', async () => {
    const { market } = door;
    const { segment } = fixture.vertical;
    const { key } = market.issueKey(fixture);
    const ofApi = [
      '',
      '/',
      '/analytics/',
      '/Analytics',
      '//analytics',
      '/%61nalytics',
      '/analytics%2f',
      '/analytics;x',
    ];
    const strays = [
      ...[...ofApi, '/x/../analytics', '/./analytics'].map((rest) => `/v1/${segment}${rest}`),
      ...[`/v1//${segment}/analytics`, `//v1/${segment}/analytics`, `/v1/${segment.toUpperCase()}/analytics`],
      ...[`/v2/${segment}/analytics`, `/${segment}/analytics`],
    ];
    for (const path of strays) {
      const answer = await market.http.send({ path, headers: { Authorization: `Bearer ${key}` } });
      assertError(answer, 'NOT_FOUND');
    }
  });
});

describeService('other paths', ({ running }) => {
  test('returns 404 for unknown paths and for verticals that are not served, with or without an API key', async () => {
    const { http } = running();
    const { key } = running().issueKey(personalLoansFixture);
    const segments = ['credit-cards', 'mortgage', 'banking', 'find-advisor', 'constructor', '__proto__'];
    for (const segment of segments) {
      for (const operation of Object.keys(allowed)) {
        for (const [method, headers] of [
          ['GET', {}],
          ['POST', { Authorization: `Bearer ${key}` }],
          ['OPTIONS', {}],
        ] as const) {
          assertError(await http.send({ method, path: `/v1/${segment}/${operation}`, headers }), 'NOT_FOUND');
        }
      }
    }
    const others = [
      ...['/v1', '/v1/', '/favicon.ico', '/c/', '/c/x', '/*', '/w/x', '/w/offers/x', '/w//', '/w/../w', '/widget.js'],
      ...['/docs//', '/docs/mortgage', '/docs/mortgage/', '/docs/reference.css/', '/docs/../package.json'],
    ];
    for (const path of others) assertError(await http.send({ path }), 'NOT_FOUND');
  });

  test('returns 404 for the paths of the operations listener, also with the operator token', async () => {
    const { http, operatorToken } = running();
    const headers = { Authorization: `Bearer ${operatorToken}` };
    for (const path of ['/healthz', '/readyz', '/metrics', '/keys', '/keys/x', '/origins', '/confirmations']) {
      assertError(await http.send({ path, headers }), 'NOT_FOUND');
    }
  });

  test('paths of documents, clicks, widgets and logos accept the allowed methods, and return 405 for other methods', async () => {
    const market = running();
    const caller = market.caller(personalLoansFixture, { mode: 'test' });
    const widget = await caller.createWidget('methods', personalLoansFixture.complete);
    const { offers } = await caller.offers(widget.subId);
    const { pathname: logo } = new URL(offers[0]!.logo_url);
    const documents = ['/docs', '/v1/personal-loans/openapi.json'];
    const paths = ['/c/sandbox', '/c/example', ...documents, widget.path(''), '/w/widget.js', logo];
    // On a busy machine, compressing the files at the first request may take longer than the request deadline.
    while ((await market.http.send({ path: '/docs' })).status === 503);
    for (const path of paths) {
      assert.equal((await market.http.send({ path })).status, 200, path);
      const head = await market.http.send({ method: 'HEAD', path });
      assert.deepEqual([head.status, head.text], [200, ''], path);
      const options = await market.http.send({ method: 'OPTIONS', path });
      assert.deepEqual([options.status, options.headers.get('allow')], [204, 'GET, HEAD, OPTIONS'], path);
    }
    for (const path of [...paths, '/c?sub=x', '/docs/', '/w/offers', '/w/events']) {
      const methods = path === '/w/events' ? ['POST', 'OPTIONS'] : ['GET', 'HEAD', 'OPTIONS'];
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'GET'].filter((each) => !methods.includes(each))) {
        const answer = await market.http.send({ method, path });
        assertError(answer, 'METHOD_NOT_ALLOWED');
        assert.equal(answer.headers.get('allow'), methods.join(', '), path);
      }
    }
  });

  test('/healthz, /readyz and /metrics of the operations listener return 200', async () => {
    const { operations } = running();
    for (const path of ['/healthz', '/readyz', '/metrics']) assert.equal((await operations.send({ path })).status, 200);
    assertError(await operations.send({ path: '/v1/personal-loans/analytics' }), 'NOT_FOUND');
    assertError(await operations.send({ method: 'POST', path: '/healthz' }), 'METHOD_NOT_ALLOWED');
  });
});
