import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  AnalyticsUnavailable,
  type DayMetrics,
  type RowsPage,
  type SessionRow,
  type SummaryResult,
} from '../../src/analytics/analytics.ts';
import { isoDate, parseIsoDate } from '../../src/domain/calendar.ts';
import { invalidRequest } from '../../src/domain/outcome.ts';
import { PageCursors } from '../../src/ids/page-cursor.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import type { DailyView, RowsView, SummaryView } from '../../src/operations/analytics-views.ts';
import { type AnalyticsRequest, queryAnalytics } from '../../src/operations/query-analytics.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { CannedAnalytics, noFigures, noWidgetEvents } from '../support/canned-analytics.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ringOf } from '../support/secrets.ts';
import { liveTenant, testTenant } from '../support/tenants.ts';

const referrer_tag = 'experiment-1';
const day = (text: string): number => parseIsoDate(text)!;
const noEvents = {
  widget_loaded: 0,
  offers_rendered: 0,
  offer_impression: 0,
  offer_details_opened: 0,
  disclosure_opened: 0,
  offer_click: 0,
  widget_error: 0,
};

class Bench {
  /** Noon of 2026-05-20. */
  readonly clock = new ManualClock();
  readonly subIds = new SubIds(ringOf('ours'), new RandomPool());
  readonly pageCursors = new PageCursors(ringOf('ours'));
  readonly analytics = new CannedAnalytics();

  issue(tenant: Tenant = liveTenant): string {
    return this.subIds.issue(this.clock.wallMs(), tenant.account, tenant.vertical.number, tenant.mode);
  }

  ask(request: AnalyticsRequest, tenant: Tenant = liveTenant) {
    const { clock, subIds, analytics, pageCursors } = this;
    analytics.asked = null;
    analytics.askedForRows = null;
    return queryAnalytics({ clock, subIds, analytics, pageCursors }, tenant, request);
  }

  async verdict(request: AnalyticsRequest): Promise<string> {
    const outcome = await this.ask(request);
    if (outcome.ok) return 'ok';
    assert.deepEqual([this.analytics.asked, this.analytics.askedForRows], [null, null]);
    const { code, param } = outcome.refusal;
    return param === undefined ? code : `${code} ${param}`;
  }

  /** The question a valid request comes to. */
  async question(request: AnalyticsRequest, tenant: Tenant = liveTenant) {
    const outcome = await this.ask(request, tenant);
    assert(outcome.ok, JSON.stringify(outcome));
    return this.analytics.asked!;
  }

  /** The answer where the aggregator has these figures. */
  async answer(figures: Partial<SummaryResult>, request: AnalyticsRequest = { referrer_tag }) {
    this.analytics.figures = { ...this.analytics.figures, ...figures };
    const outcome = await this.ask(request);
    assert(outcome.ok, JSON.stringify(outcome));
    return outcome.value as SummaryView;
  }

  /** A page of days where the aggregator has these. */
  async days(request: AnalyticsRequest = {}, days: readonly DayMetrics[] = []) {
    this.analytics.days = days;
    const outcome = await this.ask({ referrer_tag, granularity: 'daily', ...request });
    assert(outcome.ok, JSON.stringify(outcome));
    return outcome.value as DailyView;
  }

  /** A page of sessions where the aggregator has this one. */
  async rows(request: AnalyticsRequest = {}, page: Partial<RowsPage> = {}) {
    this.analytics.page = { rows: [], retainedFromDay: 0, nextAfterPosition: null, ...page };
    const outcome = await this.ask({ referrer_tag, granularity: 'row', ...request });
    assert(outcome.ok, JSON.stringify(outcome));
    return outcome.value as RowsView;
  }
}

