import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { bounds } from '../../src/bounds.ts';
import { describeService } from '../support/contract-suite.ts';
import { personalLoansFixture } from '../support/vertical-fixtures.ts';

describeService("the widget's script", ({ running }) => {
  /** Returns the URL of the script in an embed code. */
  const address = async (): Promise<URL> => {
    const caller = running().caller(personalLoansFixture);
    const { src } = await caller.embed(await caller.sessionWith('script', personalLoansFixture.complete), 'js');
    return new URL(src);
  };
  const get = (url: URL, headers: Readonly<Record<string, string>> = {}) =>
    running().http.send({ path: url.pathname + url.search, headers });

  test('allows caching forever for a URL with the content hash', async () => {
    const url = await address();
    const { status, headers, bytes } = await get(url);
    assert.equal(status, 200);
    assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(headers.get('access-control-allow-origin'), '*');
    assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin');
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    assert.equal(url.searchParams.get('v'), hash);
    assert.equal(headers.get('etag'), `"${hash}"`);
    const packed = await get(url, { 'Accept-Encoding': 'br' });
    // Each content encoding has a separate entity tag.
    assert.equal(packed.headers.get('etag'), `"${hash}-br"`);
    assert.equal(
      (await get(url, { 'Accept-Encoding': 'br', 'If-None-Match': packed.headers.get('etag')! })).status,
      304,
    );
    assert.equal((await get(url, { 'If-None-Match': packed.headers.get('etag')! })).status, 200);
  });

  test('allows caching for a few minutes for a URL with an old hash or without a hash', async () => {
    const url = await address();
    for (const query of ['', '?v=0123456789abcdef', '?v=', '?v=1&v=2']) {
      const { status, headers } = await get(new URL(url.pathname + query, url));
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'public, max-age=300');
    }
  });

  test('compresses the script if the client accepts compression', async () => {
    const url = await address();
    const { bytes: plain, headers } = await get(url, { 'Accept-Encoding': 'identity' });
    assert.equal(headers.get('vary'), 'Accept-Encoding');
    assert.equal(headers.get('content-encoding'), undefined);
    for (const [accepted, encoding, decode] of [
      ['gzip, deflate, br, zstd', 'br', brotliDecompressSync],
      ['gzip', 'gzip', gunzipSync],
      ['GZIP;q=0.5', 'gzip', gunzipSync],
      ['br;q=0, gzip', 'gzip', gunzipSync],
      ['deflate', undefined, (bytes: Buffer) => bytes],
    ] as const) {
      const answer = await get(url, { 'Accept-Encoding': accepted });
      assert.equal(answer.headers.get('content-encoding'), encoding, accepted);
      assert.deepEqual(decode(answer.bytes), plain);
    }
  });

  test('returns 304 if the client has the current version', async () => {
    const url = await address();
    const { headers } = await get(url);
    const etag = headers.get('etag')!;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const { status, bytes, headers: again } = await get(url, { 'If-None-Match': known });
      assert.deepEqual([status, bytes.length, again.get('etag')], [304, 0, etag]);
    }
    assert.equal((await get(url, { 'If-None-Match': '"other"' })).status, 200);
    // The service ignores longer headers.
    assert.equal(
      (await get(url, { 'If-None-Match': `${','.repeat(bounds.headerListCharactersMax)}${etag}` })).status,
      200,
    );
  });
});
