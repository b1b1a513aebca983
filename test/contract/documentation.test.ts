import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openApiText } from '../../src/openapi/openapi-document.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';

// The service compresses each file at its first request, which takes long on a busy machine.

describePersonalLoans('documentation', (door) => {
  const { fixture } = door;
  const address = () => new URL(`${door.market.marketplace.urls.public}/v1/${fixture.vertical.segment}/openapi.json`);
  const get = (headers: Readonly<Record<string, string>> = {}) =>
    door.market.http.send({ path: address().pathname, headers });

  test('serves the OpenAPI document with the URLs of the service, without an API key, and compressed on request', async () => {
    const { status, headers, bytes } = await get();
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'application/json');
    assert.equal(headers.get('cache-control'), 'public, max-age=300');
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(
      bytes.toString(),
      openApiText(builtInVerticals.withProduct(fixture.vertical), door.market.marketplace.urls),
    );
    const packed = await get({ 'Accept-Encoding': 'gzip, br' });
    assert.deepEqual([packed.headers.get('content-encoding'), packed.headers.get('vary')], ['br', 'Accept-Encoding']);
    assert.equal(packed.text, bytes.toString());
  });

  test('the reference page loads only files of the service, and the URLs of these files contain content hashes', async () => {
    const { http } = door.market;
    for (const path of ['/docs', '/docs/personal-loans', '/docs/equipment-leases']) {
      const { status, headers, text } = await http.send({ path });
      assert.equal(status, 200);
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
      assert.match(
        headers.get('content-security-policy') ?? '',
        /^default-src 'none'; script-src 'self'; style-src 'self';/,
      );
      const parts = [...text.matchAll(/(?:src|href)="(\/docs\/[a-z.-]+\?v=[^"]+)"/g)].map((match) => match[1]!);
      assert.equal(parts.length, 4);
      for (const part of parts) {
        const answer = await http.send({ path: part });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('cache-control'), 'public, max-age=31536000, immutable');
      }
    }
  });

  test('redirects the root to the documentation, also behind a proxy with a path prefix', async () => {
    const { status, headers } = await door.market.http.send({ path: '/' });
    assert.equal(status, 308);
    assert.equal(new URL(headers.get('location')!, 'https://proxy.test/loans/').pathname, '/loans/docs');
  });

  test('redirects documentation paths with a trailing slash, also behind a proxy with a path prefix', async () => {
    const { http } = door.market;
    for (const path of ['/docs', '/docs/personal-loans']) {
      for (const method of ['GET', 'HEAD']) {
        const { status, headers, text } = await http.send({ method, path: `${path}/` });
        assert.deepEqual([status, text], [308, '']);
        const location = headers.get('location')!;
        assert.equal(new URL(location, `https://proxy.test/loans${path}/`).pathname, `/loans${path}`);
        assert.equal((await http.send({ path: new URL(location, `https://own.test${path}/`).pathname })).status, 200);
      }
    }
  });
});