describe('the filters of an analytics query', () => {
  it('must be given, one of them at least', async () => {
    assert.equal(await new Bench().verdict({ date_from: '2026-05-01' }), 'INVALID_REQUEST referrer_tag');
  });

  it('ask for the sessions of the caller only', async () => {
    const { account, vertical, mode } = await new Bench().question({ referrer_tag }, testTenant);
    assert.deepEqual({ account, vertical, mode }, { account: 42, vertical: 1, mode: 'test' });
  });

  it('may be a tag alone, which the answer echoes', async () => {
    const bench = new Bench();
    const { referrerTag, subs } = await bench.question({ referrer_tag });
    assert.deepEqual({ referrerTag, subs }, { referrerTag: referrer_tag, subs: null });
    assert.equal((await bench.answer({})).referrer_tag, referrer_tag);
  });

  it('may be ids alone, and then the answer echoes no tag', async () => {
    const bench = new Bench();
    const id = bench.issue();
    const { referrerTag, subs } = await bench.question({ sub_id_list: id });
    assert.equal(referrerTag, null);
    assert.deepEqual(subs, [Uint8Array.from(bench.subIds.toBytes(id))]);
    assert.equal((await bench.answer({}, { sub_id_list: id })).referrer_tag, null);
  });

  it('may be both, for their intersection', async () => {
    const bench = new Bench();
    const { referrerTag, subs } = await bench.question({ referrer_tag, sub_id_list: bench.issue() });
    assert.equal(referrerTag, referrer_tag);
    assert.equal(subs?.length, 1);
  });

  it('refuse a tag that is off the pattern, though ids are given too', async () => {
    const bench = new Bench();
    for (const tag of ['', 'ab', 'UPPER', 'a b c', 'a'.repeat(65)]) {
      assert.equal(await bench.verdict({ referrer_tag: tag, sub_id_list: bench.issue() }), 'INVALID_REFERRER_TAG');
    }
  });

  it('pass over ids that are malformed, forged, or not of the same account, vertical and mode', async () => {
    const bench = new Bench();
    const own = bench.issue();
    const forged = own.slice(0, -1) + (own.endsWith('0') ? '1' : '0');
    const list = [
      '',
      'x',
      forged,
      own.toUpperCase(),
      ` ${own}`,
      bench.issue(testTenant),
      bench.issue({ ...liveTenant, account: 43 }),
      bench.issue({ ...liveTenant, vertical: { ...liveTenant.vertical, number: 2 } }),
      own,
    ];
    const { subs } = await bench.question({ sub_id_list: list.join(',') });
    assert.deepEqual(subs, [Uint8Array.from(bench.subIds.toBytes(own))]);
  });

  it('ask for no session at all when no listed id is the caller’s', async () => {
    for (const sub_id_list of ['', ',', 'nonsense', ',,,']) {
      assert.deepEqual((await new Bench().question({ sub_id_list })).subs, []);
    }
  });

  it('ask for an id that is listed twice once', async () => {
    const bench = new Bench();
    const [one, other] = [bench.issue(), bench.issue()];
    const { subs } = await bench.question({ sub_id_list: [one, other, one, one].join(',') });
    assert.deepEqual(
      subs,
      [one, other].map((id) => Uint8Array.from(bench.subIds.toBytes(id))),
    );
  });

  it('take an id whose session is long expired', async () => {
    const bench = new Bench();
    const old = bench.issue();
    bench.clock.advance(400 * 86_400_000);
    assert.equal((await bench.question({ sub_id_list: old })).subs?.length, 1);
  });

  it('take 500 ids, and no more, counted as sent', async () => {
    const bench = new Bench();
    const ids = Array.from({ length: 500 }, () => bench.issue());
    assert.equal((await bench.question({ sub_id_list: ids.join(',') })).subs?.length, 500);
    const id = ids[0]!;
    assert.equal(await bench.verdict({ sub_id_list: [...ids, id].join(',') }), 'INVALID_REQUEST sub_id_list');
    assert.equal(await bench.verdict({ sub_id_list: `${ids.join(',')},` }), 'INVALID_REQUEST sub_id_list');
    assert.equal(await bench.verdict({ sub_id_list: ','.repeat(500) }), 'INVALID_REQUEST sub_id_list');
  });
});

