import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DailyView, RowsView } from '../../src/index.ts';
import { assertRefused, assertShape, assertTimestamp } from '../support/answers.ts';
import type { ApiCaller } from '../support/api-caller.ts';
import { atEveryDoor } from '../support/doors.ts';
import { marker } from '../support/http-client.ts';
import { worthMicros, worthUsd } from '../support/vertical-fixture.ts';

const dayMs = 24 * 60 * 60 * 1000;
const date = (ms: number) => new Date(ms).toISOString().slice(0, 10);
const iPhone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

type Query = Readonly<Record<string, string | number>>;

atEveryDoor('GET /analytics in pages', (door) => {
  /** By the complete borrower. */
  const visit = (caller: ApiCaller, tag: string, clicks: number, more = {}) =>
    caller.visit(tag, door.fixture.complete, clicks, more);

  const sessions = async (caller: ApiCaller, tag: string, count: number): Promise<string[]> => {
    const ids: string[] = [];
    for (let each = 0; each < count; each++) ids.push((await caller.createSession(tag)).sub_id);
    return ids;
  };

  const idsOf = ({ data }: RowsView) => data.map(({ sub_id: id }) => id);

  test('answers days with all their members, also those on which nothing happened', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const from = date(market.clock.wallMs());
    const clicked: string[] = [];
    for (const count of [2, 0, 1]) {
      const visited = await visit(caller, 'daily-record', count);
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    market.clock.advance(2 * dayMs);
    const page = await caller.daily({ referrer_tag: 'daily-record', date_from: from });
    assert.deepEqual(Object.keys(page), [
      'referrer_tag',
      'granularity',
      'date_from',
      'date_to',
      'sessions_kept_from',
      'data',
      'has_more',
      'next_cursor',
    ]);
    const { data, ...rest } = page;
    const today = date(market.clock.wallMs());
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
      [from, date(market.clock.wallMs() - dayMs), today],
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
      widget_events: {
        widget_loaded: 0,
        offers_rendered: 0,
        offer_impression: 0,
        offer_details_opened: 0,
        disclosure_opened: 0,
        offer_click: 0,
        widget_error: 0,
      },
      matured: false,
    });
  });

  test('adds its days up to the summary, for a tag, for ids and for both', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const from = date(market.clock.wallMs());
    const ids: string[] = [];
    for (const [tag, clicks] of [
      ['days-one', 1],
      ['days-one', 3],
      ['days-two', 2],
    ] as const) {
      ids.push((await visit(caller, tag, clicks)).subId);
      market.clock.advance(dayMs);
    }
    const list = ids.slice(1).join(',');
    for (const filter of [
      { referrer_tag: 'days-one' },
      { sub_id_list: list },
      { referrer_tag: 'days-one', sub_id_list: list },
    ] as Query[]) {
      const query = { ...filter, date_from: from };
      const { data, referrer_tag } = await caller.daily(query);
      const summary = await caller.summary(query);
      assert.equal(referrer_tag, summary.referrer_tag);
      assert.ok(summary.sessions_total > 0);
      for (const name of ['sessions_total', 'marketplace_views', 'offer_clicks'] as const) {
        assert.equal(
          data.reduce((sum, day) => sum + day[name], 0),
          summary[name],
        );
      }
    }
  });

  test('calls a day matured when the summary does', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    await caller.createSession('days-matured');
    market.clock.advance(46 * dayMs);
    const query = { referrer_tag: 'days-matured', date_from: date(market.clock.wallMs() - 47 * dayMs) };
    const { data } = await caller.daily(query);
    assert.deepEqual(
      data.slice(0, 3).map(({ matured, sessions_total }) => [matured, sessions_total]),
      [
        [true, 0],
        [true, 1],
        [false, 0],
      ],
    );
    assert.equal((await caller.summary(query)).sessions_matured, 1);
  });

  test('pages through days, a hundred at a time or as few as asked for', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const query = { referrer_tag: 'days-pages', date_from: '2026-01-01', date_to: '2026-04-30' };
    const whole: string[] = [];
    for (const [limit, sizes] of [
      [undefined, [100, 20]],
      [50, [50, 50, 20]],
      [60, [60, 60]],
    ] as const) {
      const dates: string[] = [];
      let cursor: string | null = null;
      for (const size of sizes) {
        const page: DailyView = await caller.daily({
          ...query,
          ...(limit !== undefined && { limit }),
          ...(cursor !== null && { cursor }),
        });
        assert.equal(page.data.length, size);
        assert.equal(page.has_more, page.next_cursor !== null);
        dates.push(...page.data.map((day) => day.date));
        cursor = page.next_cursor;
      }
      assert.equal(cursor, null);
      assert.deepEqual([dates.length, dates[0], dates.at(-1)], [120, '2026-01-01', '2026-04-30']);
      whole.push(dates.join());
    }
    assert.equal(new Set(whole).size, 1);
  });

  test('answers rows with all their members, and no pocket field', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const created = market.clock.wallMs();
    const metadata = { page: 'hero "b"', bid: 1.5, test: true, none: null };
    const { subId, clicked } = await visit(caller, 'row-record', 2, { metadata, user_agent: iPhone });
    market.clock.advance(60_000);
    await caller.offers(subId);
    const answer = await caller.get('analytics', { referrer_tag: 'row-record', granularity: 'row' });
    const { data, ...rest } = JSON.parse(answer.text) as RowsView;
    assert.deepEqual(rest, {
      referrer_tag: 'row-record',
      granularity: 'row',
      date_from: date(created - 30 * dayMs),
      date_to: date(created),
      sessions_kept_from: null,
      has_more: false,
      next_cursor: null,
    });
    assert.equal(data.length, 1);
    const { lenders, ...row } = data[0]!;
    assert.deepEqual(row, {
      sub_id: subId,
      referrer_tag: 'row-record',
      created_at: new Date(created).toISOString(),
      sandbox: false,
      device: 'mobile',
      metadata,
      marketplace_views: 2,
      offer_clicks: 2,
      rev_attributed:
        worthMicros(
          fixture,
          clicked.map(({ svc_offer_id: id }) => id),
        ) / 1_000_000,
      rev_confirmed: 0,
      last_event_at: new Date(created + 60_000).toISOString(),
    });
    const clicks = new Map<string, number>();
    for (const { lender_name: name } of clicked) clicks.set(name, (clicks.get(name) ?? 0) + 1);
    assert.deepEqual(
      new Map(lenders.map(({ lender, clicks: count, rev_confirmed }) => [lender, [count, rev_confirmed]])),
      new Map([...clicks].map(([lender, count]) => [lender, [count, 0]])),
    );
    for (const name of Object.keys(fixture.complete)) assert.ok(!answer.text.includes(`"${name}"`), name);
  });

  test('answers a row of a session of which nothing else is known', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { mode: 'test' });
    const { sub_id: id, created_at: created } = await caller.createSession('row-bare');
    const [row] = (await caller.rows({ sub_id_list: id })).data;
    assertShape(row as object, {
      sub_id: 'string',
      referrer_tag: 'string',
      created_at: 'string',
      sandbox: 'boolean',
      device: 'string',
      metadata: 'null',
      marketplace_views: 'integer',
      offer_clicks: 'integer',
      rev_attributed: 'integer',
      rev_confirmed: 'integer',
      last_event_at: 'string',
      lenders: 'array',
    });
    assert.deepEqual([row?.sub_id, row?.created_at, row?.sandbox, row?.device], [id, created, true, 'unknown']);
    assert.equal(assertTimestamp(row?.last_event_at), assertTimestamp(created));
  });

  test('includes in days and rows every event whose answer came before the question', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    for (let round = 1; round <= 5; round++) {
      const { subId } = await visit(caller, 'rows-at-once', 1);
      const { data } = await caller.rows({ referrer_tag: 'rows-at-once' });
      assert.equal(data.length, round);
      const last = data.at(-1)!;
      assert.deepEqual([last.sub_id, last.marketplace_views, last.offer_clicks], [subId, 1, 1]);
      const today = (await caller.daily({ referrer_tag: 'rows-at-once' })).data.at(-1)!;
      assert.deepEqual([today.sessions_total, today.marketplace_views, today.offer_clicks], [round, round, round]);
    }
  });

  test('lists rows in the order of the ledger, of a tag, of ids and of both', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const one = await sessions(caller, 'order-one', 3);
    const two = await sessions(caller, 'order-two', 2);
    const strangers = await sessions(market.caller(fixture), 'order-one', 2);
    const listed = [two[1], strangers[0], one[2], marker, one[0], one[0]].join(',');
    assert.deepEqual(idsOf(await caller.rows({ referrer_tag: 'order-one' })), one);
    const byIds = await caller.rows({ sub_id_list: listed });
    assert.deepEqual([byIds.referrer_tag, idsOf(byIds)], [null, [one[0], one[2], two[1]]]);
    assert.deepEqual(
      byIds.data.map(({ referrer_tag: tag }) => tag),
      ['order-one', 'order-one', 'order-two'],
    );
    assert.deepEqual(idsOf(await caller.rows({ sub_id_list: listed, referrer_tag: 'order-two' })), [two[1]]);
  });

  test('pages through rows, each session on one page, while new ones arrive', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const expected = await sessions(caller, 'row-pages', 25);
    const seen: string[] = [];
    let cursor: string | null = null;
    for (let pages = 0; pages === 0 || cursor !== null; pages++) {
      const page: RowsView = await caller.rows({
        referrer_tag: 'row-pages',
        limit: 10,
        ...(cursor !== null && { cursor }),
      });
      assert.equal(page.has_more, page.next_cursor !== null);
      seen.push(...idsOf(page));
      cursor = page.next_cursor;
      if (pages < 2) expected.push(...(await sessions(caller, 'row-pages', 3)));
      await sessions(caller, 'row-pages-other', 1);
    }
    assert.deepEqual(seen, expected);
  });

  test('holds a hundred rows unless fewer are asked for, and pages through listed ids alike', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const ids = await sessions(caller, 'row-hundred', 101);
    const filters: Query[] = [{ referrer_tag: 'row-hundred' }, { sub_id_list: [...ids].reverse().join(',') }];
    for (const filter of filters) {
      const first = await caller.rows(filter);
      assert.deepEqual(idsOf(first), ids.slice(0, 100));
      const second = await caller.rows({ ...filter, cursor: first.next_cursor as string });
      assert.deepEqual([idsOf(second), second.has_more, second.next_cursor], [[ids[100]], false, null]);
    }
  });

  test('goes on over midnight with the window of the first page', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
    const ids = await sessions(caller, 'over-midnight', 3);
    for (const granularity of ['daily', 'row'] as const) {
      const ask = (query: Query) => caller[granularity === 'daily' ? 'daily' : 'rows'](query);
      const first = await ask({ referrer_tag: 'over-midnight', limit: 2 });
      market.clock.advance(dayMs);
      await sessions(caller, 'over-midnight', 1);
      const second = await ask({ referrer_tag: 'over-midnight', cursor: first.next_cursor as string });
      assert.deepEqual([second.date_from, second.date_to], [first.date_from, first.date_to]);
      const dated = await ask({
        referrer_tag: 'over-midnight',
        cursor: first.next_cursor as string,
        date_from: first.date_from,
        date_to: first.date_to,
      });
      assert.deepEqual(dated.data, second.data);
    }
    const days = {
      date_from: date(market.clock.wallMs() - 2 * dayMs),
      date_to: date(market.clock.wallMs() - 2 * dayMs),
    };
    assert.deepEqual(idsOf(await caller.rows({ referrer_tag: 'over-midnight', ...days })), ids);
  });

  test('refuses a cursor that was altered, or was given for another question or to another caller', async () => {
    const { market, fixture } = door;
    const account = `cursors ${door.engine}`;
    const caller = market.caller(fixture, { account });
    const ids = await sessions(caller, 'cursors', 3);
    const list = ids.join(',');
    const filter = { referrer_tag: 'cursors', granularity: 'row', limit: 1 };
    const { next_cursor: given } = await caller.rows({ referrer_tag: 'cursors', limit: 1 });
    const cursor = given as string;
    const refuse = async (by: ApiCaller, query: Query) =>
      assertRefused(await by.get('analytics', query), 'INVALID_REQUEST', 'cursor');

    const last = cursor.endsWith('A') ? 'B' : 'A';
    for (const altered of [
      `${cursor.slice(0, -1)}${last}`,
      `${cursor}A`,
      cursor.slice(0, -1),
      '',
      marker,
      ` ${cursor}`,
    ]) {
      await refuse(caller, { ...filter, cursor: altered });
    }
    await refuse(caller, { ...filter, cursor, granularity: 'daily' });
    await refuse(caller, { ...filter, cursor, referrer_tag: 'cursors-two' });
    await refuse(caller, { ...filter, cursor, sub_id_list: list });
    await refuse(caller, { granularity: 'row', cursor, sub_id_list: list });
    await refuse(caller, { ...filter, cursor, date_from: '2026-01-01' });
    await refuse(caller, { ...filter, cursor, date_to: '2026-01-01' });
    await refuse(market.caller(fixture), { ...filter, cursor });
    await refuse(market.caller(fixture, { account, mode: 'test' }), { ...filter, cursor });
    const sameTenant = market.caller(fixture, { account });
    assert.deepEqual(idsOf(await sameTenant.rows({ referrer_tag: 'cursors', cursor })), ids.slice(1));
  });

  test('refuses a limit that is none, or above a hundred', async () => {
    const caller = door.market.caller(door.fixture, { limits: { analyticsPerMinute: 1_000 } });
    for (const granularity of ['daily', 'row']) {
      for (const limit of ['0', '101', '-1', '1.0', '', 'all', marker, '1e1']) {
        const answer = await caller.get('analytics', { referrer_tag: 'limits', granularity, limit });
        assertRefused(answer, 'INVALID_REQUEST', 'limit');
      }
    }
  });

  test('refuses to page a summary', async () => {
    const caller = door.market.caller(door.fixture);
    for (const [name, value] of [
      ['limit', '10'],
      ['cursor', 'x'],
    ] as const) {
      for (const granularity of [{}, { granularity: 'summary' }]) {
        const answer = await caller.get('analytics', { referrer_tag: 'unpaged', ...granularity, [name]: value });
        assertRefused(answer, 'INVALID_REQUEST', name);
      }
    }
  });
});
