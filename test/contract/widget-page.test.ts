import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { assertRefused, WidgetCaller } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import type { Answer } from '../support/http-client.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

describeService("the page of a widget's iframe", ({ running }) => {
  const policyOf = (answer: Answer): Map<string, string> =>
    new Map(
      answer.headers
        .get('content-security-policy')!
        .split('; ')
        .map((directive) => [directive.slice(0, directive.indexOf(' ')), directive.slice(directive.indexOf(' ') + 1)]),
    );

  test('allows only its own script, with a new nonce in each response', async () => {
    const market = running();
    const widget = await market.caller(fixture, { mode: 'test' }).widgetWith('a-page', fixture.complete);
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
      const scripts = [...answer.text.matchAll(/<script ([^>]*)>/g)].map(([, attributes]) => attributes!);
      assert.equal(scripts.length, 1);
      for (const part of [
        `nonce="${nonce}"`,
        `data-sub="${widget.subId}"`,
        `data-token="${widget.token}"`,
        'data-sort="lowest_apr"',
        'data-max-offers="7"',
        'data-embed="iframe"',
      ]) {
        assert.ok(scripts[0]!.includes(part), part);
      }
    }
    assert.equal(nonces.size, 3);
  });

  test('allows framing by allowed origins; without allowed origins by any page for test keys and by no page for live keys', async () => {
    const market = running();
    const origins = ['https://one.example', 'http://127.0.0.1:3000'];
    for (const [mode, allowed, ancestors] of [
      ['test', [], '*'],
      ['live', [], "'none'"],
      ['test', origins, [...origins].sort().join(' ')],
      ['live', origins, [...origins].sort().join(' ')],
    ] as const) {
      const account = `framed ${mode} ${allowed.length}`;
      const caller = market.caller(fixture, { account, mode });
      for (const origin of allowed) market.marketplace.origins.allow(account, origin);
      const widget = await caller.widgetWith('framed', fixture.complete);
      const granted = policyOf(await widget.get('')).get('frame-ancestors')!;
      assert.equal(granted.split(' ').sort().join(' '), ancestors);
    }
  });

  test('returns 404 for an invalid link, without the link in the response', async () => {
    const market = running();
    const caller = market.caller(fixture, { mode: 'test' });
    const { http, subId, token } = await caller.widgetWith('links', fixture.complete);
    const other = await caller.widgetWith('other-links', fixture.complete);
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

  test('rejects a token with any single changed character', async () => {
    const market = running();
    const { http, subId, token } = await market.caller(fixture, { mode: 'test' }).widgetWith('token', fixture.complete);
    for (let at = 0; at < token.length; at++) {
      for (const character of ['A', 'B', '_', '=', ' ']) {
        const forged = token.slice(0, at) + character + token.slice(at + 1);
        if (forged === token) continue;
        const answer = await new WidgetCaller(http, subId, forged).get('');
        assert.equal(answer.status, 404, forged);
      }
    }
  });

  test('returns 400 for an expired session', async () => {
    const market = running();
    const account = 'the late ones';
    market.issueKey(fixture, { account });
    market.marketplace.origins.allow(account, 'https://one.example');
    const widget = await market.caller(fixture, { account }).widgetWith('late', fixture.complete);
    market.clock.advance(bounds.sessionTtlMs - 1);
    assert.equal((await widget.get('')).status, 200);
    market.clock.advance(1);
    const answer = await widget.get('');
    assert.equal(answer.status, 400);
    assert.match(answer.text, /out of date/);
    assert.equal(policyOf(answer).get('frame-ancestors'), 'https://one.example');
  });

  test('counts no view and no request against the limits of the key', async () => {
    const market = running();
    const { key } = market.issueKey(fixture, { limits: { requestsPerMinute: 5 } });
    const caller = market.callerWith(fixture, key);
    const widget = await caller.widgetWith('uncharged', fixture.complete);
    for (let load = 0; load < 10; load++) await widget.get('');
    assert.equal((await caller.summary({ referrer_tag: 'uncharged' })).marketplace_views, 0);
  });

  test('returns 404 for other paths below /w', async () => {
    for (const path of ['/w/x', '/w/offers/x', '/w//', '/w/widget.css', '/w/../w', '/widget.js']) {
      assertRefused(await running().http.send({ path }), 'NOT_FOUND');
    }
  });
});
