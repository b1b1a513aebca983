import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AnalyticsSummary,
  ApiKeyMode,
  OfferAnalytics,
  SessionRowsResponse,
  TagsResponse,
} from '../../src/index.ts';
import {
  type ApiCaller,
  assertError,
  assertOk,
  assertTimestamp,
  type Query,
  widgetLoadId,
} from '../support/api-caller.ts';
import { describeEveryVertical, describePersonalLoans } from '../support/contract-suite.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';

const dayMs = 24 * 60 * 60 * 1000;
const isoDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

const listTags = async (caller: ApiCaller, query: Query = {}): Promise<TagsResponse> =>
  assertOk(await caller.get('tags', query));

/** Other tests check members, filters, dates, pages and totals: test/operations/query-analytics.test.ts and test/analytics. */
describePersonalLoans('GET /analytics', (door) => {
  const { fixture } = door;
  test('returns a summary and daily figures for the sessions of a referrer tag', async () => {
    const { market } = door;
    const caller = door.caller();
    const createdMs = market.clock.wallMs();
    const clicked: string[] = [];
    for (const count of [2, 0, 1]) {
      const visited = await caller.createSessionWithClicks('figures', fixture.complete, count);
      clicked.push(...visited.clicked.map(({ svc_offer_id: id }) => id));
    }
    const summary = assertOk<AnalyticsSummary>(await caller.get('analytics', { referrer_tag: 'figures' }));
    assert.deepEqual([summary.referrer_tag, summary.granularity], ['figures', 'summary']);
    assert.deepEqual([summary.sessions_total, summary.marketplace_views, summary.offer_clicks], [3, 3, 3]);
    assert.equal(summary.rev_attributed, totalClickUsd(fixture, clicked));
    assert.ok(assertTimestamp(summary.as_of) <= market.clock.wallMs());

    market.clock.advance(2 * dayMs);
    const { data } = await caller.daily({ referrer_tag: 'figures', date_from: isoDate(createdMs) });
    assert.deepEqual(
      data.map((day) => [day.date, day.sessions_total, day.marketplace_views, day.offer_clicks, day.rev_attributed]),
      [
        [isoDate(createdMs), 3, 3, 3, totalClickUsd(fixture, clicked)],
        [isoDate(createdMs + dayMs), 0, 0, 0, 0],
        [isoDate(createdMs + 2 * dayMs), 0, 0, 0, 0],
      ],
    );
  });

  test("rows contain metadata, device and lenders of a session, but not the borrower's fields", async () => {
    const caller = door.caller();
    const metadata = { page: 'hero "b"', bid: 1.5, test: true, none: null };
    const wanted = { metadata, user_agent: phone };
    const { subId, clicked } = await caller.createSessionWithClicks('row-record', fixture.complete, 2, wanted);
    const answer = await caller.get('analytics', { referrer_tag: 'row-record', granularity: 'row' });
    const [row, ...others] = assertOk<SessionRowsResponse>(answer).data;
    assert.deepEqual([row!.sub_id, row!.device, row!.metadata, others], [subId, 'mobile', metadata, []]);
    assert.equal(
      row!.rev_attributed,
      totalClickUsd(
        fixture,
        clicked.map(({ svc_offer_id: id }) => id),
      ),
    );
    const clickedLenders = clicked.map(({ lender_name: name }) => name).sort();
    const named = row!.lenders.flatMap(({ lender, clicks }) => Array<string>(clicks).fill(lender));
    assert.deepEqual(named.sort(), clickedLenders);
    for (const name of Object.keys(fixture.complete)) assert.ok(!answer.text.includes(`"${name}"`), name);
  });

  test('rows are returned in both orders on pages, and a cursor is valid for its order only', async () => {
    const caller = door.caller();
    const created: string[] = [];
    for (let count = 0; count < 5; count++) {
      created.push((await caller.createSession('row-order')).sub_id);
      door.market.clock.advance(dayMs / 3);
    }
    const request = { referrer_tag: 'row-order', granularity: 'row', limit: 2 };
    const ids = (sub_id_list: string | null) => (sub_id_list === null ? {} : { sub_id_list });
    for (const [order, expected] of [
      ['oldest', created],
      ['newest', created.toReversed()],
    ] as const) {
      for (const list of [null, created.join(',')]) {
        const seen: string[] = [];
        for (let cursor: string | null = ''; cursor !== null; ) {
          const page = { ...request, ...ids(list), order, ...(cursor === '' ? {} : { cursor }) };
          const answer: SessionRowsResponse = assertOk(await caller.get('analytics', page));
          seen.push(...answer.data.map(({ sub_id }) => sub_id));
          cursor = answer.next_cursor;
          if (cursor === null) continue;
          const other = order === 'oldest' ? 'newest' : 'oldest';
          assertError(await caller.get('analytics', { ...page, order: other, cursor }), 'INVALID_REQUEST', 'cursor');
        }
        assert.deepEqual(seen, expected);
      }
    }
  });

  test('counts how often each offer was shown at each position, and its clicks', async () => {
    const caller = door.caller();
    const { subId, clicked } = await caller.createSessionWithClicks('offers-shown', fixture.complete, 1);
    const { offers } = await caller.offers(subId, { max_offers: 2 });
    const first = offers[0]!;
    assert.equal(first.svc_offer_id, clicked[0]!.svc_offer_id);
    const query = { referrer_tag: 'offers-shown', granularity: 'offer' };
    const { data } = assertOk<OfferAnalytics>(await caller.get('analytics', query));
    const usd = totalClickUsd(fixture, [first.svc_offer_id]);
    assert.deepEqual(
      data.find(({ svc_offer_id: id }) => id === first.svc_offer_id),
      {
        svc_offer_id: first.svc_offer_id,
        lender_name: first.lender_name,
        shown: 2,
        shown_by_position: [2, ...Array<number>(19).fill(0)],
        average_position: 1,
        offer_clicks: 1,
        click_rate: 0.5,
        rev_attributed: usd,
        rev_confirmed: 0,
        rev_attributed_per_click: usd,
        rev_confirmed_per_click: 0,
        rev_attributed_per_shown: Math.round((usd / 2) * 1e6) / 1e6,
        rev_confirmed_per_shown: 0,
      },
    );
    const ids = data.map(({ svc_offer_id: id }) => id);
    assert.deepEqual(ids, ids.toSorted());
    const { marketplace_views } = await caller.summary({ referrer_tag: 'offers-shown' });
    assert.equal(
      data.reduce((sum, { shown_by_position: [count] }) => sum + count!, 0),
      marketplace_views,
    );

    // A widget that loads its offers again counts only offers that the session has not seen.
    const widget = await caller.createWidget('offers-refreshed', fixture.complete);
    const shown = await widget.offers(widgetLoadId(1), { max_offers: 2 });
    const more = await widget.offers(widgetLoadId(1), { max_offers: 3 });
    const refreshed = assertOk<OfferAnalytics>(
      await caller.get('analytics', { ...query, referrer_tag: 'offers-refreshed' }),
    );
    assert.deepEqual([shown.offers.length, more.offers.length], [2, 3]);
    assert.deepEqual(
      refreshed.data.map((offer) => [offer.svc_offer_id, offer.shown]).sort(),
      more.offers.map((offer) => [offer.svc_offer_id, 1]).sort(),
    );
    const answer = await caller.get('analytics', { granularity: 'offer', sub_id_list: subId });
    assertError(answer, 'INVALID_REQUEST', 'referrer_tag');
  });

  test('summary, daily and row queries include every event whose response was sent before the query', async () => {
    const caller = door.caller();
    const filter = { referrer_tag: 'at-once' };
    const assertCounts = async (...counts: number[]) => {
      const summary = await caller.summary(filter);
      const day = (await caller.daily(filter)).data.at(-1)!;
      for (const { sessions_total, marketplace_views, offer_clicks } of [summary, day]) {
        assert.deepEqual([sessions_total, marketplace_views, offer_clicks], counts);
      }
    };
    for (let round = 0; round < 2; round++) {
      const subId = await caller.createSessionWithFields('at-once', fixture.complete);
      await assertCounts(round + 1, round, round);
      const { offers } = await caller.offers(subId);
      await assertCounts(round + 1, round + 1, round);
      await caller.click(offers[0]!.click_url);
      await assertCounts(round + 1, round + 1, round + 1);
      const row = (await caller.rows(filter)).data.at(-1)!;
      assert.deepEqual([row.sub_id, row.marketplace_views, row.offer_clicks], [subId, 1, 1]);
    }
    const page = await caller.rows({ ...filter, limit: 1 });
    const next = await caller.rows({ ...filter, cursor: page.next_cursor! });
    const all = (await caller.rows(filter)).data;
    assert.deepEqual([[...page.data, ...next.data], next.next_cursor], [all, null]);
  });
});

