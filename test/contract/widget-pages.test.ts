import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { WidgetEmbedResponse } from '../../src/index.ts';
import { assertError, assertOk, assertTimestamp } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import { echoMarker, type HttpResponse } from '../support/http-client.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

describeService('pages of the widget', ({ running }) => {
  describe('GET /marketplace returns the embed code of a widget', () => {
    const readySession = async () => {
      const caller = running().caller(fixture);
      return { caller, subId: await caller.createSessionWithFields('embedding', fixture.complete) };
    };

    test('returns the iframe element for format=iframe, and a container and a script for format=js', async () => {
      const { caller, subId } = await readySession();
      const selection = { sort: 'lowest_apr', max_offers: 3 };
      const htmlOf = async (format: 'iframe' | 'js', query: object = {}) => {
        const { status, headers, text } = await caller.get('marketplace', { sub_id: subId, format, ...query });
        assert.deepEqual([status, headers.get('content-type')], [200, 'text/html; charset=utf-8']);
        assert.equal(headers.get('cache-control'), 'no-store');
        assert.ok(headers.has('x-ratelimit-limit'));
        return text;
      };
      const { widget } = running().marketplace.urls;
      const element = /^<iframe src="([^"]+)" title="[^"]+" width="100%" height="680" frameborder="0"><\/iframe>\n$/;
      const src = new URL(element.exec(await htmlOf('iframe'))?.[1] ?? assert.fail());
      assert.equal(src.origin + src.pathname, widget);
      const { token, ...query } = Object.fromEntries(src.searchParams);
      assert.deepEqual(query, { sub: subId, sort: 'recommended', max_offers: '5' });
      assert.match(token!, /^[\w-]{28}$/);

      const elements =
        /^<div id="(svc-offers-[0-9a-f]{8})"><svg width="1" height="\d+" aria-hidden="true"><\/svg><\/div>\n<script async ([^>]*)><\/script>\n$/;
      const [, id, attributes] = elements.exec(await htmlOf('js', selection)) ?? assert.fail();
      const { src: script, ...values } = Object.fromEntries(
        [...attributes!.matchAll(/([a-z-]+)="([^"]*)"/g)].map((each) => each.slice(1)),
      );
      assert.match(script, new RegExp(`^${widget}/widget\\.js\\?v=[0-9a-f]{16}$`));
      assert.match(values['data-token'], /^[\w-]{28}$/);
      const { 'data-sub': sub, 'data-mount': mount, 'data-sort': sort, 'data-max-offers': most } = values;
      assert.deepEqual([sub, mount, sort, most], [subId, `#${id}`, 'lowest_apr', '3']);
      assert.equal(values['data-vertical'], fixture.vertical.segment);
    });

    test('each embed code has a unique container id and reserves the height of at most five offers', async () => {
      const { caller, subId } = await readySession();
      assert.notEqual((await caller.getEmbedCode(subId, 'js')).html, (await caller.getEmbedCode(subId, 'js')).html);
      const heights: number[] = [];
      for (const most of [1, 3, 5, 20]) {
        const { html } = await caller.getEmbedCode(subId, 'js', { max_offers: most });
        assert.ok(!html.includes('style'));
        heights.push(Number(/^<div [^>]+><svg [^>]*height="(\d+)"/.exec(html)?.[1]));
      }
      const [one, three, five, twenty] = heights as [number, number, number, number];
      assert.ok(one >= 300 && one < three && three < five && five < 1_300, heights.join());
      assert.equal(twenty, five);
    });

    test('returns the embed code as JSON if the client prefers JSON', async () => {
      const { caller, subId } = await readySession();
      for (const format of ['iframe', 'js'] as const) {
        const query = { sub_id: subId, format };
        for (const accept of ['application/json', 'text/html;q=0.5, application/json']) {
          const answer = await caller.get('marketplace', query, { Accept: accept });
          const view = assertOk<WidgetEmbedResponse>(answer);
          assert.ok(!answer.text.includes(caller.key) && !answer.text.includes(caller.key.slice(-12)));
          assert.deepEqual([view.sub_id, view.format], [subId, format]);
          assert.ok(view.html.includes(view.src) && view.html.includes(view.token));
          assert.equal(assertTimestamp(view.expires_at), running().clock.wallMs() + bounds.sessionTtlMs);
        }
        for (const accept of ['*/*', 'text/html', 'text/html, application/json', 'application/json;q=0']) {
          const answer = await caller.get('marketplace', query, { Accept: accept });
          assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', accept);
        }
      }
    });

    test('a request for an embed code fails with the same errors as a request with format=json, and counts no view', async () => {
      const { caller, subId } = await readySession();
      const { sub_id: empty } = await caller.createSession('nothing-told');
      const stranger = running().caller(fixture);
      for (const format of ['iframe', 'js']) {
        assertError(await caller.get('marketplace', { sub_id: empty, format }), 'INSUFFICIENT_INPUTS');
        assertError(await stranger.get('marketplace', { sub_id: subId, format }), 'SUB_ID_NOT_FOUND');
        const good = { sub_id: subId, format };
        assertError(await caller.get('marketplace', { ...good, sort: echoMarker }), 'INVALID_REQUEST', 'sort');
        assertError(await caller.get('marketplace', { ...good, max_offers: 21 }), 'INVALID_REQUEST', 'max_offers');
        assertError(await caller.get('marketplace', { ...good, explain: 'true' }), 'INVALID_REQUEST', 'explain');
      }
      await caller.getEmbedCode(subId, 'js');
      assert.equal((await caller.summary({ sub_id_list: subId })).marketplace_views, 0);
      running().clock.advance(bounds.sessionTtlMs);
      for (const format of ['iframe', 'js']) {
        assertError(await caller.get('marketplace', { sub_id: subId, format }), 'SUB_ID_EXPIRED');
      }
    });

    test('getWidget of the embedded API returns the embed code', async () => {
      const { key } = running().issueKey(fixture);
      const { segment } = fixture.vertical;
      const partner = running().marketplace.partnerApi(key, segment);
      const subId = await running().callerWithKey(fixture, key).createSessionWithFields('embedded', fixture.complete);
      const got = await partner.getWidget({ sub_id: subId, format: 'iframe', max_offers: 2, sort: 'highest_amount' });
      assert.ok(got.ok);
      assert.match(got.value.src, /&sort=highest_amount&max_offers=2$/);
      const wrong = await partner.getWidget({ sub_id: subId, format: 'json' as 'js' });
      assert.ok(!wrong.ok && wrong.error.error === 'INVALID_REQUEST' && wrong.error.param === 'format');
      const none = await partner.getWidget(null as never);
      assert.ok(!none.ok && none.error.param === 'sub_id');
    });
  });

  describe("the page of a widget's iframe", () => {
    const policyOf = ({ headers }: HttpResponse): Map<string, string> => {
      const directives = headers.get('content-security-policy')!.split('; ');
      return new Map(directives.map((text) => /^(\S+) (.*)$/.exec(text)!.slice(1) as [string, string]));
    };

    test('the Content-Security-Policy of the iframe page allows only the widget script, with a new nonce in each response', async () => {
      const market = running();
      const widget = await market.caller(fixture, { mode: 'test' }).createWidget('a-page', fixture.complete);
      const nonces = new Set<string>();
      for (let load = 0; load < 3; load++) {
        const answer = await widget.get('', { sort: 'lowest_apr', max_offers: 7 });
        assert.equal(answer.status, 200);
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assert.equal(answer.headers.get('referrer-policy'), 'same-origin');
        const policy = policyOf(answer);
        const nonce = /^'nonce-([\w-]{22})'$/.exec(policy.get('script-src')!)![1]!;
        nonces.add(nonce);
        const { origin } = new URL(market.marketplace.urls.widget);
        assert.deepEqual(Object.fromEntries(policy), {
          'default-src': "'none'",
          'script-src': `'nonce-${nonce}'`,
          'style-src': `'nonce-${nonce}'`,
          'connect-src': origin,
          'img-src': origin,
          'base-uri': "'none'",
          'form-action': "'none'",
          'frame-ancestors': '*',
        });
        const [script = '', ...others] = [...answer.text.matchAll(/<script ([^>]*)>/g)].map(
          ([, attributes]) => attributes!,
        );
        assert.deepEqual(others, []);
        const data = Object.fromEntries(
          [...script.matchAll(/(data-[a-z-]+|nonce)="([^"]*)"/g)].map((each) => each.slice(1)),
        );
        assert.deepEqual(data, {
          ...{ 'data-sub': widget.subId, 'data-token': widget.token, 'data-mount': '#svc-offers', nonce },
          ...{
            'data-vertical': fixture.vertical.segment,
            'data-sort': 'lowest_apr',
            'data-max-offers': '7',
            'data-theme': 'light',
            'data-embed': 'iframe',
          },
        });
      }
      assert.equal(nonces.size, 3);
    });

    test('the iframe page returns 404 for an invalid page URL, and the response contains no text of the URL', async () => {
      const market = running();
      const caller = market.caller(fixture, { mode: 'test' });
      const { http, subId, token } = await caller.createWidget('links', fixture.complete);
      const other = await caller.createWidget('other-links', fixture.complete);
      const wrong = [
        '/w',
        '/w/',
        `/w?sub=${subId}`,
        `/w?token=${token}`,
        `/w?sub=${subId}&token=${other.token}`,
        `/w?sub=${subId}&token=${token.slice(1)}`,
        `/w?sub=${subId}&token=${token}&sort="><script>alert(1)</script>`,
        `/w?sub=${subId}&token=${token}&max_offers=21`,
        `/w?sub=${subId}&sub=${subId}&token=${token}`,
        `/w?sub=${encodeURIComponent('"><script>')}&token=${token}`,
      ];
      for (const path of wrong) {
        const answer = await http.send({ path });
        assert.equal(answer.status, 404, path);
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
        assert.ok(!answer.text.includes('<script') && !answer.text.includes(subId));
        assert.ok(policyOf(answer).get('default-src') === "'none'");
      }
      assert.equal((await http.send({ path: `/w/?sub=${subId}&token=${token}` })).status, 200);
    });

    test('an invalid theme or accent in the URL of the iframe page has the effect of the default', async () => {
      const { http, subId, token } = await running()
        .caller(fixture, { mode: 'test' })
        .createWidget('colors', fixture.complete);
      for (const [query, theme, accent] of [
        ['theme=dark&accent=0a7d5f', 'dark', '0a7d5f'],
        ['theme=auto&accent=%23FC0', 'auto', '#FC0'],
        ['theme=pink&accent=red', 'light', ''],
        ['theme=%22%3E%3Cscript%3E&accent=%22%3E%3Cscript%3E', 'light', ''],
        ['theme=DARK&accent=fff%0A', 'light', ''],
        ['theme=&accent=fff;color:red', 'light', ''],
      ] as const) {
        const { status, text } = await http.send({ path: `/w?sub=${subId}&token=${token}&${query}` });
        assert.equal(status, 200, query);
        const found = /<script [^>]*data-theme="([^"]*)" data-accent="([^"]*)" nonce="[\w-]+"><\/script>/.exec(text)!;
        assert.deepEqual(found.slice(1), [theme, accent], query);
        assert.ok(text.includes(`:root { color-scheme: ${theme === 'auto' ? 'light dark' : theme} }`), query);
        assert.equal(text.split('<script').length, 2, query);
      }
    });

    test('requests for the iframe page do not count as views or API requests, and fail after the session expires', async () => {
      const market = running();
      const account = 'the late ones';
      const caller = market.caller(fixture, { account, limits: { requestsPerMinute: 5 } });
      market.marketplace.origins.allow(account, 'https://one.example');
      const widget = await caller.createWidget('late', fixture.complete);
      market.clock.advance(bounds.sessionTtlMs - 1);
      for (let load = 0; load < 10; load++) assert.equal((await widget.get('')).status, 200);
      assert.equal((await caller.summary({ referrer_tag: 'late' })).marketplace_views, 0);
      market.clock.advance(1);
      const answer = await widget.get('');
      assert.equal(answer.status, 400);
      assert.match(answer.text, /out of date/);
      assert.equal(policyOf(answer).get('frame-ancestors'), 'https://one.example');
    });
  });

  test('a frame on a page of an origin that is not allowed gets a page with a sentence instead of the widget', async () => {
    const market = running();
    const account = 'the framed ones';
    const caller = market.caller(fixture, { account });
    market.marketplace.origins.allow(account, 'https://one.example');
    const widget = await caller.createWidget('framed', fixture.complete);
    const { pathname, search } = new URL(widget.path(''), 'https://any.example');
    const open = (headers: Readonly<Record<string, string>>) => market.http.send({ path: pathname + search, headers });
    for (const dest of ['iframe', 'frame', 'embed', 'object']) {
      const refused = await open({ 'Sec-Fetch-Dest': dest, Referer: `https://two.example/${echoMarker}` });
      assert.equal(refused.status, 403);
      assert.match(refused.text, /Offers cannot be shown on this page/);
      assert.ok(!refused.text.includes(widget.subId) && !refused.text.includes(echoMarker));
      assert.match(
        refused.headers.get('content-security-policy')!,
        /^default-src 'none'; style-src 'sha256-[^;]+; base-uri/,
      );
      assert.equal(/frame-ancestors ([^;]+)/.exec(refused.headers.get('content-security-policy')!)?.[1], undefined);
    }
    for (const headers of [
      { 'Sec-Fetch-Dest': 'iframe', Referer: 'https://one.example/page' },
      { 'Sec-Fetch-Dest': 'iframe' },
      { 'Sec-Fetch-Dest': 'iframe', Referer: 'no url' },
      { 'Sec-Fetch-Dest': 'document', Referer: 'https://two.example/' },
      { Referer: 'https://two.example/' },
    ]) {
      const answer = await open(headers);
      assert.equal(answer.status, 200, JSON.stringify(headers));
      assert.equal(
        /frame-ancestors ([^;]+)/.exec(answer.headers.get('content-security-policy')!)?.[1],
        'https://one.example',
      );
    }
  });

  describe("the widget's script", () => {
    /** Returns the URL of the script in an embed code. */
    const address = async (): Promise<URL> => {
      const caller = running().caller(fixture);
      const { src } = await caller.getEmbedCode(await caller.createSessionWithFields('script', fixture.complete), 'js');
      return new URL(src);
    };
    const get = (url: URL, headers: Readonly<Record<string, string>> = {}) =>
      running().http.send({ path: url.pathname + url.search, headers });

    test('a script URL with the content hash may be cached forever', async () => {
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

    test('compresses the widget script if the client accepts compression', async () => {
      const url = await address();
      const { bytes: plain, headers } = await get(url, { 'Accept-Encoding': 'identity' });
      assert.equal(headers.get('vary'), 'Accept-Encoding');
      assert.equal(headers.get('content-encoding'), undefined);
      for (const [accepted, encoding] of [
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip', 'gzip'],
        ['GZIP;q=0.5', 'gzip'],
        ['br;q=0, gzip', 'gzip'],
        ['deflate', undefined],
      ]) {
        const answer = await get(url, { 'Accept-Encoding': accepted! });
        assert.equal(answer.headers.get('content-encoding'), encoding, accepted);
        assert.equal(answer.text, plain.toString());
      }
    });

    test('returns 304 for the widget script if the client has the current version', async () => {
      const url = await address();
      const etag = (await get(url)).headers.get('etag')!;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, `"other",W/${etag} , "more"`, '*']) {
        const { status, bytes, headers } = await get(url, { 'If-None-Match': known });
        assert.deepEqual([status, bytes.length, headers.get('etag')], [304, 0, etag]);
      }
      // The service ignores an If-None-Match header above the length limit.
      const long = `${','.repeat(bounds.headerListCharactersMax)}${etag}`;
      for (const other of ['"other"', etag.slice(1, -1), etag.slice(0, -1), '"*"', 'W/', ',', long]) {
        assert.equal((await get(url, { 'If-None-Match': other })).status, 200, other);
      }
    });
  });
});
