import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exampleLandingPage, sandboxLandingPage } from '../../src/http/routes/html-pages.ts';
import type { MarketplaceResponse } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { echoMarker, type HttpResponse } from '../support/http-client.ts';
import { findListedOffer, totalClickUsd } from '../support/vertical-fixture.ts';

function assertNotFoundPage(answer: HttpResponse): void {
  assert.equal(answer.status, 404);
  assert.match(answer.headers.get('content-type') ?? '', /^text\/html; charset=utf-8$/);
  assert.equal(answer.headers.has('location'), false);
  assert.match(answer.text, /^<!doctype html>/i);
  assert.ok(answer.text.length < 4_096);
}

/** Replaces a query parameter, or removes it if the value is undefined. */
function altered(clickUrl: string, name: string, value: string | undefined): string {
  const url = new URL(clickUrl);
  if (value === undefined) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  return url.href;
}

describePersonalLoans('click', (door) => {
  const { fixture } = door;
  const shown = async (tag: string): Promise<{ caller: ApiCaller; view: MarketplaceResponse; first: string }> => {
    const caller = door.caller();
    const view = await caller.offers(await caller.createSessionWithFields(tag, fixture.complete), { max_offers: 20 });
    return { caller, view, first: view.offers[0]?.click_url as string };
  };
  const clicks = async (caller: ApiCaller, tag: string) => (await caller.summary({ referrer_tag: tag })).offer_clicks;

  test('redirects to the landing URL with a click_id, without an API key or rate limit, and records each click once', async () => {
    const caller = door.caller({ limits: { requestsPerMinute: 4 } });
    const subId = await caller.createSessionWithFields('redirects', fixture.complete);
    const { offers } = await caller.offers(subId, { max_offers: 20 });
    const clickIds = new Set<string>();
    for (const { svc_offer_id: id, click_url: url } of [...offers, offers[0]!]) {
      const { status, text, headers } = await caller.click(url);
      assert.deepEqual([status, text], [302, 'Found']);
      assert.equal(headers.get('cache-control'), 'no-store');
      assert.equal(headers.get('referrer-policy'), 'no-referrer');
      assert.equal(headers.has('x-ratelimit-limit'), false);
      assert.equal(findListedOffer(fixture, id).offer.landing_url, '/c/example?click_id={click_id}');
      const { origin, pathname, searchParams } = new URL(headers.get('location')!);
      assert.deepEqual([origin + pathname, searchParams.size], [`${new URL(url).origin}/c/example`, 1]);
      const clickId = searchParams.get('click_id')!;
      assert.match(clickId, /^[\w-]{40,}$/);
      clickIds.add(clickId);
    }
    assert.equal(clickIds.size, offers.length + 1);
    await Promise.all(Array.from({ length: 5 }, () => caller.click(offers[1]!.click_url)));
    const summary = await caller.summary({ referrer_tag: 'redirects' });
    assert.deepEqual([summary.offer_clicks, summary.rev_confirmed], [offers.length, 0]);
    const ids = offers.map(({ svc_offer_id: id }) => id);
    assert.equal(summary.rev_attributed, totalClickUsd(fixture, ids));
  });

  test('returns a 404 page if a parameter of the click link is changed, missing or repeated', async () => {
    const { caller, view, first } = await shown('altered');
    const { sub_id: sub } = view;
    const v = new URL(first).searchParams.get('v') as string;
    const other = await caller.createSessionWithFields('altered', fixture.complete);
    const invalid = {
      sub: [undefined, '', echoMarker, other, sub.toUpperCase()],
      offer: [undefined, echoMarker, '__proto__', `<script>${echoMarker}</script>`],
      v: [undefined, '', `${v}A`, v.slice(0, -1)],
    };
    const bads = Object.entries(invalid).flatMap(([name, values]) =>
      values.map((value) => altered(first, name, value)),
    );
    bads.push(`${first}&sub=${sub}`, `${first}&offer=${echoMarker}`, `${first}&v=${v}`);
    const path = first.slice(0, first.indexOf('?'));
    bads.push(path, `${path}?%=%&sub=%ff`);
    for (const url of bads) assertNotFoundPage(await caller.click(url));
    assert.equal(await clicks(caller, 'altered'), 0);
  });

  test('redirects only to landing URLs of the catalog, also if the query contains other URLs', async () => {
    const { caller, first } = await shown('no-open-redirect');
    const plain = (await caller.click(first)).headers.get('location') as string;
    const evil = encodeURIComponent('https://evil.example/');
    for (const name of ['url', 'to', 'redirect', 'location', 'landing_url', 'click_id', 'next']) {
      const answer = await caller.click(`${first}&${name}=${evil}`, { 'X-Forwarded-Host': 'evil.example' });
      const location = new URL(answer.headers.get('location') as string);
      assert.equal(location.origin, new URL(plain).origin);
      assert.ok(!location.href.includes('evil'));
    }
  });

  test('example and sandbox clicks lead to a page that names the lender, the offer and the revenue', async () => {
    const { market } = door;
    for (const mode of ['live', 'test'] as const) {
      const caller = door.caller({ mode });
      const subId = await caller.createSessionWithFields('landing', fixture.complete);
      const [offer] = (await caller.offers(subId, {})).offers;
      const location = new URL((await caller.click(offer!.click_url)).headers.get('location')!);
      assert.equal(location.pathname, mode === 'live' ? '/c/example' : '/c/sandbox');
      assert.equal(location.origin, new URL(offer!.click_url).origin);
      const page = await market.http.send({ path: location.pathname + location.search });
      assert.equal(page.status, 200);
      assert.match(
        page.headers.get('content-security-policy')!,
        /^default-src 'none'; style-src 'sha256-[\w+/]+='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
      );
      assert.deepEqual([page.headers.get('cache-control'), page.headers.get('x-robots-tag')], ['no-store', 'noindex']);
      assert.ok(page.text.includes(offer!.lender_name) && page.text.includes(offer!.svc_offer_id), page.text);
      assert.match(page.text, /booked an expected revenue of <strong>\$\d+\.\d\d<\/strong>/);
      if (mode === 'live') {
        const { rev_attributed: booked } = await caller.summary({ referrer_tag: 'landing' });
        assert.ok(page.text.includes(`$${booked.toFixed(2)}`), page.text);
      }
      // Other values name no click, and the page repeats none of them.
      const clickId = location.searchParams.get('click_id')!;
      for (const bad of [
        '',
        '?',
        `?click_id=${echoMarker}`,
        `?click_id=${encodeURIComponent(`<script>${echoMarker}</script>`)}`,
        `?click_id=${clickId}A`,
        `?click_id=${clickId}&click_id=${clickId}`,
        `?url=https://evil.example/&next=//evil.example`,
        '?%=%',
        `?click_id=${'A'.repeat(4_000)}`,
      ]) {
        const { status, text, headers } = await market.http.send({ path: location.pathname + bad });
        assert.deepEqual([status, headers.has('location')], [200, false]);
        assert.ok(!text.includes(offer!.lender_name) && !text.includes(echoMarker) && !text.includes('evil'), bad);
      }
      const otherPage = mode === 'live' ? '/c/sandbox' : '/c/example';
      const { text } = await market.http.send({ path: otherPage + location.search });
      assert.ok(!text.includes(offer!.lender_name) && !text.includes('$'), text);
    }
  });

  test('the built-in landing pages escape the names of the catalog', () => {
    const click = { lenderName: 'A <b>&"Co', offerId: 'offer-1', valueMicros: null };
    for (const page of [sandboxLandingPage(click), exampleLandingPage(click)]) {
      assert.ok(page.includes('A &lt;b&gt;&amp;&quot;Co') && !page.includes('<b>'));
    }
  });

  test('counts a click only for GET requests of user agents that are not bots', async () => {
    const { caller, view, first } = await shown('by-user-agent');
    const head = await caller.click(first, {}, 'HEAD');
    assert.ok(head.status === 302 && head.headers.has('location'));
    const bot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
    assert.equal((await caller.click(first, { 'User-Agent': bot })).status, 302);
    assert.equal(await clicks(caller, 'by-user-agent'), 0);
    // Other user agents are tested in test/user-agents.
    const agents: Record<string, string>[] = [{ 'User-Agent': 'curl/8.5.0' }, { 'User-Agent': '' }, {}];
    for (const [at, headers] of agents.entries()) await caller.click(view.offers[at]?.click_url as string, headers);
    assert.equal(await clicks(caller, 'by-user-agent'), agents.length);
  });

  test('returns 503 for a speculative request for a click link, and counts no click', async () => {
    const { caller, first } = await shown('ahead');
    const values = [
      'prefetch',
      'prefetch;prerender',
      'prefetch;anonymous-client-ip',
      'Prerender',
      'preview',
      ': preview',
    ];
    const heads: Record<string, string>[] = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'].flatMap((name) => [
      ...values.map((value) => ({ [name]: value })),
      { 'Sec-Purpose': 'foo', Purpose: 'bar', [name]: 'prefetch' },
      { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document', [name]: 'prefetch' },
    ]);
    for (const headers of heads) {
      const answer = await caller.click(first, headers);
      assert.equal(answer.status, 503, JSON.stringify(headers));
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      assert.equal(answer.headers.has('location'), false);
    }
    assert.equal(await clicks(caller, 'ahead'), 0);
    await caller.click(first, { 'Sec-Purpose': 'other', 'X-Purpose': 'other' });
    assert.equal(await clicks(caller, 'ahead'), 1);
  });

  test('redirects requests for parts of a page and requests of scripts, and books nothing', async () => {
    const { caller, first } = await shown('parts');
    const destinations = [
      ...[
        'audio',
        'audioworklet',
        'embed',
        'empty',
        'font',
        'image',
        'json',
        'manifest',
        'object',
        'paintworklet',
        'report',
      ],
      ...['script', 'serviceworker', 'sharedworker', 'style', 'track', 'video', 'webidentity', 'worker', 'xslt'],
    ];
    const heads: Record<string, string>[] = [
      ...destinations.map((destination) => ({ 'Sec-Fetch-Dest': destination })),
      ...destinations.map((destination) => ({ 'Sec-Fetch-Dest': destination, 'Sec-Fetch-Mode': 'no-cors' })),
      ...['cors', 'no-cors', 'same-origin', 'websocket'].map((mode) => ({ 'Sec-Fetch-Mode': mode })),
      { 'Sec-Fetch-Dest': 'object', 'Sec-Fetch-Mode': 'navigate' },
    ];
    for (const headers of heads) {
      const answer = await caller.click(first, headers);
      assert.equal(answer.status, 302, JSON.stringify(headers));
      assert.ok(answer.headers.has('location'));
    }
    assert.equal(await clicks(caller, 'parts'), 0);
  });

  test('counts navigations in windows and frames, and requests of browsers without these headers', async () => {
    const { caller, view } = await shown('navigations');
    const heads: Record<string, string>[] = [
      ...['document', 'iframe', 'frame', 'fencedframe'].map((destination) => ({
        'Sec-Fetch-Dest': destination,
        'Sec-Fetch-Mode': 'navigate',
        'Sec-Fetch-Site': 'cross-site',
      })),
      { 'Sec-Fetch-Mode': 'navigate' },
      { 'Sec-Fetch-Mode': 'nested-navigate' },
      { 'Sec-Fetch-Dest': 'document' },
      { 'Sec-Fetch-Dest': 'empty', 'Sec-Fetch-Mode': 'navigate', 'Service-Worker-Navigation-Preload': 'true' },
      { 'Sec-Fetch-Dest': 'unknown', 'Sec-Fetch-Mode': 'unknown' },
      {},
    ];
    for (const [at, headers] of heads.entries()) {
      assert.equal((await caller.click(view.offers[at]!.click_url, headers)).status, 302);
      assert.equal(await clicks(caller, 'navigations'), at + 1, JSON.stringify(headers));
    }
  });
});