describe('the dates of an analytics query', () => {
  const window = async (request: AnalyticsRequest) => {
    const { fromDay, toDay, today } = await new Bench().question({ referrer_tag, ...request });
    assert.equal(isoDate(today), '2026-05-20');
    return [isoDate(fromDay), isoDate(toDay)];
  };

  it('are the last thirty days and today when none is given', async () => {
    assert.deepEqual(await window({}), ['2026-04-20', '2026-05-20']);
  });

  it('last until today when only the first is given', async () => {
    assert.deepEqual(await window({ date_from: '2025-01-01' }), ['2025-01-01', '2026-05-20']);
    assert.deepEqual(await window({ date_from: '2026-05-20' }), ['2026-05-20', '2026-05-20']);
  });

  it('begin thirty days before the last when only that is given', async () => {
    assert.deepEqual(await window({ date_to: '2026-03-15' }), ['2026-02-13', '2026-03-15']);
    assert.deepEqual(await window({ date_to: '2024-03-15' }), ['2024-02-14', '2024-03-15']);
    assert.deepEqual(await window({ date_to: '2027-01-01' }), ['2026-12-02', '2027-01-01']);
  });

  it('may be one day, and any days in order', async () => {
    assert.deepEqual(await window({ date_from: '2026-05-01', date_to: '2026-05-01' }), ['2026-05-01', '2026-05-01']);
    assert.deepEqual(await window({ date_from: '0001-01-01', date_to: '9999-12-31' }), ['0001-01-01', '9999-12-31']);
  });

  it('are refused when reversed, also against a date that is not given', async () => {
    const bench = new Bench();
    const reversed = { date_from: '2026-05-02', date_to: '2026-05-01' };
    assert.equal(await bench.verdict({ referrer_tag, ...reversed }), 'INVALID_REQUEST date_from');
    assert.equal(await bench.verdict({ referrer_tag, date_from: '2026-05-21' }), 'INVALID_REQUEST date_from');
  });

  it('are refused when they are no dates', async () => {
    const bench = new Bench();
    for (const text of [
      '',
      '2026-02-30',
      '2026-5-1',
      '20260501',
      'today',
      '2026-05-01T00:00:00Z',
      '2026-05-01 ',
      '0000-01-01',
    ]) {
      assert.equal(await bench.verdict({ referrer_tag, date_from: text }), 'INVALID_REQUEST date_from');
      assert.equal(await bench.verdict({ referrer_tag, date_to: text }), 'INVALID_REQUEST date_to');
    }
  });

  it('are echoed as they were resolved', async () => {
    const { date_from, date_to } = await new Bench().answer({}, { referrer_tag, date_to: '0001-01-15' });
    assert.deepEqual([date_from, date_to], ['0000-12-16', '0001-01-15']);
  });

  it('mean UTC days, whatever the hour', async () => {
    const bench = new Bench();
    bench.clock.setWall(Date.UTC(2026, 4, 20, 23, 59, 59, 999));
    assert.equal((await bench.question({ referrer_tag })).toDay, day('2026-05-20'));
    bench.clock.advance(1);
    assert.equal((await bench.question({ referrer_tag })).toDay, day('2026-05-21'));
  });
});

describe('the granularity of an analytics query', () => {
  it('is summary, given or not', async () => {
    const bench = new Bench();
    assert.equal(await bench.verdict({ referrer_tag, granularity: 'summary' }), 'ok');
    assert.equal((await bench.answer({})).granularity, 'summary');
  });

  it('is nothing else but daily and row', async () => {
    for (const granularity of ['daily', 'row']) {
      assert.equal(await new Bench().verdict({ referrer_tag, granularity }), 'ok');
    }
    for (const granularity of ['', 'rows', 'Summary', 'weekly', 'constructor']) {
      assert.equal(await new Bench().verdict({ referrer_tag, granularity }), 'INVALID_REQUEST granularity');
    }
  });
});

