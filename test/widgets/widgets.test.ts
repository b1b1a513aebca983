import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bounds } from '../../src/bounds.ts';
import { parseWidgetBeacon } from '../../src/widgets/widget-beacon.ts';
import { createEmbedPolicy } from '../../src/widgets/widget-embedding.ts';

const own = 'https://widget.example';
const home = 'https://shop.example';

describe('createEmbedPolicy', () => {
  it('only the listed origins may embed a widget, and CORS allows only these origins and the widget host', () => {
    for (const mode of ['live', 'test'] as const) {
      const policy = createEmbedPolicy(mode, [home, 'http://localhost:3000'], own);
      assert.equal(policy.frameAncestors, `${home} http://localhost:3000`);
      assert.deepEqual([home, own, '', 'https://evil.example', 'null'].map(policy.getCorsOrigin), [
        home,
        own,
        '',
        null,
        null,
      ]);
    }
  });

  it('if no origins are allowed, every page can embed a test widget, and no page can embed a live widget', () => {
    const sandbox = createEmbedPolicy('test', [], own);
    assert.equal(sandbox.frameAncestors, '*');
    assert.deepEqual([home, own, '', 'null'].map(sandbox.getCorsOrigin), ['*', '*', '', '*']);
    const live = createEmbedPolicy('live', [], own);
    assert.equal(live.frameAncestors, "'none'");
    assert.deepEqual([home, own, '', 'null'].map(live.getCorsOrigin), [null, own, '', null]);
  });
});

describe('parseWidgetBeacon', () => {
  const load = '0123456789abcdef';
  const event = (more: object = {}) => ({ event_id: 'e', type: 'widget_loaded', ...more });
  const events = (count: number) => Array.from({ length: count }, (_, number) => event({ event_id: `e${number}` }));

  it('accepts up to the maximum number of events, each with an offer id if the event type requires one', () => {
    for (const list of [
      events(bounds.widgetEventsPerBatchMax),
      [event({ event_id: 'e'.repeat(bounds.widgetEventIdCharactersMax), svc_offer_id: null })],
      [event({ type: 'offer_click', svc_offer_id: 'x'.repeat(bounds.offerIdCharactersMax) })],
    ]) {
      const parsed = parseWidgetBeacon({ load, events: list });
      assert.ok(parsed.ok && parsed.value.events.length === list.length);
    }
  });

  it('rejects the whole batch if one widget event is invalid; the error names the invalid parameter', () => {
    const offer = (svc_offer_id: unknown) => event({ type: 'offer_click', svc_offer_id });
    const ids = ['', 'a b', 'e'.repeat(bounds.widgetEventIdCharactersMax + 1), 7].map((event_id) =>
      event({ event_id }),
    );
    const offers = [undefined, '', 'Not An Id', 'x'.repeat(bounds.offerIdCharactersMax + 1)].map(offer);
    const types = ['unknown', 'toString'].map((type) => event({ type }));
    const invalidEvents = [null, 'e', ...ids, ...offers, ...types, event({ svc_offer_id: 'an-offer' })];
    const invalidLists = [undefined, [], {}, events(bounds.widgetEventsPerBatchMax + 1)];
    for (const [param, bodies] of [
      ['body', ['', [], 7, null]],
      [
        'load',
        [undefined, 7, 'x', load.slice(1), load.toUpperCase()].map((wrong) => ({ load: wrong, events: events(1) })),
      ],
      ['events', invalidLists.map((list) => ({ load, events: list }))],
      ['events', invalidEvents.map((wrong) => ({ load, events: [event(), wrong] }))],
    ] as const) {
      for (const body of bodies) {
        const parsed = parseWidgetBeacon(body);
        assert.ok(!parsed.ok && parsed.error.param === param, JSON.stringify(body));
      }
    }
  });
});
