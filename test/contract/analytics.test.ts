import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SummaryView } from '../../src/index.ts';
import { assertOk, assertRefused, assertShape, assertTimestamp } from '../support/answers.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { atEveryDoor } from '../support/doors.ts';
import { marker } from '../support/http-client.ts';
import { worthMicros, worthUsd } from '../support/vertical-fixture.ts';

const dayMs = 24 * 60 * 60 * 1000;
const date = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const agents = {
  desktop:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  mobile:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  tablet:
    'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
  bot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  unknown: undefined,
};

atEveryDoor('GET /analytics', (door) => {
  /** By the complete borrower. */
  const visit = (caller: ApiCaller, tag: string, clicks: number, more = {}) =>
    caller.visit(tag, door.fixture.complete, clicks, more);

  test('answers the summary record with all its members', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    await visit(caller, 'record', 1);
    const answer = await caller.get('analytics', { referrer_tag: 'record' });
    const summary = assertOk<SummaryView>(answer);
    assertShape(
      { ...summary, rev_attributed: 0.5 },
      {
        referrer_tag: 'string',
        sessions_total: 'integer',
        marketplace_views: 'integer',
        offer_clicks: 'integer',
        click_rate: 'integer',
        rev_attributed: 'number',
        rev_confirmed: 'integer',
        rev_per_session: 'integer',
        top_lenders: 'array',
        granularity: 'string',
        date_from: 'string',
        date_to: 'string',
        ids_outside_dates: 'integer',
        matured_from: 'string',
        matured_to: 'string',
        sessions_matured: 'integer',
        rev_per_session_matured: 'null',
        rev_per_session_ci95: 'null',
        by_device: 'object',
        widget_events: 'object',
        sessions_kept_from: 'null',
        as_of: 'string',
      },
    );
    assert.equal(summary.referrer_tag, 'record');
    assert.equal(summary.granularity, 'summary');
    assert.ok(assertTimestamp(summary.as_of) <= market.clock.wallMs());
    assertShape(summary.top_lenders[0] as object, { lender: 'string', clicks: 'integer', rev_confirmed: 'integer' });
  });

  test('answers zeros for a tag nobody has used', async () => {
    const { market, fixture } = door;
    const summary = await market.caller(fixture).summary({ referrer_tag: 'nobody' });
    assert.deepEqual(
      [summary.sessions_total, summary.marketplace_views, summary.offer_clicks, summary.click_rate],
      [0, 0, 0, 0],
    );
    assert.deepEqual([summary.rev_attributed, summary.rev_confirmed, summary.rev_per_session], [0, 0, 0]);
    assert.deepEqual([summary.top_lenders, summary.by_device], [[], {}]);
    assert.deepEqual(summary.widget_events, {
      widget_loaded: 0,
      offers_rendered: 0,
      offer_impression: 0,
      offer_details_opened: 0,
      disclosure_opened: 0,
      offer_click: 0,
      widget_error: 0,
    });
  });

  test('includes every event whose answer came before the question', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const counts = async () => {
      const { sessions_total, marketplace_views, offer_clicks } = await caller.summary({ referrer_tag: 'at-once' });
      return [sessions_total, marketplace_views, offer_clicks];
    };
    for (let round = 0; round < 5; round++) {
      const subId = await caller.sessionWith('at-once', fixture.complete);
      assert.deepEqual(await counts(), [round + 1, round, round]);
      const { offers } = await caller.offers(subId);
      assert.deepEqual(await counts(), [round + 1, round + 1, round]);
      await caller.click(offers[0]?.click_url as string);
      assert.deepEqual(await counts(), [round + 1, round + 1, round + 1]);
    }
  });

  test('adds up clicks and money exactly, and rates to six decimals', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const clicked: string[] = [];
    for (const count of [2, 0, 3]) {
      const visited = await visit(caller, 'arithmetic', count);
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    for (let more = 0; more < 4; more++) await caller.offers((await visit(caller, 'arithmetic', 0)).subId);
    const summary = await caller.summary({ referrer_tag: 'arithmetic' });
    assert.deepEqual([summary.sessions_total, summary.marketplace_views, summary.offer_clicks], [7, 11, 5]);
    assert.equal(summary.click_rate, 0.454545);
    assert.equal(summary.rev_attributed, worthUsd(fixture, clicked));
    assert.equal(summary.rev_per_session, 0);
  });

  test('lists lenders by clicks, then name', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const expected = new Map<string, number>();
    for (const count of [5, 3, 1]) {
      const { clicked } = await visit(caller, 'lenders', count);
      for (const { lender_name: name } of clicked) expected.set(name, (expected.get(name) ?? 0) + 1);
    }
    const sorted = [...expected].sort(
      ([one, few], [other, many]) => many - few || Buffer.compare(Buffer.from(one), Buffer.from(other)),
    );
    const { top_lenders: lenders } = await caller.summary({ referrer_tag: 'lenders' });
    assert.deepEqual(
      lenders,
      sorted.map(([lender, clicks]) => ({ lender, clicks, rev_confirmed: 0 })),
    );
  });

  test('tells devices apart by the user agent of the session, never by the caller', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const clicked: string[] = [];
    for (const agent of Object.values(agents)) {
      const visited = await visit(caller, 'devices', 1, agent === undefined ? {} : { user_agent: agent });
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    await caller.post('session', { referrer_tag: 'devices' }, { 'User-Agent': agents.mobile });
    const { by_device: devices, rev_attributed: revenue } = await caller.summary({ referrer_tag: 'devices' });
    assert.deepEqual(Object.keys(devices).sort(), Object.keys(agents).sort());
    for (const [name, figures] of Object.entries(devices)) {
      assert.deepEqual(Object.keys(figures).sort(), [
        'click_rate',
        'marketplace_views',
        'offer_clicks',
        'rev_attributed',
        'rev_confirmed',
        'rev_per_session',
        'sessions_total',
      ]);
      const sessions = name === 'unknown' ? 2 : 1;
      assert.deepEqual([figures.sessions_total, figures.offer_clicks, figures.click_rate], [sessions, 1, 1], name);
    }
    const sum = Object.values(devices).reduce((micros, device) => micros + Math.round(device.rev_attributed * 1e6), 0);
    assert.deepEqual([sum, Math.round(revenue * 1e6)], [worthMicros(fixture, clicked), worthMicros(fixture, clicked)]);
  });

  test('intersects both filters, and echoes null for a tag not asked for', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const one = await visit(caller, 'filter-one', 1);
    const other = await visit(caller, 'filter-two', 2);
    const list = `${one.subId},${other.subId}`;
    const both = await caller.summary({ referrer_tag: 'filter-one', sub_id_list: list });
    assert.deepEqual([both.referrer_tag, both.sessions_total, both.offer_clicks], ['filter-one', 1, 1]);
    const ids = await caller.summary({ sub_id_list: list });
    assert.deepEqual([ids.referrer_tag, ids.sessions_total, ids.offer_clicks], [null, 2, 3]);
    const none = await caller.summary({ referrer_tag: 'filter-one', sub_id_list: other.subId });
    assert.deepEqual([none.sessions_total, none.offer_clicks, none.rev_attributed], [0, 0, 0]);
  });

  test('counts by the day of creation, and takes both dates inclusively', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const { clock } = market;
    const first = clock.wallMs();
    const subs: string[] = [];
    for (const clicks of [1, 2, 3]) {
      const subId = await caller.sessionWith('days', fixture.complete);
      subs.push(subId);
      const { offers } = await caller.offers(subId);
      clock.advance(13 * 60 * 60 * 1000); // Past midnight, so that the clicks fall on another day than their cohort.
      for (const { click_url: url } of offers.slice(0, clicks)) await caller.click(url);
      clock.advance(dayMs);
    }
    const created = [0, 1, 2].map((at) => date(first + at * (dayMs + 13 * 60 * 60 * 1000)));
    const clicks = async (from: string, to: string) =>
      (await caller.summary({ referrer_tag: 'days', date_from: from, date_to: to })).offer_clicks;
    const [a, b, c] = created as [string, string, string];
    assert.equal(await clicks(a, a), 1);
    assert.equal(await clicks(b, b), 2);
    assert.equal(await clicks(b, c), 5);
    assert.equal(await clicks(a, c), 6);
    const listed = await caller.summary({ sub_id_list: subs.join(','), date_from: b, date_to: b });
    assert.deepEqual([listed.sessions_total, listed.ids_outside_dates], [1, 2]);
  });

  test('takes 30 days before the end, and today as the end, where a date is left out', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const today = market.clock.wallMs();
    const dates = async (query: Record<string, string>) => {
      const { date_from: from, date_to: to } = await caller.summary({ referrer_tag: 'dates', ...query });
      return [from, to];
    };
    assert.deepEqual(await dates({}), [date(today - 30 * dayMs), date(today)]);
    assert.deepEqual(await dates({ date_to: '2024-03-01' }), ['2024-01-31', '2024-03-01']);
    assert.deepEqual(await dates({ date_from: '2024-03-01' }), ['2024-03-01', date(today)]);
    assert.deepEqual(await dates({ date_from: '2024-02-29', date_to: '2024-02-29' }), ['2024-02-29', '2024-02-29']);
  });

  test('refuses dates that are none, and those in the wrong order', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const bads = [
      '',
      '2026-02-29',
      '2026-13-01',
      '2026-1-1',
      '20260101',
      '2026-01-01T00:00:00Z',
      marker,
      ' 2026-01-01',
    ];
    for (const bad of bads) {
      for (const name of ['date_from', 'date_to']) {
        const answer = await caller.get('analytics', { referrer_tag: 'dates', [name]: bad });
        assertRefused(answer, 'INVALID_REQUEST', name);
      }
    }
    for (const query of ['date_from=2026-02-02&date_to=2026-02-01', 'date_from=2999-01-01']) {
      const { param } = JSON.parse((await caller.get('analytics', `referrer_tag=dates&${query}`)).text);
      assert.ok(param === 'date_from' || param === 'date_to');
    }
  });

  test('asks for one filter at least, and for each parameter once', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const neither = JSON.parse((await caller.get('analytics', 'granularity=summary')).text);
    assert.equal(neither.error, 'INVALID_REQUEST');
    assert.ok(['referrer_tag', 'sub_id_list'].includes(neither.param));
    const repeated = ['referrer_tag=abc', 'sub_id_list=x', 'date_from=2026-01-01', 'date_to=2026-01-01'];
    for (const pair of [...repeated, 'granularity=row', 'limit=5', 'cursor=x']) {
      const answer = await caller.get('analytics', `referrer_tag=abc&${pair}&${pair}`);
      assertRefused(answer, 'INVALID_REQUEST', pair.slice(0, pair.indexOf('=')));
    }
  });

  test('refuses a tag that can be none', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    for (const tag of ['', 'ab', 'A'.repeat(5), `${marker}!`, 'a'.repeat(65), `${marker} `]) {
      assertRefused(await caller.get('analytics', { referrer_tag: tag }), 'INVALID_REFERRER_TAG');
    }
  });

  test('refuses granularities that are unknown', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    for (const granularity of [marker, '', 'SUMMARY', 'rows']) {
      const answer = await caller.get('analytics', { referrer_tag: 'granularity', granularity });
      assertRefused(answer, 'INVALID_REQUEST', 'granularity');
    }
  });

  test('answers HEAD like GET without a body', async () => {
    const { market, fixture } = door;
    const answer = await market.caller(fixture).get('analytics', { referrer_tag: 'by-head' }, {}, 'HEAD');
    assert.deepEqual([answer.status, answer.text], [200, '']);
    assert.equal(answer.headers.get('content-type'), 'application/json');
  });

  test('counts sessions as matured when they are older than 45 days', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const from = date(market.clock.wallMs());
    await visit(caller, 'matured', 1);
    const ask = () => caller.summary({ referrer_tag: 'matured', date_from: from });
    market.clock.advance(45 * dayMs);
    assert.deepEqual([(await ask()).sessions_matured, (await ask()).rev_per_session_matured], [0, null]);
    market.clock.advance(dayMs);
    const matured = await ask();
    assert.deepEqual([matured.sessions_matured, matured.rev_per_session_matured], [1, 0]);
    assert.equal(matured.rev_per_session_ci95, null);
    assert.deepEqual([matured.matured_from, matured.matured_to], [from, from]);
  });

  test('covers the matured sessions of half a year when neither date is given', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const first = market.clock.wallMs();
    const { subId } = await visit(caller, 'matured-default', 1);
    const matured = async (query: Record<string, string>) => {
      const summary = await caller.summary(query);
      const { sessions_total: total, sessions_matured: sessions, matured_from: from, matured_to: to } = summary;
      return [total, sessions, from, to];
    };
    const dated = (days: number) => date(market.clock.wallMs() - days * dayMs);
    for (const [days, total, sessions] of [
      [30, 1, 0],
      [45, 0, 0],
      [46, 0, 1],
      [180, 0, 1],
      [181, 0, 0],
    ] as const) {
      market.clock.advance(first + days * dayMs - market.clock.wallMs());
      const expected = [total, sessions, dated(180), dated(46)];
      assert.deepEqual(await matured({ referrer_tag: 'matured-default' }), expected, `${days} days`);
      assert.deepEqual(await matured({ sub_id_list: subId }), expected, `${days} days, by id`);
    }
    assert.deepEqual(await matured({ referrer_tag: 'matured-default', date_to: dated(0) }), [0, 0, null, null]);
    assert.deepEqual(await matured({ referrer_tag: 'matured-default', date_from: dated(181) }), [
      1,
      1,
      dated(181),
      dated(46),
    ]);
  });
});