describe('the summary', () => {
  it('is all zeros and nulls where nothing happened', async () => {
    assert.deepEqual(await new Bench().answer({}), {
      referrer_tag,
      sessions_total: 0,
      marketplace_views: 0,
      offer_clicks: 0,
      click_rate: 0,
      rev_attributed: 0,
      rev_confirmed: 0,
      rev_per_session: 0,
      top_lenders: [],
      granularity: 'summary',
      date_from: '2026-04-20',
      date_to: '2026-05-20',
      ids_outside_dates: 0,
      matured_from: '2025-11-21',
      matured_to: '2026-04-04',
      sessions_matured: 0,
      rev_per_session_matured: null,
      rev_per_session_ci95: null,
      by_device: {},
      widget_events: noEvents,
      sessions_kept_from: null,
      as_of: null,
    });
  });

  it('answers money in dollars, and ratios to six decimals', async () => {
    const view = await new Bench().answer({
      sessions: 3,
      views: 7,
      clicks: 2,
      attributedMicros: 12_345_678,
      confirmedMicros: 100_000_000,
    });
    assert.equal(view.sessions_total, 3);
    assert.equal(view.marketplace_views, 7);
    assert.equal(view.offer_clicks, 2);
    assert.equal(view.click_rate, 0.285714);
    assert.equal(view.rev_attributed, 12.35);
    assert.equal(view.rev_confirmed, 100);
    assert.equal(view.rev_per_session, 33.333333);
  });

  it('has a click rate and a revenue per session that follow from its other figures', async () => {
    const bench = new Bench();
    const count = fc.integer({ min: 0, max: 1_000_000 });
    const cents = fc.integer({ min: 0, max: 1_000_000_000 });
    await fc.assert(
      fc.asyncProperty(count, count, count, cents, async (sessions, views, clicks, confirmed) => {
        const view = await bench.answer({ sessions, views, clicks, confirmedMicros: confirmed * 10_000 });
        const [rate, revenue] = [views === 0 ? 0 : clicks / views, sessions === 0 ? 0 : confirmed / 100 / sessions];
        assert(Math.abs(view.click_rate - rate) <= 0.5000001e-6 + rate * 1e-15);
        assert(Math.abs(view.rev_per_session - revenue) <= 0.5000001e-6 + revenue * 1e-15);
      }),
    );
  });

  it('names the lenders as the aggregator ranks them', async () => {
    const { top_lenders } = await new Bench().answer({
      topLenders: [
        { lender: 'Beta', clicks: 2, confirmedMicros: 1_500_000 },
        { lender: 'Alpha', clicks: 1, confirmedMicros: 0 },
      ],
    });
    assert.deepEqual(top_lenders, [
      { lender: 'Beta', clicks: 2, rev_confirmed: 1.5 },
      { lender: 'Alpha', clicks: 1, rev_confirmed: 0 },
    ]);
  });

  it('has the same figures for each device', async () => {
    const { by_device } = await new Bench().answer({
      byDevice: [0, 1, 2, 3, 4].map((device) => ({ ...noFigures, device, sessions: device + 1, views: 4, clicks: 1 })),
    });
    assert.deepEqual(Object.keys(by_device).sort(), ['bot', 'desktop', 'mobile', 'tablet', 'unknown']);
    assert.deepEqual(by_device.tablet, {
      sessions_total: 4,
      marketplace_views: 4,
      offer_clicks: 1,
      click_rate: 0.25,
      rev_attributed: 0,
      rev_confirmed: 0,
      rev_per_session: 0,
    });
  });

  it('names what widgets told by type', async () => {
    const { widget_events } = await new Bench().answer({ widgetEvents: [7, 6, 5, 4, 3, 2, 1] });
    assert.deepEqual(widget_events, {
      widget_loaded: 7,
      offers_rendered: 6,
      offer_impression: 5,
      offer_details_opened: 4,
      disclosure_opened: 3,
      offer_click: 2,
      widget_error: 1,
    });
  });

  it('says how far it has followed the log, and how many ids lie outside its dates', async () => {
    const view = await new Bench().answer({ asOfMs: Date.UTC(2026, 4, 20, 11, 59, 59, 123), subsOutsideDates: 4 });
    assert.equal(view.as_of, '2026-05-20T11:59:59.123Z');
    assert.equal(view.ids_outside_dates, 4);
  });

  it('has the revenue of matured sessions as soon as there is one', async () => {
    const view = await new Bench().answer({
      matured: { sessions: 3, confirmedMicros: 10_000_000, confirmedUsdSquared: 100 },
    });
    assert.equal(view.sessions_matured, 3);
    assert.equal(view.rev_per_session_matured, 3.333333);
  });

  it('has a confidence interval over thirty matured sessions, and not over twenty-nine', async () => {
    const bench = new Bench();
    // Ten sessions of 30 dollars among thirty: mean 10, sum of squares 9,000, sample variance 6,000 / 29.
    const matured = { sessions: 30, confirmedMicros: 300_000_000, confirmedUsdSquared: 9_000 };
    const { rev_per_session_ci95 } = await bench.answer({ matured });
    const margin = 1.96 * Math.sqrt(6_000 / 29 / 30);
    assert(Math.abs(rev_per_session_ci95!.low - (10 - margin)) < 1e-6);
    assert(Math.abs(rev_per_session_ci95!.high - (10 + margin)) < 1e-6);
    const few = await bench.answer({ matured: { ...matured, sessions: 29 } });
    assert.equal(few.rev_per_session_ci95, null);
  });

  it('has a confidence interval without width where every session earned the same', async () => {
    const { rev_per_session_ci95 } = await new Bench().answer({
      matured: { sessions: 40, confirmedMicros: 40 * 100_000, confirmedUsdSquared: 40 * 0.01 },
    });
    assert.deepEqual(rev_per_session_ci95, { low: 0.1, high: 0.1 });
  });
});

