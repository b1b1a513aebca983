import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RowsView, SummaryView } from '../../src/index.ts';
import { type ApiCaller, assertOk, assertRefused, assertShape, assertTimestamp } from '../support/api-caller.ts';
import { describeEveryVertical } from '../support/contract-suite.ts';
import { marker } from '../support/http-client.ts';
import { worthMicros, worthUsd } from '../support/vertical-fixture.ts';

type Query = Readonly<Record<string, string | number>>;

const dayMs = 24 * 60 * 60 * 1000;
const isoDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const userAgents = {
  desktop:
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36',
  mobile:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  tablet:
    'Mozilla/5.0 (iPad; CPU OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.6 Mobile/15E148 Safari/604.1',
  bot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  unknown: undefined,
};

const zeroWidgetEvents = {
  widget_loaded: 0,
  offers_rendered: 0,
  offer_impression: 0,
  offer_details_opened: 0,
  disclosure_opened: 0,
  offer_click: 0,
  widget_error: 0,
};

/** Other tests check filters, dates, pages and totals: test/operations/query-analytics.test.ts and test/analytics. */
describeEveryVertical('GET /analytics', (door) => {
  const visit = (caller: ApiCaller, tag: string, clicks: number, more = {}) =>
    caller.visit(tag, door.fixture.complete, clicks, more);

  test('returns a summary with all members', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const clicked: string[] = [];
    for (const count of [2, 0, 1]) {
      const visited = await visit(caller, 'record', count);
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    const summary = assertOk<SummaryView>(await caller.get('analytics', { referrer_tag: 'record' }));
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
    assert.deepEqual([summary.sessions_total, summary.marketplace_views, summary.offer_clicks], [3, 3, 3]);
    assert.equal(summary.rev_attributed, worthUsd(fixture, clicked));
    assert.ok(assertTimestamp(summary.as_of) <= market.clock.wallMs());
    assertShape(summary.top_lenders[0] as object, { lender: 'string', clicks: 'integer', rev_confirmed: 'integer' });
  });

  test('returns daily totals with all members, also for days without sessions', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const from = isoDate(market.clock.wallMs());
    const clicked: string[] = [];
    for (const count of [2, 0, 1]) {
      const visited = await visit(caller, 'daily-record', count);
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    market.clock.advance(2 * dayMs);
    const { data, ...rest } = await caller.daily({ referrer_tag: 'daily-record', date_from: from });
    const today = isoDate(market.clock.wallMs());
    assert.deepEqual(rest, {
      referrer_tag: 'daily-record',
      granularity: 'daily',
      date_from: from,
      date_to: today,
      sessions_kept_from: null,
      has_more: false,
      next_cursor: null,
    });
    assert.deepEqual(
      data.map((day) => day.date),
      [from, isoDate(market.clock.wallMs() - dayMs), today],
    );
    const { sessions_total, marketplace_views, offer_clicks, click_rate, rev_attributed } = data[0]!;
    assert.deepEqual(
      [sessions_total, marketplace_views, offer_clicks, click_rate, rev_attributed],
      [3, 3, 3, 1, worthUsd(fixture, clicked)],
    );
    assert.deepEqual(data[2], {
      date: today,
      sessions_total: 0,
      marketplace_views: 0,
      offer_clicks: 0,
      click_rate: 0,
      rev_attributed: 0,
      rev_confirmed: 0,
      rev_per_session: 0,
      widget_events: zeroWidgetEvents,
      matured: false,
    });
  });

  test('returns rows with all members and without pocket fields', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const createdMs = market.clock.wallMs();
    const metadata = { page: 'hero "b"', bid: 1.5, test: true, none: null };
    const { subId, clicked } = await visit(caller, 'row-record', 2, { metadata, user_agent: userAgents.mobile });
    market.clock.advance(60_000);
    await caller.offers(subId);
    const answer = await caller.get('analytics', { referrer_tag: 'row-record', granularity: 'row' });
    const { data, ...rest } = JSON.parse(answer.text) as RowsView;
    assert.deepEqual(rest, {
      referrer_tag: 'row-record',
      granularity: 'row',
      date_from: isoDate(createdMs - 30 * dayMs),
      date_to: isoDate(createdMs),
      sessions_kept_from: null,
      has_more: false,
      next_cursor: null,
    });
    assert.equal(data.length, 1);
    const { lenders, ...row } = data[0]!;
    const offerIds = clicked.map(({ svc_offer_id: id }) => id);
    assert.deepEqual(row, {
      sub_id: subId,
      referrer_tag: 'row-record',
      created_at: new Date(createdMs).toISOString(),
      sandbox: false,
      device: 'mobile',
      metadata,
      marketplace_views: 2,
      offer_clicks: 2,
      rev_attributed: worthMicros(fixture, offerIds) / 1_000_000,
      rev_confirmed: 0,
      last_event_at: new Date(createdMs + 60_000).toISOString(),
    });
    const clicks = new Map<string, number>();
    for (const { lender_name: name } of clicked) clicks.set(name, (clicks.get(name) ?? 0) + 1);
    assert.deepEqual(
      new Map(lenders.map(({ lender, clicks: count, rev_confirmed }) => [lender, [count, rev_confirmed]])),
      new Map([...clicks].map(([lender, count]) => [lender, [count, 0]])),
    );
    for (const name of Object.keys(fixture.complete)) assert.ok(!answer.text.includes(`"${name}"`), name);
  });

  test('includes every event whose response was sent before the query, in each granularity', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const filter = { referrer_tag: 'at-once' };
    const counts = async () => {
      const { sessions_total, marketplace_views, offer_clicks } = await caller.summary(filter);
      return [sessions_total, marketplace_views, offer_clicks];
    };
    for (let round = 0; round < 5; round++) {
      const subId = await caller.sessionWith('at-once', fixture.complete);
      assert.deepEqual(await counts(), [round + 1, round, round]);
      const { offers } = await caller.offers(subId);
      assert.deepEqual(await counts(), [round + 1, round + 1, round]);
      await caller.click(offers[0]?.click_url as string);
      assert.deepEqual(await counts(), [round + 1, round + 1, round + 1]);
      const row = (await caller.rows(filter)).data.at(-1)!;
      assert.deepEqual([row.sub_id, row.marketplace_views, row.offer_clicks], [subId, 1, 1]);
      const day = (await caller.daily(filter)).data.at(-1)!;
      assert.deepEqual(
        [day.sessions_total, day.marketplace_views, day.offer_clicks],
        [round + 1, round + 1, round + 1],
      );
    }
  });

  test('groups devices by the user agent of the session, not of the API client', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const clicked: string[] = [];
    for (const agent of Object.values(userAgents)) {
      const visited = await visit(caller, 'devices', 1, agent === undefined ? {} : { user_agent: agent });
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    await caller.post('session', { referrer_tag: 'devices' }, { 'User-Agent': userAgents.mobile });
    const { by_device: devices } = await caller.summary({ referrer_tag: 'devices' });
    assert.deepEqual(Object.keys(devices).sort(), Object.keys(userAgents).sort());
    for (const [name, figures] of Object.entries(devices)) {
      const sessions = name === 'unknown' ? 2 : 1;
      assert.deepEqual([figures.sessions_total, figures.offer_clicks, figures.click_rate], [sessions, 1, 1], name);
    }
    const micros = Object.values(devices).reduce((sum, device) => sum + Math.round(device.rev_attributed * 1e6), 0);
    assert.equal(micros, worthMicros(fixture, clicked));
  });

  test('accepts 500 sub_ids separated by plain or encoded commas, and rejects 501', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 100_000, sessionsPerDay: 100_000 } });
    const created = Array.from({ length: 500 }, () => caller.createSession('five-hundred'));
    const ids = (await Promise.all(created)).map(({ sub_id: id }) => id);
    for (const comma of ['%2C', '%2c', ',']) {
      const answer = await caller.get('analytics', `sub_id_list=${ids.join(comma)}`);
      assert.equal(assertOk<SummaryView>(answer).sessions_total, 500, comma);
    }
    const tooMany = `sub_id_list=${[...ids, marker].join(',')}`;
    assertRefused(await caller.get('analytics', tooMany), 'INVALID_REQUEST', 'sub_id_list');
  });

  test('rejects a cursor that was altered or issued for another query or caller', async () => {
    const { market, fixture } = door;
    const account = `cursors ${door.engine}`;
    const caller = market.caller(fixture, { account });
    const ids: string[] = [];
    for (let count = 0; count < 3; count++) ids.push((await caller.createSession('cursors')).sub_id);
    const filter = { referrer_tag: 'cursors', granularity: 'row', limit: 1 };
    const cursor = (await caller.rows({ referrer_tag: 'cursors', limit: 1 })).next_cursor as string;
    const assertCursorRefused = async (by: ApiCaller, query: Query) =>
      assertRefused(await by.get('analytics', query), 'INVALID_REQUEST', 'cursor');

    for (const altered of [`${cursor.slice(0, -1)}${cursor.endsWith('A') ? 'B' : 'A'}`, '', marker]) {
      await assertCursorRefused(caller, { ...filter, cursor: altered });
    }
    await assertCursorRefused(caller, { ...filter, cursor, granularity: 'daily' });
    await assertCursorRefused(caller, { ...filter, cursor, referrer_tag: 'cursors-two' });
    await assertCursorRefused(caller, { ...filter, cursor, sub_id_list: ids.join(',') });
    await assertCursorRefused(caller, { ...filter, cursor, date_from: '2026-01-01' });
    await assertCursorRefused(market.caller(fixture), { ...filter, cursor });
    await assertCursorRefused(market.caller(fixture, { account, mode: 'test' }), { ...filter, cursor });
    const { data } = await market.caller(fixture, { account }).rows({ referrer_tag: 'cursors', cursor });
    assert.deepEqual(
      data.map(({ sub_id: id }) => id),
      ids.slice(1),
    );
  });

  test('rejects missing, invalid and repeated parameters without their values in the error', async () => {
    const caller = door.market.caller(door.fixture);
    const tag = 'referrer_tag=abc';
    for (const [query, param] of [
      ['granularity=summary', 'referrer_tag'],
      [`${tag}&date_from=${marker}`, 'date_from'],
      [`${tag}&date_to=2026-02-29`, 'date_to'],
      [`${tag}&date_from=2026-02-02&date_to=2026-02-01`, 'date_from'],
      [`${tag}&granularity=${marker}`, 'granularity'],
      [`${tag}&granularity=row&limit=${marker}`, 'limit'],
      [`${tag}&limit=10`, 'limit'],
      [`${tag}&cursor=x`, 'cursor'],
    ] as const) {
      assertRefused(await caller.get('analytics', query), 'INVALID_REQUEST', param);
    }
    assertRefused(await caller.get('analytics', { referrer_tag: `${marker}!` }), 'INVALID_REFERRER_TAG');
    const pairs = [tag, 'sub_id_list=x', 'date_from=2026-01-01', 'date_to=2026-01-01'];
    for (const pair of [...pairs, 'granularity=row', 'limit=5', 'cursor=x']) {
      const answer = await caller.get('analytics', `${tag}&${pair}&${pair}`);
      assertRefused(answer, 'INVALID_REQUEST', pair.slice(0, pair.indexOf('=')));
    }
  });

  test('responds to HEAD as to GET, without a body', async () => {
    const { market, fixture } = door;
    const answer = await market.caller(fixture).get('analytics', { referrer_tag: 'by-head' }, {}, 'HEAD');
    assert.deepEqual([answer.status, answer.text], [200, '']);
    assert.equal(answer.headers.get('content-type'), 'application/json');
  });
});
