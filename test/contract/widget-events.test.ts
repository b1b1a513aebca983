import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { widgetEventTypes } from '../../src/ledger/ledger-record.ts';
import { type ApiCaller, assertRefused, loadId, WidgetCaller, type WidgetEventBody } from '../support/api-caller.ts';
import { describeService } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';
import { personalLoansFixture as fixture } from '../support/vertical-fixtures.ts';

const load = loadId(1);
const loaded = (id: string): WidgetEventBody => ({ event_id: id, type: 'widget_loaded' });

describeService('POST /w/events', ({ running }) => {
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
  const widgetOf = (caller: ApiCaller): Promise<WidgetCaller> => caller.widgetWith('events', fixture.complete);
  const report = async (widget: WidgetCaller, events: readonly WidgetEventBody[]): Promise<void> => {
    const answer = await widget.report({ load, events });
    assert.deepEqual([answer.status, answer.text], [204, '']);
  };

  test('accepts every type of event, as text/plain and as JSON', async () => {
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
    assert.equal(await takenBy(() => widget.report(rest, asJson)), events.length - 3);
  });

  test('counts a repeated event once, within a batch and across sequential or concurrent batches', async () => {
    const widget = await widgetOf(running().caller(fixture));
    assert.equal(await takenBy(() => report(widget, [loaded('a'), loaded('b'), loaded('a')])), 2);
    assert.equal(await takenBy(() => report(widget, [loaded('a'), loaded('b')])), 0);
    const both = () =>
      Promise.all([report(widget, [loaded('c'), loaded('d')]), report(widget, [loaded('d'), loaded('c')])]);
    assert.equal(await takenBy(both), 2);
  });

  test('counts equal event ids of different sessions separately', async () => {
    const caller = running().caller(fixture);
    const widgets = [await widgetOf(caller), await widgetOf(caller)];
    assert.equal(await takenBy(() => Promise.all(widgets.map((widget) => report(widget, [loaded('same')])))), 2);
  });

  test('counts no click and no view for a widget event', async () => {
    const caller = running().caller(fixture);
    const widget = await caller.widgetWith('no-booking', fixture.complete);
    const { offers } = await caller.offers(widget.subId);
    const { svc_offer_id: id } = offers[0]!;
    await report(widget, [
      { event_id: 'x', type: 'offers_rendered' },
      { event_id: 'y', type: 'offer_click', svc_offer_id: id },
    ]);
    const { marketplace_views: views, offer_clicks: clicks } = await caller.summary({ referrer_tag: 'no-booking' });
    assert.deepEqual([views, clicks], [1, 0]);
  });

  test('rejects the whole batch if one event is invalid', async () => {
    const widget = await widgetOf(running().caller(fixture));
    const about = (type: string, more: object = {}) => ({ event_id: 'e', type, ...more });
    const wrong: readonly (readonly [body: unknown, param: string])[] = [
      ['', 'body'],
      ['{', 'body'],
      ['[]', 'body'],
      ['7', 'body'],
      ['null', 'body'],
      [{ events: [loaded('e')] }, 'load'],
      [{ load: 7, events: [loaded('e')] }, 'load'],
      [{ load: marker, events: [loaded('e')] }, 'load'],
      [{ load }, 'events'],
      [{ load, events: [] }, 'events'],
      [{ load, events: {} }, 'events'],
      [{ load, events: [null] }, 'events'],
      [{ load, events: ['e'] }, 'events'],
      [{ load, events: [about(marker)] }, 'events'],
      [{ load, events: [about('toString')] }, 'events'],
      [{ load, events: [about('widget_loaded', { svc_offer_id: 'an-offer' })] }, 'events'],
      [{ load, events: [about('offer_click')] }, 'events'],
      [{ load, events: [about('offer_click', { svc_offer_id: '' })] }, 'events'],
      [{ load, events: [about('offer_click', { svc_offer_id: 'Not An Id' })] }, 'events'],
      [
        { load, events: [about('offer_click', { svc_offer_id: 'x'.repeat(bounds.offerIdCharactersMax + 1) })] },
        'events',
      ],
      [{ load, events: [loaded('')] }, 'events'],
      [{ load, events: [loaded('a b')] }, 'events'],
      [{ load, events: [loaded('e'.repeat(bounds.widgetEventIdCharactersMax + 1))] }, 'events'],
      [{ load, events: [{ ...loaded('e'), event_id: 7 }] }, 'events'],
      [{ load, events: [loaded('good'), about(marker)] }, 'events'],
      [
        { load, events: Array.from({ length: bounds.widgetEventsPerBatchMax + 1 }, (_, n) => loaded(`n${n}`)) },
        'events',
      ],
    ];
    const refuseAll = async () => {
      for (const [body, param] of wrong) assertRefused(await widget.report(body), 'INVALID_REQUEST', param);
    };
    assert.equal(await takenBy(refuseAll), 0);
    assert.equal(await takenBy(() => report(widget, [loaded('good')])), 1);
  });

  test('accepts a batch of the maximum size, and rejects a larger body', async () => {
    const market = running();
    const widget = await widgetOf(market.caller(fixture));
    const full = Array.from({ length: bounds.widgetEventsPerBatchMax }, (_, n) =>
      loaded(`${n}`.padStart(bounds.widgetEventIdCharactersMax, 'e')),
    );
    assert.equal(await takenBy(() => report(widget, full)), full.length);
    assertRefused(await widget.report(' '.repeat(bounds.requestBodyBytesMax + 1)), 'PAYLOAD_TOO_LARGE');
  });

  test('limits the number of recorded widget events per session', async () => {
    const market = running();
    const widget = await widgetOf(market.caller(fixture, { mode: 'test' }));
    const all = async () => {
      for (let from = 0; from <= bounds.widgetEventsPerSessionMax; from += bounds.widgetEventsPerBatchMax) {
        await report(
          widget,
          Array.from({ length: bounds.widgetEventsPerBatchMax }, (_, n) => loaded(`n${from + n}`)),
        );
      }
    };
    assert.equal(await takenBy(all), bounds.widgetEventsPerSessionMax);
  });

  test('accepts the token of a session until the session expires, within the rate limit of the session', async () => {
    const market = running();
    const caller = market.caller(fixture, { mode: 'test' });
    const widget = await widgetOf(caller);
    const other = await widgetOf(caller);
    const body = { load, events: [loaded('a')] };
    const forged = new WidgetCaller(widget.http, widget.subId, other.token);
    assertRefused(await forged.report(body), 'SUB_ID_NOT_FOUND');
    for (let asked = 0; asked < bounds.widgetRequestsPerMinute; asked++) {
      assert.equal((await widget.report(body)).status, 204);
    }
    assertRefused(await widget.report(body), 'RATE_LIMIT_EXCEEDED');
    // The service does not parse a request above the rate limit.
    assertRefused(await widget.report('{'), 'RATE_LIMIT_EXCEEDED');
    market.clock.advance(60_000);
    for (let asked = 0; asked < bounds.widgetRequestsPerMinute; asked++) {
      assertRefused(await widget.report('{'), 'INVALID_REQUEST', 'body');
    }
    assertRefused(await widget.report(body), 'RATE_LIMIT_EXCEEDED');
    market.clock.advance(bounds.sessionTtlMs);
    assertRefused(await widget.report(body), 'SUB_ID_EXPIRED');
  });

  test('responds to pages of allowed origins and to pages with Origin: null', async () => {
    const market = running();
    const account = 'events from pages';
    const widget = await widgetOf(market.caller(fixture, { account }));
    market.marketplace.origins.allow(account, 'https://shop.example');
    const body = { load, events: [loaded('a')] };
    const allowed = await widget.report(body, { Origin: 'https://shop.example' });
    assert.equal(allowed.status, 204);
    assert.equal(allowed.headers.get('access-control-allow-origin'), 'https://shop.example');
    assert.equal((await widget.report(body, { Origin: 'null' })).status, 204);
    assertRefused(await widget.report(body, { Origin: 'https://evil.example' }), 'ORIGIN_NOT_ALLOWED');
  });

  test('rejects methods other than POST', async () => {
    const widget = await widgetOf(running().caller(fixture));
    const got = await widget.http.send({ path: widget.path('/events') });
    assertRefused(got, 'METHOD_NOT_ALLOWED');
    assert.equal(got.headers.get('allow'), 'POST, OPTIONS');
  });
});