describeEveryVertical('GET /tags', (door) => {
  const { fixture } = door;
  for (const mode of ['live', 'test'] as const satisfies readonly ApiKeyMode[]) {
    test(`lists the tags of a tenant with their figures for a ${mode} key`, async () => {
      const { market } = door;
      const account = `tags ${fixture.vertical.segment} ${mode}`;
      const caller = door.caller({ account, mode });
      assert.deepEqual(await listTags(caller), { data: [], has_more: false, next_cursor: null });
      const firstMs = market.clock.wallMs();
      await caller.createSessionWithClicks('with-click', fixture.complete, 1);
      market.clock.advance(2 * dayMs);
      const lastMs = market.clock.wallMs();
      await caller.createSession('with-click');
      await caller.createSession('never-shown');
      const { rev_attributed, rev_confirmed } = await caller.summary({ referrer_tag: 'with-click' });
      const [firstAt, lastAt] = [firstMs, lastMs].map((ms) => new Date(ms).toISOString());
      const data = [
        {
          referrer_tag: 'never-shown',
          first_session_at: lastAt,
          last_session_at: lastAt,
          ...{ sessions_total: 1, marketplace_views: 0, offer_clicks: 0, rev_attributed: 0, rev_confirmed: 0 },
        },
        {
          referrer_tag: 'with-click',
          first_session_at: firstAt,
          last_session_at: lastAt,
          ...{ sessions_total: 2, marketplace_views: 1, offer_clicks: 1, rev_attributed, rev_confirmed },
        },
      ];
      assert.equal(rev_attributed > 0, mode === 'live');
      assert.deepEqual(await listTags(caller), { data, has_more: false, next_cursor: null });
      // Another key of the tenant sees the same tags; the other mode and other accounts see none of them.
      assert.deepEqual((await listTags(door.caller({ account, mode }))).data, data);
      const otherMode = mode === 'live' ? 'test' : 'live';
      const others = [door.caller({ account, mode: otherMode }), door.caller({ mode })];
      for (const other of others) assert.deepEqual((await listTags(other)).data, []);

      const { next_cursor: cursor, ...page } = await listTags(caller, { limit: 1 });
      assert.deepEqual(page, { data: data.slice(0, 1), has_more: true });
      // A tag before and a tag after the cursor are added between two pages.
      await caller.createSession('added-before');
      await caller.createSession('zz-added');
      const next = await listTags(caller, { cursor: cursor! });
      assert.deepEqual(
        next.data.map(({ referrer_tag }) => referrer_tag),
        ['with-click', 'zz-added'],
      );
      for (const other of others)
        assertError(await other.get('tags', { cursor: cursor! }), 'INVALID_REQUEST', 'cursor');
    });
  }

  test('returns all tags on pages of 100, each once, and rejects invalid parameters', async () => {
    const caller = door.caller({ account: `many tags ${fixture.vertical.segment}` });
    const tags = Array.from({ length: 201 }, (_, at) => `tag-${(at * 7) % 201}`);
    await Promise.all(tags.map((tag) => caller.createSession(tag)));
    const pages: string[][] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: TagsResponse = await listTags(caller, cursor === '' ? {} : { cursor });
      pages.push(page.data.map(({ referrer_tag }) => referrer_tag));
      assert.equal(page.has_more, page.next_cursor !== null);
      cursor = page.next_cursor;
    }
    assert.deepEqual(pages.flat(), tags.toSorted());
    assert.deepEqual(
      pages.map(({ length }) => length),
      [100, 100, 1],
    );
    for (const limit of ['0', '101', 'x', ''])
      assertError(await caller.get('tags', { limit }), 'INVALID_REQUEST', 'limit');
    const { next_cursor: cursor } = await listTags(caller);
    for (const changed of ['', 'x', cursor!.slice(1), `${cursor}A`, cursor!.toLowerCase()])
      assertError(await caller.get('tags', { cursor: changed }), 'INVALID_REQUEST', 'cursor');
    assertError(await caller.get('tags', 'limit=1&limit=1'), 'INVALID_REQUEST', 'limit');
  });

  test('recent_days lists the tags with sessions on these days, with figures of each day', async () => {
    const caller = door.caller();
    await caller.createSession('stale-tag');
    await caller.createSession('busy-tag');
    door.market.clock.advance(2 * dayMs);
    await caller.createSessionWithClicks('busy-tag', fixture.complete, 1);
    const dates = [2, 1, 0].map((days) =>
      new Date(door.market.clock.wallMs() - days * dayMs).toISOString().slice(0, 10),
    );
    const { data: both } = await listTags(caller, { recent_days: 3 });
    assert.deepEqual(
      both.map(({ referrer_tag, recent }) => [
        referrer_tag,
        recent!.daily.map((day) => [day.date, day.sessions_total]),
      ]),
      [
        [
          'busy-tag',
          [
            [dates[0], 1],
            [dates[1], 0],
            [dates[2], 1],
          ],
        ],
        [
          'stale-tag',
          [
            [dates[0], 1],
            [dates[1], 0],
            [dates[2], 0],
          ],
        ],
      ],
    );
    const { data: recent } = await listTags(caller, { recent_days: 1 });
    const day = await caller.summary({ referrer_tag: 'busy-tag', date_from: dates[2]!, date_to: dates[2]! });
    const { daily, ...total } = recent[0]!.recent!;
    assert.equal(recent.length, 1);
    assert.equal(total.offer_clicks, 1);
    for (const [name, value] of Object.entries(total)) assert.equal(value, day[name as keyof typeof day], name);
    assert.deepEqual(daily, [{ date: dates[2], ...total }]);
    assert.equal(recent[0]!.sessions_total, 2);
    for (const recent_days of ['0', '93', 'x'])
      assertError(await caller.get('tags', { recent_days }), 'INVALID_REQUEST', 'recent_days');
  });

  test('counts toward the limit of analytics queries', async () => {
    const caller = door.caller({ limits: { analyticsPerMinute: 3 } });
    await listTags(caller);
    await caller.summary({ referrer_tag: 'limited' });
    const { headers } = await caller.get('tags', {});
    assert.equal(headers.get('x-ratelimit-remaining'), '0');
    for (const operation of ['tags', 'analytics'] as const)
      assertError(await caller.get(operation, { referrer_tag: 'limited' }), 'RATE_LIMIT_EXCEEDED');
  });

  test('answers say which parameters were ignored', async () => {
    const ignoredOf = async (mode: ApiKeyMode, operation: 'tags' | 'analytics', query: Query) => {
      const caller = door.caller({ mode });
      await caller.createSession('known');
      return assertOk<TagsResponse>(await caller.get(operation, query)).ignored;
    };
    const names = { format: 'csv', group_by: 'device', formt: 'csv', timezone: 'Europe/Berlin' };
    const query = { referrer_tag: 'unknown', ...names };
    assert.deepEqual(await ignoredOf('live', 'analytics', query), ['format', 'group_by', 'timezone']);
    assert.deepEqual(await ignoredOf('test', 'analytics', query), ['referrer_tag', ...Object.keys(names)]);
    for (const mode of ['live', 'test'] as const) {
      assert.equal(await ignoredOf(mode, 'analytics', { referrer_tag: 'known' }), undefined);
    }
    assert.deepEqual(await ignoredOf('live', 'tags', names), ['format', 'group_by', 'timezone']);
    const spellings = {
      groupBy: 'device',
      'time-zone': 'UTC',
      dateFrom: '2026-05-01',
      Since: '2026-05-01',
      note: 'mine',
    };
    const misread = ['groupBy', 'time-zone', 'dateFrom', 'Since'];
    assert.deepEqual(await ignoredOf('live', 'analytics', { referrer_tag: 'known', ...spellings }), misread);
    // GET /tags has no filters.
    const filters = { referrer_tag: 'known', date_from: '2026-05-01', granularity: 'row' };
    assert.deepEqual(await ignoredOf('live', 'tags', { ...filters, limit: '5' }), Object.keys(filters));
    assert.deepEqual(await ignoredOf('test', 'tags', names), Object.keys(names));
  });
});
