import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnalyticsSummary, SessionRowsResponse } from '../../src/index.ts';
import { assertError, assertOk, assertTimestamp } from '../support/api-caller.ts';
import { describePersonalLoans } from '../support/contract-suite.ts';
import { echoMarker } from '../support/http-client.ts';
import { totalClickUsd } from '../support/vertical-fixture.ts';

const dayMs = 24 * 60 * 60 * 1000;
const isoDate = (ms: number) => new Date(ms).toISOString().slice(0, 10);

const phone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1';

/** Other tests check members, filters, dates, pages and totals: test/operations/query-analytics.test.ts and test/analytics. */
describePersonalLoans('GET /analytics', (door) => {
  test('returns a summary and daily figures for the sessions of a referrer tag', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
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
    const { market, fixture } = door;
    const caller = market.caller(fixture);
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

  test('summary, daily and row queries include every event whose response was sent before the query', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture);
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

  test('accepts 500 sub_ids separated by plain or encoded commas, and rejects 501', async () => {
    const { market, fixture } = door;
    const caller = market.caller(fixture, { limits: { requestsPerMinute: 100_000, sessionsPerDay: 100_000 } });
    const created = Array.from({ length: 500 }, () => caller.createSession('five-hundred'));
    const ids = (await Promise.all(created)).map(({ sub_id: id }) => id);
    for (const comma of ['%2C', '%2c', ',']) {
      const answer = await caller.get('analytics', `sub_id_list=${ids.join(comma)}`);
      assert.equal(assertOk<AnalyticsSummary>(answer).sessions_total, 500, comma);
    }
    const tooMany = `sub_id_list=${[...ids, echoMarker].join(',')}`;
    assertError(await caller.get('analytics', tooMany), 'INVALID_REQUEST', 'sub_id_list');
  });

  test('rejects missing, invalid and repeated parameters, without the parameter values in the error', async () => {
    const caller = door.market.caller(door.fixture);
    const tag = 'referrer_tag=abc';
    assertError(await caller.get('analytics', 'granularity=summary'), 'INVALID_REQUEST', 'referrer_tag');
    assertError(await caller.get('analytics', { referrer_tag: `${echoMarker}!` }), 'INVALID_REFERRER_TAG');
    for (const param of ['date_from', 'date_to', 'granularity', 'limit', 'cursor']) {
      assertError(await caller.get('analytics', `${tag}&${param}=${echoMarker}`), 'INVALID_REQUEST', param);
    }
    const pairs = [tag, 'sub_id_list=x', 'date_from=2026-01-01', 'date_to=2026-01-01'];
    for (const pair of [...pairs, 'granularity=row', 'limit=5', 'cursor=x']) {
      const answer = await caller.get('analytics', `${tag}&${pair}&${pair}`);
      assertError(answer, 'INVALID_REQUEST', pair.slice(0, pair.indexOf('=')));
    }
  });
});
