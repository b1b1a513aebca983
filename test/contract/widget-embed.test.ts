import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import type { WidgetEmbedView } from '../../src/index.ts';
import { assertOk, assertRefused, assertShape, assertTimestamp } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';

describePersonalLoans('GET /marketplace for a widget', (door) => {
  const readySession = async () => {
    const caller = door.market.caller(door.fixture);
    return { caller, subId: await caller.sessionWith('embedding', door.fixture.complete) };
  };

  test('returns the iframe element for format=iframe', async () => {
    const { caller, subId } = await readySession();
    const answer = await caller.get('marketplace', { sub_id: subId, format: 'iframe' });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(answer.headers.get('cache-control'), 'no-store');
    assert.ok(answer.headers.has('x-ratelimit-limit'));
    const element = /^<iframe src="([^"]+)" title="[^"]+" width="100%" height="680" frameborder="0"><\/iframe>\n$/;
    const src = new URL(element.exec(answer.text)?.[1] ?? assert.fail(answer.text));
    assert.equal(src.origin + src.pathname, door.market.marketplace.urls.widget);
    assert.deepEqual([...src.searchParams.keys()], ['sub', 'token', 'sort', 'max_offers']);
    assert.equal(src.searchParams.get('sub'), subId);
    assert.equal(src.searchParams.get('sort'), 'recommended');
    assert.equal(src.searchParams.get('max_offers'), '5');
  });

  test('returns a container element and a script element for format=js', async () => {
    const { caller, subId } = await readySession();
    const query = { sub_id: subId, format: 'js', sort: 'lowest_apr', max_offers: 3 };
    const { text, headers } = await caller.get('marketplace', query);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    const [, id, attributes] =
      /^<div id="(svc-offers-[0-9a-f]{8})"><svg width="1" height="\d+" aria-hidden="true"><\/svg><\/div>\n<script async ([^>]*)><\/script>\n$/.exec(
        text,
      ) ?? assert.fail(text);
    const values = Object.fromEntries([...attributes!.matchAll(/([a-z-]+)="([^"]*)"/g)].map((each) => each.slice(1)));
    assert.match(values.src, new RegExp(`^${door.market.marketplace.urls.widget}/widget\\.js\\?v=[0-9a-f]{16}$`));
    assert.equal(values['data-sub'], subId);
    assert.match(values['data-token'], /^[\w-]{28}$/);
    assert.equal(values['data-mount'], `#${id}`);
    assert.equal(values['data-sort'], 'lowest_apr');
    assert.equal(values['data-max-offers'], '3');
  });

  test('reserves the height of up to five offers, without a style attribute', async () => {
    const { caller, subId } = await readySession();
    const heights: number[] = [];
    for (const most of [1, 3, 5, 20]) {
      const { html } = await caller.embed(subId, 'js', { max_offers: most });
      assert.ok(!html.includes('style'));
      heights.push(Number(/^<div [^>]+><svg [^>]*height="(\d+)"/.exec(html)?.[1]));
    }
    const [one, three, five, twenty] = heights as [number, number, number, number];
    assert.ok(one >= 300 && one < three && three < five && five < 1_300, heights.join());
    assert.equal(twenty, five);
  });

  test('generates a different container id for each response', async () => {
    const { caller, subId } = await readySession();
    const one = await caller.embed(subId, 'js');
    const other = await caller.embed(subId, 'js');
    assert.notEqual(one.html, other.html);
    assert.equal(one.token, other.token);
  });

  test('returns JSON if the client prefers JSON', async () => {
    const { caller, subId } = await readySession();
    for (const format of ['iframe', 'js'] as const) {
      const query = { sub_id: subId, format };
      for (const accept of ['application/json', 'text/html;q=0.5, application/json']) {
        const answer = await caller.get('marketplace', query, { Accept: accept });
        const view = assertOk<WidgetEmbedView>(answer);
        const texts = { sub_id: 'string', format: 'string', html: 'string', src: 'string' };
        assertShape(view, { ...texts, token: 'string', expires_at: 'string' });
        assert.deepEqual([view.sub_id, view.format], [subId, format]);
        assert.ok(view.html.includes(view.src) && view.html.includes(view.token));
        assert.equal(assertTimestamp(view.expires_at), door.market.clock.wallMs() + bounds.sessionTtlMs);
      }
      for (const accept of ['*/*', 'text/html', 'text/html, application/json', 'application/json;q=0']) {
        const answer = await caller.get('marketplace', query, { Accept: accept });
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8', accept);
      }
    }
  });

  test('never includes the API key in an embed code', async () => {
    const { caller, subId } = await readySession();
    for (const format of ['iframe', 'js'] as const) {
      const { text } = await caller.get('marketplace', { sub_id: subId, format }, { Accept: 'application/json' });
      assert.ok(!text.includes(caller.key) && !text.includes(caller.key.slice(-12)));
    }
  });

  test('makes the same checks for an embed code as for format=json', async () => {
    const { caller, subId } = await readySession();
    const { sub_id: empty } = await caller.createSession('nothing-told');
    const stranger = door.market.caller(door.fixture);
    for (const format of ['iframe', 'js']) {
      assertRefused(await caller.get('marketplace', { sub_id: empty, format }), 'INSUFFICIENT_INPUTS');
      assertRefused(await stranger.get('marketplace', { sub_id: subId, format }), 'SUB_ID_NOT_FOUND');
      assertRefused(await caller.get('marketplace', { sub_id: marker, format }), 'SUB_ID_NOT_FOUND');
      assertRefused(await caller.get('marketplace', { format }), 'INVALID_REQUEST', 'sub_id');
      const good = { sub_id: subId, format };
      assertRefused(await caller.get('marketplace', { ...good, sort: marker }), 'INVALID_REQUEST', 'sort');
      assertRefused(await caller.get('marketplace', { ...good, max_offers: 21 }), 'INVALID_REQUEST', 'max_offers');
      assertRefused(await caller.get('marketplace', { ...good, explain: 'true' }), 'INVALID_REQUEST', 'explain');
    }
    door.market.clock.advance(bounds.sessionTtlMs);
    for (const format of ['iframe', 'js']) {
      assertRefused(await caller.get('marketplace', { sub_id: subId, format }), 'SUB_ID_EXPIRED');
    }
  });

  test('counts no view for an embed code', async () => {
    const { caller, subId } = await readySession();
    const tag = { sub_id_list: subId };
    await caller.embed(subId, 'iframe');
    await caller.embed(subId, 'js');
    assert.equal((await caller.summary(tag)).marketplace_views, 0);
  });

  test('returns the embed code through the embedded API', async () => {
    const { key } = door.market.issueKey(door.fixture);
    const { segment } = door.fixture.vertical;
    const partner = door.market.marketplace.partner(key, segment);
    const subId = await door.market.callerWith(door.fixture, key).sessionWith('embedded', door.fixture.complete);
    const got = await partner.getWidget({ sub_id: subId, format: 'iframe', max_offers: 2, sort: 'highest_amount' });
    assert.ok(got.ok);
    assert.match(got.value.src, /&sort=highest_amount&max_offers=2$/);
    const wrong = await partner.getWidget({ sub_id: subId, format: 'json' as 'js' });
    assert.ok(!wrong.ok && wrong.error.error === 'INVALID_REQUEST' && wrong.error.param === 'format');
    const none = await partner.getWidget(null as never);
    assert.ok(!none.ok && none.error.param === 'sub_id');
  });
});
