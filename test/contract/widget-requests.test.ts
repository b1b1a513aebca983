import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import {
  type ApiCaller,
  assertError,
  assertOk,
  assertTimestamp,
  WidgetCaller,
  type WidgetEventBody,
  type WidgetOffersResponse,
  widgetLoadId,
} from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const load = widgetLoadId(1);
const loaded = (id: string): WidgetEventBody => ({ event_id: id, type: 'widget_loaded' });

describeService('requests of the widget', ({ running }) => {
  describe('GET /w/offers', () => {
    test('GET /w/offers returns the response of GET /marketplace plus loan_amount and expires_at', async () => {
      const caller = running().caller(fixture);
      const widget = await caller.createWidget('envelope', fixture.complete);
      for (const query of [{}, { sort: 'lowest_apr', max_offers: 20 }, { sort: 'svc_revenue', max_offers: 1 }]) {
        const { loan_amount: amount, expires_at: expires, ...envelope } = await widget.offers(widgetLoadId(1), query);
        assert.deepEqual(envelope, await caller.offers(widget.subId, query));
        assert.equal(amount, fixture.complete[fixture.amount]);
        assert.equal(assertTimestamp(expires), running().clock.wallMs() + bounds.sessionTtlMs);
      }
    });

    test('counts one view per widget load', async () => {
      const caller = running().caller(fixture);
      const widget = await caller.createWidget('one-view', fixture.complete);
      const views = async () => (await caller.summary({ sub_id_list: widget.subId })).marketplace_views;
      await widget.offers(widgetLoadId(1));
      assert.equal(await views(), 1);
      await widget.offers(widgetLoadId(1), { sort: 'lowest_apr' });
      await Promise.all([widget.offers(widgetLoadId(1)), widget.offers(widgetLoadId(1), { max_offers: 20 })]);
      assert.equal(await views(), 1);
      await Promise.all([widget.offers(widgetLoadId(2)), widget.offers(widgetLoadId(2))]);
      assert.equal(await views(), 2);
      await widget.get('/offers', { load: widgetLoadId(3) }, {}, 'HEAD');
      assert.equal(await views(), 2);
    });

    test('returns 503 for a speculative request for widget offers, and counts no view', async () => {
      const caller = running().caller(fixture);
      const widget = await caller.createWidget('ahead', fixture.complete);
      const prefetches: Record<string, string>[] = ['Sec-Purpose', 'Purpose', 'X-Purpose', 'X-Moz'].map((name) => ({
        [name]: 'preview',
      }));
      for (const headers of prefetches) {
        const answer = await widget.get('/offers', { load: widgetLoadId(1) }, headers);
        assert.deepEqual([answer.status, answer.text], [503, '']);
        assert.equal(answer.headers.get('cache-control'), 'no-store');
        assert.ok(answer.headers.has('retry-after'));
      }
      assert.equal((await caller.summary({ sub_id_list: widget.subId })).marketplace_views, 0);
      await widget.offers(widgetLoadId(1));
      assert.equal((await caller.summary({ sub_id_list: widget.subId })).marketplace_views, 1);
    });

    test('clicks on widget offers are counted, also after a change of the sort order', async () => {
      const caller = running().caller(fixture);
      const widget = await caller.createWidget('clicks', fixture.complete);
      const { offers: first } = await widget.offers(widgetLoadId(1), { max_offers: 2 });
      const { offers: all } = await widget.offers(widgetLoadId(1), { sort: 'highest_amount', max_offers: 20 });
      const unseen = all.find(({ svc_offer_id: id }) => first.every((offer) => offer.svc_offer_id !== id))!;
      for (const { click_url: url } of [first[0]!, unseen]) assert.equal((await caller.click(url)).status, 302);
      const summary = await caller.summary({ sub_id_list: widget.subId });
      assert.deepEqual([summary.marketplace_views, summary.offer_clicks], [1, 2]);
    });

    test('GET /w/offers rejects missing, invalid and repeated parameters', async () => {
      const widget = await running().caller(fixture).createWidget('parameters', fixture.complete);
      for (const [query, param] of [
        [{}, 'load'],
        [{ load: '' }, 'load'],
        [{ load: widgetLoadId(1).slice(1) }, 'load'],
        [{ load: `${widgetLoadId(1).slice(1)}A` }, 'load'],
        [{ load: widgetLoadId(1), sort: echoMarker }, 'sort'],
        [{ load: widgetLoadId(1), max_offers: 0 }, 'max_offers'],
      ] as const) {
        assertError(await widget.get('/offers', query), 'INVALID_REQUEST', param);
      }
      const twice = await widget.http.send({
        path: `${widget.path('/offers')}&load=${widgetLoadId(1)}&load=${widgetLoadId(1)}`,
      });
      assertError(twice, 'INVALID_REQUEST', 'load');
    });

    test('accepts the widget token of a session until the session expires', async () => {
      const caller = running().caller(fixture);
      const widget = await caller.createWidget('opens', fixture.complete);
      const other = await caller.createWidget('opens', fixture.complete);
      const load = widgetLoadId(1);
      for (const [sub, token] of [
        [widget.subId, other.token],
        [other.subId, widget.token],
        [widget.subId, ''],
        ['', widget.token],
        [echoMarker, echoMarker],
      ] as const) {
        const wrong = new WidgetCaller(widget.http, sub, token);
        assertError(await wrong.get('/offers', { load }), 'SUB_ID_NOT_FOUND');
      }
      running().clock.advance(bounds.sessionTtlMs - 1);
      await widget.offers(load);
      running().clock.advance(1);
      assertError(await widget.get('/offers', { load }), 'SUB_ID_EXPIRED');
    });
  });

  describe('GET /w/offers from web pages', () => {
    const load = widgetLoadId(7);
    const home = 'https://shop.example';
    const allowedFor = (account: string, ...origins: readonly string[]) => {
      const caller = running().caller(fixture, { account });
      for (const origin of origins) running().marketplace.origins.allow(account, origin);
      return caller.createWidget('pages', fixture.complete);
    };

    test('returns widget offers only to pages of allowed origins, and counts no view for other pages', async () => {
      const widget = await allowedFor('listed', home, 'http://127.0.0.1:3000');
      for (const origin of [home, 'http://127.0.0.1:3000', new URL(running().marketplace.urls.widget).origin]) {
        const answer = await widget.get('/offers', { load }, { Origin: origin });
        assertOk<WidgetOffersResponse>(answer);
        assert.equal(answer.headers.get('access-control-allow-origin'), origin);
        assert.equal(answer.headers.get('vary'), 'Origin');
      }
      const others = ['https://evil.example', 'http://shop.example', `${home}:8443`, `${home}.evil.example`, 'null'];
      for (const origin of others) {
        const answer = await widget.get('/offers', { load: widgetLoadId(8) }, { Origin: origin });
        assertError(answer, 'ORIGIN_NOT_ALLOWED');
        // The script needs the response to show the cause of the error.
        assert.equal(answer.headers.get('access-control-allow-origin'), '*');
      }
      assertOk(await widget.get('/offers', { load }));
      const { marketplace_views: views } = await running()
        .caller(fixture, { account: 'listed' })
        .summary({ sub_id_list: widget.subId });
      assert.equal(views, 1);
    });

    test('web pages can read error responses and the Retry-After header', async () => {
      const widget = await allowedFor('errors', home);
      const refused = await widget.get('/offers', { load: echoMarker }, { Origin: home });
      assertError(refused, 'INVALID_REQUEST', 'load');
      assert.equal(refused.headers.get('access-control-allow-origin'), home);
      assert.match(refused.headers.get('access-control-expose-headers')!, /Retry-After/);
    });

    test('responds to preflight requests from pages of allowed origins', async () => {
      const widget = await allowedFor('preflights', home);
      const ask = (address: '/offers' | '/events', origin: string, method: string) =>
        widget.http.send({
          method: 'OPTIONS',
          path: widget.path(address),
          headers: { Origin: origin, 'Access-Control-Request-Method': method },
        });
      for (const [address, method] of [
        ['/offers', 'GET'],
        ['/events', 'POST'],
      ] as const) {
        const answer = await ask(address, home, method);
        assert.equal(answer.status, 204);
        assert.equal(answer.headers.get('access-control-allow-origin'), home);
        assert.equal(answer.headers.get('access-control-allow-methods'), method);
        assert.equal(answer.headers.get('access-control-allow-headers'), 'Content-Type');
        assert.equal((await ask(address, 'https://evil.example', method)).status, 403);
      }
    });

    test('limits the requests of a widget session per minute', async () => {
      const market = running();
      const caller = market.caller(fixture, { mode: 'test' });
      const widget = await caller.createWidget('greedy', fixture.complete);
      for (let asked = 0; asked < bounds.widgetRequestsPerMinute; asked++) await widget.offers(load, { max_offers: 1 });
      const refused = await widget.get('/offers', { load });
      assertError(refused, 'RATE_LIMIT_EXCEEDED');
      assert.equal(refused.headers.get('retry-after'), '1');
      const resets = Math.ceil(market.clock.wallMs() / 1000) + 1;
      assert.equal(refused.headers.get('x-ratelimit-reset'), String(resets));
      // Other sessions and the API key have separate limits.
      await (await caller.createWidget('greedy', fixture.complete)).offers(load);
      await caller.offers(widget.subId);
      market.clock.advance(1_000);
      await widget.offers(load);
    });
  });

  describe('POST /w/events', () => {
    /** Returns the total number of recorded widget events from the metrics. */
    const taken = async (): Promise<number> => {
      const { text } = await running().operations.send({ path: '/metrics' });
      const figures = [...text.matchAll(/^marketplace_widget_events_total\{type="\w+"\} (\d+)$/gm)];
      return figures.reduce((sum, [, figure]) => sum + Number(figure), 0);
    };
    /** Returns the number of events that were recorded during `act`. Other tests check the counts of the aggregator. */
    const takenBy = async (act: () => Promise<unknown>): Promise<number> => {
      const before = await taken();
      await act();
      return (await taken()) - before;
    };
    const widgetOf = (caller: ApiCaller): Promise<WidgetCaller> => caller.createWidget('events', fixture.complete);
    const report = async (widget: WidgetCaller, events: readonly WidgetEventBody[]): Promise<void> => {
      const answer = await widget.sendEvents({ load, events });
      assert.deepEqual([answer.status, answer.text], [204, '']);
    };

    test('accepts every type of widget event, as text/plain and as JSON', async () => {
      const caller = running().caller(fixture);
      const widget = await widgetOf(caller);
      const { offers } = await widget.offers(load);
      const events = widgetEventTypes.map((type, number) => ({
        event_id: `event-${number}`,
        type,
        ...(type.startsWith('offer_') && { svc_offer_id: offers[0]!.svc_offer_id }),
      }));
      assert.equal(await takenBy(() => report(widget, events.slice(0, 3))), 3);
      const asJson = { 'Content-Type': 'application/json' };
      const rest = { load, events: events.slice(3) };
      assert.equal(await takenBy(() => widget.sendEvents(rest, asJson)), events.length - 3);
    });

    test('rejects a batch of widget events if one event is invalid or the body is above the maximum size', async () => {
      const widget = await widgetOf(running().caller(fixture));
      const wrong: readonly (readonly [body: unknown, param: string])[] = [
        ['{', 'body'],
        [{ load: echoMarker, events: [loaded('e')] }, 'load'],
        [{ load, events: [loaded('good'), { event_id: 'e', type: echoMarker }] }, 'events'],
      ];
      const refuseAll = async () => {
        for (const [body, param] of wrong) assertError(await widget.sendEvents(body), 'INVALID_REQUEST', param);
      };
      assert.equal(await takenBy(refuseAll), 0);
      assert.equal(await takenBy(() => report(widget, [loaded('good'), loaded('good')])), 1);
      assertError(await widget.sendEvents(' '.repeat(bounds.requestBodyBytesMax + 1)), 'PAYLOAD_TOO_LARGE');
    });

    test('accepts events from pages of allowed origins and from pages with Origin: null', async () => {
      const market = running();
      const account = 'events from pages';
      const widget = await widgetOf(market.caller(fixture, { account }));
      market.marketplace.origins.allow(account, 'https://shop.example');
      const body = { load, events: [loaded('a')] };
      const allowed = await widget.sendEvents(body, { Origin: 'https://shop.example' });
      assert.equal(allowed.status, 204);
      assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://shop.example');
      assert.equal((await widget.sendEvents(body, { Origin: 'null' })).status, 204);
      assertError(await widget.sendEvents(body, { Origin: 'https://evil.example' }), 'ORIGIN_NOT_ALLOWED');
    });
  });
});
