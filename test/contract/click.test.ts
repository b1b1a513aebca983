import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MarketplaceView } from '../../src/index.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { echoMarker, type HttpResponse } from '../support/http-client.ts';
import { findListedOffer, totalClickUsd } from '../support/vertical-fixture.ts';

const hourMs = 60 * 60 * 1000;

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

/** Replaces the character at an index with another one of the same alphabet. A negative index counts from the end. */
function bent(text: string, at: number): string {
  const place = at < 0 ? text.length + at : at;
  return `${text.slice(0, place)}${text[place] === '0' ? '1' : '0'}${text.slice(place + 1)}`;
}

describePersonalLoans('click', (door) => {
  const shown = async (tag: string): Promise<{ caller: ApiCaller; view: MarketplaceView; first: string }> => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const view = await caller.offers(await caller.createSessionWithFields(tag, fixture.complete), { max_offers: 20 });
    return { caller, view, first: view.offers[0]?.click_url as string };
  };
  const clicks = async (caller: ApiCaller, tag: string) => (await caller.summary({ referrer_tag: tag })).offer_clicks;

  test('redirects to the landing URL of the offer with a click_id, and prevents caching', async () => {
    const { caller, view } = await shown('redirects');
    const ids = new Set<string>();
    for (const { svc_offer_id: id, click_url: url } of view.offers) {
      const answer = await caller.click(url);
      assert.equal(answer.status, 302);
      assert.equal(answer.text, 'Found');
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.equal(answer.headers.get('referrer-policy'), 'no-referrer');
      const [head, tail] = findListedOffer(door.fixture, id).offer.landing_url.split('{click_id}') as [string, string];
      const location = answer.headers.get('location') ?? '';
      assert.ok(location.startsWith(head) && location.endsWith(tail), location);
      const clickId = location.slice(head.length, location.length - tail.length);
      assert.match(clickId, /^[\w-]{40,}$/);
      ids.add(clickId);
    }
    assert.equal(ids.size, view.offers.length);
  });

  test('records the click revenue for the credit band of the borrower', async () => {
    const { caller, view } = await shown('books');
    const ids: string[] = [];
    for (const { svc_offer_id: id, click_url: url } of view.offers.slice(0, 7)) {
      await caller.click(url);
      ids.push(id);
    }
    const summary = await caller.summary({ referrer_tag: 'books' });
    assert.equal(summary.offer_clicks, 7);
    assert.equal(summary.rev_attributed, totalClickUsd(door.fixture, ids));
    assert.ok(summary.rev_attributed > 0);
    assert.equal(summary.rev_confirmed, 0);
  });

  test('counts one click per session and offer', async () => {
    const { caller, view, first } = await shown('repeats');
    const again = await caller.offers(view.sub_id);
    for (const url of [first, first, again.offers[0]?.click_url as string]) {
      assert.equal((await caller.click(url)).status, 302);
    }
    await Promise.all(Array.from({ length: 5 }, () => caller.click(view.offers[1]?.click_url as string)));
    assert.equal(await clicks(caller, 'repeats'), 2);
    const other = await caller.offers(await caller.createSessionWithFields('repeats', door.fixture.complete));
    await caller.click(other.offers[0]?.click_url as string);
    assert.equal(await clicks(caller, 'repeats'), 3);
  });

  test('redirects a click on an offer that was not shown, and records no revenue', async () => {
    const { caller, view, first } = await shown('never-shown');
    const hidden = await caller.createSessionWithFields('never-shown-2', door.fixture.complete);
    const { offers } = await caller.offers(hidden, { max_offers: 1 });
    const unseen = view.offers[5]?.svc_offer_id as string;
    const answer = await caller.click(altered(offers[0]?.click_url as string, 'offer', unseen));
    assert.equal(answer.status, 302);
    const [head] = findListedOffer(door.fixture, unseen).offer.landing_url.split('{click_id}') as [string];
    assert.ok(answer.headers.get('location')?.startsWith(head));
    const summary = await caller.summary({ referrer_tag: 'never-shown-2' });
    assert.deepEqual([summary.offer_clicks, summary.rev_attributed], [0, 0]);
    assert.equal((await caller.click(first)).status, 302);
  });

  test('returns a 404 page if a parameter of the click link is changed, missing or repeated', async () => {
    const { caller, view, first } = await shown('altered');
    const { sub_id: sub } = view;
    const v = new URL(first).searchParams.get('v') as string;
    const other = await caller.createSessionWithFields('altered', door.fixture.complete);
    const bads = [
      altered(first, 'sub', undefined),
      altered(first, 'sub', ''),
      altered(first, 'sub', echoMarker),
      altered(first, 'sub', other),
      ...[4, 20, 40, -17, -1].map((at) => altered(first, 'sub', bent(sub, at))),
      altered(first, 'sub', sub.toUpperCase()),
      altered(first, 'offer', undefined),
      altered(first, 'offer', echoMarker),
      altered(first, 'offer', '__proto__'),
      altered(first, 'offer', `<script>${echoMarker}</script>`),
      altered(first, 'v', undefined),
      altered(first, 'v', ''),
      altered(first, 'v', `${v}A`),
      altered(first, 'v', v.slice(0, -1)),
      ...[0, 2, 15, 30, -1].map((at) => altered(first, 'v', bent(v, at))),
      `${first}&sub=${sub}`,
      `${first}&offer=${echoMarker}`,
      `${first}&v=${v}`,
      `${first.slice(0, first.indexOf('?'))}?%=%&sub=%ff`,
      first.slice(0, first.indexOf('?')),
    ];
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

  test('redirects HEAD requests and bots without counting a click, and counts clicks of other user agents', async () => {
    const { caller, view, first } = await shown('by-user-agent');
    const head = await caller.click(first, {}, 'HEAD');
    assert.ok(head.status === 302 && head.headers.has('location'));
    const bot = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';
    assert.equal((await caller.click(first, { 'User-Agent': bot })).status, 302);
    assert.equal(await clicks(caller, 'by-user-agent'), 0);
    const agents: Record<string, string>[] = [{ 'User-Agent': 'curl/8.5.0' }, { 'User-Agent': '' }, {}];
    for (const [at, headers] of agents.entries()) await caller.click(view.offers[at]?.click_url as string, headers);
    assert.equal(await clicks(caller, 'by-user-agent'), agents.length);
  });

  test('returns 503 for a prefetch of a click link, and counts no click', async () => {
    const { caller, first } = await shown('ahead');
    const heads: Record<string, string>[] = [
      { 'Sec-Purpose': 'prefetch' },
      { 'Sec-Purpose': 'prefetch;prerender' },
      { Purpose: 'prefetch' },
      { 'X-Moz': 'prefetch' },
      { 'Sec-Purpose': 'foo', Purpose: 'prefetch' },
      { 'Sec-Purpose': 'foo', Purpose: 'bar', 'X-Moz': 'prefetch' },
    ];
    for (const headers of heads) {
      const answer = await caller.click(first, headers);
      assert.equal(answer.status, 503);
      assert.equal(answer.headers.get('cache-control'), 'no-store');
      assert.ok(Number(answer.headers.get('retry-after')) >= 1);
      assert.equal(answer.headers.has('location'), false);
    }
    assert.equal(await clicks(caller, 'ahead'), 0);
    await caller.click(first);
    assert.equal(await clicks(caller, 'ahead'), 1);
  });

  test('counts a click up to 24 hours after the creation of the session, and redirects later clicks without counting', async () => {
    const { caller, view } = await shown('late');
    const [first, second] = view.offers.map(({ click_url: url }) => url) as [string, string];
    door.market.clock.advance(24 * hourMs);
    assert.equal((await caller.click(first)).status, 302);
    door.market.clock.advance(1);
    const answer = await caller.click(second);
    assert.ok(answer.status === 302 && answer.headers.has('location'));
    assert.equal(await clicks(caller, 'late'), 1);
  });

  test('a click link redirects without an API key and without a rate limit', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 3 } });
    const { offers } = await caller.offers(await caller.createSessionWithFields('free', fixture.complete));
    for (const { click_url: url } of [...offers, ...offers]) {
      const answer = await caller.click(url);
      assert.equal(answer.status, 302);
      assert.equal(answer.headers.has('x-ratelimit-limit'), false);
    }
  });
});