describe('the days', () => {
  it('are answered one by one, with the figures of each', async () => {
    const none = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };
    const [first, second] = [day('2026-05-01'), day('2026-05-02')];
    const view = await new Bench().days({ date_from: '2026-05-01', date_to: '2026-05-02' }, [
      {
        day: first,
        sessions: 3,
        views: 7,
        clicks: 2,
        attributedMicros: 12_345_678,
        confirmedMicros: 100_000_000,
        widgetEvents: [1, 0, 0, 0, 0, 0, 2],
        matured: true,
      },
      { day: second, ...none, widgetEvents: noWidgetEvents, matured: false },
    ]);
    assert.deepEqual(view, {
      referrer_tag,
      granularity: 'daily',
      date_from: '2026-05-01',
      date_to: '2026-05-02',
      data: [
        {
          date: '2026-05-01',
          sessions_total: 3,
          marketplace_views: 7,
          offer_clicks: 2,
          click_rate: 0.285714,
          rev_attributed: 12.35,
          rev_confirmed: 100,
          rev_per_session: 33.333333,
          widget_events: { ...noEvents, widget_loaded: 1, widget_error: 2 },
          matured: true,
        },
        {
          date: '2026-05-02',
          sessions_total: 0,
          marketplace_views: 0,
          offer_clicks: 0,
          click_rate: 0,
          rev_attributed: 0,
          rev_confirmed: 0,
          rev_per_session: 0,
          widget_events: noEvents,
          matured: false,
        },
      ],
      sessions_kept_from: null,
      has_more: false,
      next_cursor: null,
    });
  });

  it('are asked for a page at a time, together all of the window and each once', async () => {
    const window = fc.record({
      first: fc.integer({ min: -700_000, max: 2_900_000 }),
      days: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(window, fc.integer({ min: 1, max: 12 }), async ({ first, days }, limit) => {
        const bench = new Bench();
        const dates = { date_from: isoDate(first), date_to: isoDate(first + days - 1) };
        const asked: number[] = [];
        let cursor: string | undefined;
        do {
          const page = await bench.days({ ...(cursor === undefined && dates), limit: String(limit), cursor });
          assert.deepEqual([page.date_from, page.date_to], [dates.date_from, dates.date_to]);
          assert.equal(page.has_more, page.next_cursor !== null);
          const { fromDay, toDay } = bench.analytics.asked!;
          assert(toDay - fromDay < limit);
          for (let each = fromDay; each <= toDay; each++) asked.push(each);
          assert(asked.length <= days);
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
        assert.deepEqual(
          asked,
          Array.from({ length: days }, (_, at) => first + at),
        );
      }),
    );
  });

  it('are a hundred to a page, unless fewer are asked for', async () => {
    const bench = new Bench();
    const page = await bench.days({ date_from: '0001-01-01', date_to: '9999-12-31' });
    assert.equal(page.has_more, true);
    const { fromDay, toDay } = bench.analytics.asked!;
    assert.deepEqual([isoDate(fromDay), toDay - fromDay + 1], ['0001-01-01', 100]);
  });
});

describe('the rows', () => {
  const row = (bench: Bench, more: Partial<SessionRow> = {}, tenant: Tenant = liveTenant): SessionRow => ({
    sub: Uint8Array.from(bench.subIds.toBytes(bench.issue(tenant))),
    referrerTag: 'experiment-2',
    device: 2,
    metadata: '{"page":"b","bid":1.5,"test":true,"none":null}',
    views: 3,
    clicks: 2,
    attributedMicros: 12_345_678,
    confirmedMicros: 100_000_000,
    lastEventMs: Date.UTC(2026, 4, 20, 13, 14, 15, 16),
    lenders: [
      { lender: 'Beta', clicks: 1, confirmedMicros: 100_000_000 },
      { lender: 'Gamma', clicks: 1, confirmedMicros: 0 },
    ],
    ...more,
  });

  it('tell of each session whatever the ledger knows of it', async () => {
    const bench = new Bench();
    const one = row(bench);
    const view = await bench.rows({}, { rows: [one] });
    assert.deepEqual(view, {
      referrer_tag,
      granularity: 'row',
      date_from: '2026-04-20',
      date_to: '2026-05-20',
      data: [
        {
          sub_id: `sub_${Buffer.from(one.sub).toString('hex')}`,
          referrer_tag: 'experiment-2',
          created_at: '2026-05-20T12:00:00.000Z',
          sandbox: false,
          device: 'mobile',
          metadata: { page: 'b', bid: 1.5, test: true, none: null },
          marketplace_views: 3,
          offer_clicks: 2,
          rev_attributed: 12.35,
          rev_confirmed: 100,
          last_event_at: '2026-05-20T13:14:15.016Z',
          lenders: [
            { lender: 'Beta', clicks: 1, rev_confirmed: 100 },
            { lender: 'Gamma', clicks: 1, rev_confirmed: 0 },
          ],
        },
      ],
      sessions_kept_from: null,
      has_more: false,
      next_cursor: null,
    });
  });

  it('say which sessions are of the sandbox', async () => {
    const bench = new Bench();
    const { data } = await bench.rows({}, { rows: [row(bench, {}, testTenant)] });
    assert.equal(data[0]?.sandbox, true);
  });

  it('have no metadata where there is none, nor where the ledger holds no object', async () => {
    const bench = new Bench();
    const texts = [null, '', '{', '[1]', '5', '"text"', 'null', '{}'];
    const { data } = await bench.rows({}, { rows: texts.map((metadata) => row(bench, { metadata })) });
    assert.deepEqual(
      data.map(({ metadata }) => metadata),
      [...texts.slice(1).map(() => null), {}],
    );
  });

  it('are asked for from the ledger’s beginning, and go on after the last one answered', async () => {
    const bench = new Bench();
    const first = await bench.rows({ limit: '7' }, { nextAfterPosition: 4_711 });
    const { afterPosition, limit } = bench.analytics.askedForRows!;
    assert.deepEqual([afterPosition, limit, first.has_more], [0, 7, true]);
    const second = await bench.rows({ cursor: first.next_cursor! });
    assert.deepEqual([bench.analytics.askedForRows!.afterPosition, bench.analytics.askedForRows!.limit], [4_711, 100]);
    assert.deepEqual([second.has_more, second.next_cursor], [false, null]);
  });
});

describe('the pages of an analytics query', () => {
  const paged = ['daily', 'row'] as const;
  const cursorOf = async (bench: Bench, request: AnalyticsRequest): Promise<string> => {
    bench.analytics.page = { rows: [], retainedFromDay: 0, nextAfterPosition: 9 };
    const outcome = await bench.ask({ limit: '1', ...request });
    assert(outcome.ok && 'next_cursor' in outcome.value);
    return outcome.value.next_cursor!;
  };

  it('hold one to a hundred', async () => {
    const bench = new Bench();
    for (const granularity of paged) {
      for (const limit of ['1', '10', '99', '100']) {
        assert.equal(await bench.verdict({ referrer_tag, granularity, limit }), 'ok');
      }
      for (const limit of ['', '0', '-1', '101', '1000', '1.5', '1e1', '01', ' 1', '+1', 'ten', '١']) {
        assert.equal(await bench.verdict({ referrer_tag, granularity, limit }), 'INVALID_REQUEST limit');
      }
    }
  });

  it('are none of a summary', async () => {
    const bench = new Bench();
    const cursor = await cursorOf(bench, { referrer_tag, granularity: 'row' });
    assert.equal(await bench.verdict({ referrer_tag, limit: '5' }), 'INVALID_REQUEST limit');
    assert.equal(await bench.verdict({ referrer_tag, cursor }), 'INVALID_REQUEST cursor');
    assert.equal(await bench.verdict({ referrer_tag, granularity: 'summary', cursor }), 'INVALID_REQUEST cursor');
  });

  it('go on over midnight with the window they began with', async () => {
    for (const granularity of paged) {
      const bench = new Bench();
      const cursor = await cursorOf(bench, { referrer_tag, granularity });
      bench.clock.advance(86_400_000);
      const outcome = await bench.ask({ referrer_tag, granularity, cursor });
      assert(outcome.ok);
      const { date_from, date_to } = outcome.value;
      assert.deepEqual([date_from, date_to], ['2026-04-20', '2026-05-20']);
    }
  });

  it('take the dates again, or one of them, or none, but no others', async () => {
    for (const granularity of paged) {
      const bench = new Bench();
      const cursor = await cursorOf(bench, { referrer_tag, granularity, date_to: '2026-05-10' });
      const verdict = (dates: AnalyticsRequest) => bench.verdict({ referrer_tag, granularity, cursor, ...dates });
      const [date_from, date_to] = ['2026-04-10', '2026-05-10'];
      for (const dates of [{}, { date_from }, { date_to }, { date_from, date_to }]) {
        assert.equal(await verdict(dates), 'ok');
      }
      for (const dates of [
        { date_from: '2026-04-11', date_to },
        { date_to: '2026-05-20' },
        { date_from: '2026-05-11' },
      ]) {
        assert.equal(await verdict(dates), 'INVALID_REQUEST cursor');
      }
      assert.equal(await verdict({ date_from: 'then' }), 'INVALID_REQUEST date_from');
    }
  });

  it('take no cursor of another query', async () => {
    const bench = new Bench();
    const [one, other] = [bench.issue(), bench.issue()];
    const requests: AnalyticsRequest[] = paged.flatMap((granularity) => [
      { granularity, referrer_tag },
      { granularity, referrer_tag: 'experiment-2' },
      { granularity, sub_id_list: one },
      { granularity, sub_id_list: `${one},${other}` },
      { granularity, sub_id_list: '' },
      { granularity, referrer_tag, sub_id_list: one },
      { granularity, referrer_tag, sub_id_list: '' },
    ]);
    for (const issuedFor of requests) {
      const cursor = await cursorOf(bench, issuedFor);
      for (const request of requests) {
        const expected = request === issuedFor ? 'ok' : 'INVALID_REQUEST cursor';
        assert.equal(await bench.verdict({ ...request, cursor }), expected);
      }
    }
  });

  it('take ids in another order, and with strays among them that count nothing', async () => {
    const bench = new Bench();
    const [one, other] = [bench.issue(), bench.issue()];
    const cursor = await cursorOf(bench, { granularity: 'row', sub_id_list: `${one},${other}` });
    const sub_id_list = [other, 'stray', one, one].join(',');
    assert.equal(await bench.verdict({ granularity: 'row', sub_id_list, cursor }), 'ok');
  });

  it('take no cursor of another account, vertical or mode', async () => {
    const bench = new Bench();
    const cursor = await cursorOf(bench, { referrer_tag, granularity: 'row' });
    const others: Tenant[] = [
      testTenant,
      { ...liveTenant, account: 43 },
      { ...liveTenant, vertical: { ...liveTenant.vertical, number: 2 } },
    ];
    for (const tenant of others) {
      const outcome = await bench.ask({ referrer_tag, granularity: 'row', cursor }, tenant);
      assert.deepEqual(outcome, invalidRequest('cursor'));
    }
  });
});

describe('an analytics query', () => {
  const granularities = ['summary', 'daily', 'row'];

  it('is unavailable while the aggregator is', async () => {
    const bench = new Bench();
    bench.analytics.fault = new AnalyticsUnavailable('gone');
    for (const granularity of granularities) {
      const outcome = await bench.ask({ referrer_tag, granularity });
      assert.deepEqual(outcome, { ok: false, refusal: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } });
    }
  });

  it('lets any other fault through, as the bug it is', async () => {
    const bench = new Bench();
    bench.analytics.fault = new TypeError('a bug');
    for (const granularity of granularities) await assert.rejects(bench.ask({ referrer_tag, granularity }), TypeError);
  });
});
