import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  AnalyticsUnavailableError,
  type DayMetrics,
  type SessionRow,
  type SessionRowsPage,
  type SummaryResult,
} from '../../src/analytics/analytics.ts';
import { ReadOnlyAnalytics } from '../../src/analytics/read-only-analytics.ts';
import type { CompiledCatalog } from '../../src/catalogs/compile-catalog.ts';
import { formatIsoDate, parseIsoDate } from '../../src/domain/calendar.ts';
import { usdToExactMicros } from '../../src/domain/money.ts';
import type { Tenant } from '../../src/domain/tenant.ts';
import { PageCursors } from '../../src/ids/cursors.ts';
import { SubIds } from '../../src/ids/sub-id.ts';
import { type DeviceClass, deviceClasses } from '../../src/ledger/ledger-record.ts';
import type {
  AnalyticsSummary,
  DailyAnalytics,
  OfferAnalytics,
  SessionRowsResponse,
} from '../../src/operations/analytics-schemas.ts';
import { queryAnalytics } from '../../src/operations/query-analytics.ts';
import type { ParameterTexts } from '../../src/operations/request-members.ts';
import { RandomBytesPool } from '../../src/secrets/random-pool.ts';
import { builtInVerticals } from '../../src/verticals/built-in-verticals.ts';
import { ProjectedStore } from '../analytics/projected-store.ts';
import { CannedAnalytics, noFigures, noUnbookedClicks, noWidgetEvents } from '../support/canned-analytics.ts';
import { liveTenant, secretSetOf, testTenant } from '../support/identities.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { callOperation, verdictOf } from './bench.ts';

const referrer_tag = 'experiment-1';
const day = (text: string): number => parseIsoDate(text)!;
const allBooked = { cap: 0, budget: 0, too_fast: 0, too_many_offers: 0 };
const noEvents = {
  widget_loaded: 0,
  offers_rendered: 0,
  offer_impression: 0,
  offer_details_opened: 0,
  disclosure_opened: 0,
  offer_click: 0,
  widget_error: 0,
};
const zeroMetrics = {
  sessions_total: 0,
  marketplace_views: 0,
  offer_clicks: 0,
  click_rate: 0,
  rev_attributed: 0,
  rev_confirmed: 0,
  rev_per_session: 0,
};

class Bench {
  /** Noon of 2026-05-20. */
  readonly clock = new ManualClock();
  readonly subIds = new SubIds(secretSetOf('ours'), new RandomBytesPool());
  readonly pageCursors = new PageCursors(secretSetOf('ours'));
  readonly analytics = new CannedAnalytics();
  /** A catalog with one offer. */
  readonly catalogs = {
    currentCatalog: () =>
      ({
        offers: [{ lenderName: 'Current lender' }],
        findOfferIndex: (id: string) => (id === 'in-catalog' ? 0 : -1),
      }) as unknown as CompiledCatalog,
  };

  issue(tenant: Tenant = liveTenant): string {
    return this.subIds.createSubId(this.clock.wallMs(), tenant.account, tenant.vertical.number, tenant.mode);
  }

  bytesOf(...ids: readonly string[]): Uint8Array[] {
    return ids.map((id) => Uint8Array.from(this.subIds.toBytes(id)));
  }

  query(request: ParameterTexts, tenant: Tenant = liveTenant) {
    const { clock, subIds, analytics, pageCursors, catalogs } = this;
    analytics.lastQuery = null;
    analytics.lastRowsQuery = null;
    return callOperation(queryAnalytics, { clock, subIds, analytics, pageCursors, catalogs }, tenant, {
      texts: request,
    });
  }

  async outcome(request: ParameterTexts, tenant: Tenant = liveTenant): Promise<string> {
    const outcome = await this.query(request, tenant);
    if (!outcome.ok) assert.deepEqual([this.analytics.lastQuery, this.analytics.lastRowsQuery], [null, null]);
    return verdictOf(outcome);
  }

  async view<View>(request: ParameterTexts, tenant?: Tenant): Promise<View> {
    const outcome = await this.query(request, tenant);
    assert(outcome.ok, JSON.stringify(outcome));
    return outcome.value as View;
  }

  /** Runs a valid request and returns the query that the analytics store received. */
  async portQuery(request: ParameterTexts, tenant?: Tenant) {
    await this.view(request, tenant);
    return this.analytics.lastQuery!;
  }

  /** Returns the summary for these figures. */
  summary(figures: Partial<SummaryResult>, request: ParameterTexts = { referrer_tag }): Promise<AnalyticsSummary> {
    this.analytics.figures = { ...this.analytics.figures, ...figures };
    return this.view(request);
  }

  /** Returns the page for these days. */
  days(request: ParameterTexts = {}, days: readonly DayMetrics[] = []): Promise<DailyAnalytics> {
    this.analytics.days = days;
    return this.view({ referrer_tag, granularity: 'daily', ...request });
  }

  /** Returns the page for these rows. */
  rows(request: ParameterTexts = {}, page: Partial<SessionRowsPage> = {}): Promise<SessionRowsResponse> {
    this.analytics.page = { rows: [], retainedFromDay: 0, tagHasSessions: true, nextAfterPosition: null, ...page };
    return this.view({ referrer_tag, granularity: 'row', ...request });
  }
}

describe('filters of an analytics query', () => {
  it('requires a referrer tag or a list of sub_ids', async () => {
    assert.equal(await new Bench().outcome({ date_from: '2026-05-01' }), 'INVALID_REQUEST referrer_tag');
  });

  it('selects the sessions of the caller by tag, by sub_ids, or by both', async () => {
    const bench = new Bench();
    const sub_id_list = bench.issue(testTenant);
    for (const request of [{ referrer_tag }, { sub_id_list }, { referrer_tag, sub_id_list }]) {
      const { account, vertical, mode, referrerTag, subs } = await bench.portQuery(request, testTenant);
      const tag = 'referrer_tag' in request ? referrer_tag : null;
      assert.deepEqual([account, vertical, mode, referrerTag], [42, 1, 'test', tag]);
      assert.deepEqual(subs, 'sub_id_list' in request ? bench.bytesOf(sub_id_list) : null);
      assert.equal((await bench.view<AnalyticsSummary>(request)).referrer_tag, tag);
    }
  });

  it('rejects an invalid referrer tag, even if the query also has sub_ids', async () => {
    const bench = new Bench();
    for (const tag of ['', 'ab', 'UPPER', 'a b c', 'a'.repeat(65)]) {
      assert.equal(await bench.outcome({ referrer_tag: tag, sub_id_list: bench.issue() }), 'INVALID_REFERRER_TAG');
    }
  });

  it('ignores malformed and forged sub_ids, and sub_ids of another account, vertical or mode', async () => {
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
    ];
    assert.deepEqual((await bench.portQuery({ sub_id_list: [...list, own].join(',') })).subs, bench.bytesOf(own));
    for (const sub_id_list of ['x', ',', ',,,', list.join(',')]) {
      assert.deepEqual((await bench.portQuery({ sub_id_list })).subs, []);
    }
  });

  it('accepts sub_ids of expired sessions, and ignores repeated sub_ids', async () => {
    const bench = new Bench();
    const [one, other] = [bench.issue(), bench.issue()];
    bench.clock.advance(400 * 86_400_000);
    const { subs } = await bench.portQuery({ sub_id_list: [one, other, one, one].join(',') });
    assert.deepEqual(subs, bench.bytesOf(one, other));
  });

  it('accepts 1 to 500 sub_ids, including repeated and invalid ones', async () => {
    const bench = new Bench();
    const ids = Array.from({ length: 500 }, () => bench.issue());
    assert.equal((await bench.portQuery({ sub_id_list: ids.join(',') })).subs?.length, 500);
    for (const sub_id_list of ['', [...ids, ids[0]].join(','), `${ids.join(',')},`, ','.repeat(500)]) {
      assert.equal(await bench.outcome({ sub_id_list }), 'INVALID_REQUEST sub_id_list');
      assert.equal(await bench.outcome({ referrer_tag, sub_id_list }), 'INVALID_REQUEST sub_id_list');
    }
  });
});

describe('dates of an analytics query', () => {
  for (const [dates, from, to] of [
    [{}, '2026-04-20', '2026-05-20'],
    [{ date_from: '2025-01-01' }, '2025-01-01', '2026-05-20'],
    [{ date_from: '2026-05-20' }, '2026-05-20', '2026-05-20'],
    [{ date_to: '2026-03-15' }, '2026-02-13', '2026-03-15'],
    [{ date_to: '2024-03-15' }, '2024-02-14', '2024-03-15'],
    [{ date_to: '2027-01-01' }, '2026-04-20', '2027-01-01'],
    [{ date_to: '2026-05-10' }, '2026-04-20', '2026-05-10'],
    [{ date_to: '2026-04-20' }, '2026-04-20', '2026-04-20'],
    [{ date_to: '2026-04-19' }, '2026-03-20', '2026-04-19'],
    [{ date_to: '0001-01-15' }, '0000-12-16', '0001-01-15'],
    [{ date_from: '2026-05-01', date_to: '2026-05-01' }, '2026-05-01', '2026-05-01'],
    [{ date_from: '0001-01-01', date_to: '9999-12-31' }, '0001-01-01', '9999-12-31'],
  ] as const) {
    it(`the parameters ${JSON.stringify(dates)} select the days from ${from} to ${to}`, async () => {
      const bench = new Bench();
      const { date_from, date_to } = await bench.summary({}, { referrer_tag, ...dates });
      const { fromDay, toDay, today } = bench.analytics.lastQuery!;
      assert.deepEqual([date_from, date_to], [from, to]);
      assert.deepEqual([formatIsoDate(fromDay), formatIsoDate(toDay), formatIsoDate(today)], [from, to, '2026-05-20']);
    });
  }

  it('a query without dates counts the matured sessions of the last 180 days; other queries count sessions since date_from', async () => {
    for (const [dates, from] of [
      [{}, '2025-11-21'],
      [{ date_to: '2026-05-10' }, '2026-04-20'],
      [{ date_from: '2025-01-01' }, '2025-01-01'],
    ] as const) {
      const { maturedFromDay } = await new Bench().portQuery({ referrer_tag, ...dates });
      assert.equal(formatIsoDate(maturedFromDay!), from);
    }
    const { matured_from, matured_to } = await new Bench().summary({}, { referrer_tag, date_from: '2026-04-05' });
    assert.deepEqual([matured_from, matured_to], [null, null]);
  });

  it('rejects an invalid date, and rejects a date_from after date_to, even if date_to has its default value', async () => {
    const bench = new Bench();
    const invalid = ['', '2026-02-30', '2026-5-1', '20260501', 'today', '2026-05-01T00:00:00Z', '2026-05-01 '];
    for (const text of [...invalid, '0000-01-01']) {
      assert.equal(await bench.outcome({ referrer_tag, date_from: text }), 'INVALID_REQUEST date_from');
      assert.equal(await bench.outcome({ referrer_tag, date_to: text }), 'INVALID_REQUEST date_to');
    }
    for (const reversed of [{ date_from: '2026-05-02', date_to: '2026-05-01' }, { date_from: '2026-05-21' }]) {
      assert.equal(await bench.outcome({ referrer_tag, ...reversed }), 'INVALID_REQUEST date_from');
    }
  });

  it('without dates in the query, the date range ends on the current UTC day', async () => {
    const bench = new Bench();
    bench.clock.setWall(Date.UTC(2026, 4, 20, 23, 59, 59, 999));
    assert.equal((await bench.portQuery({ referrer_tag })).toDay, day('2026-05-20'));
    bench.clock.advance(1);
    assert.equal((await bench.portQuery({ referrer_tag })).toDay, day('2026-05-21'));
  });
});

it('granularity accepts only summary, daily, row and offer, and the default is summary', async () => {
  for (const granularity of ['summary', 'daily', 'row', 'offer']) {
    assert.equal((await new Bench().view<AnalyticsSummary>({ referrer_tag, granularity })).granularity, granularity);
  }
  assert.equal((await new Bench().summary({})).granularity, 'summary');
  for (const granularity of ['', 'rows', 'Summary', 'weekly', 'constructor']) {
    assert.equal(await new Bench().outcome({ referrer_tag, granularity }), 'INVALID_REQUEST granularity');
  }
});

it('reports the invalid parameter that is checked first, wherever the request contains it', async () => {
  const request: Record<string, string> = {
    cursor: 'x',
    limit: '0',
    date_from: 'then',
    date_to: 'now',
    granularity: 'weekly',
    sub_id_list: '',
    referrer_tag: 'A',
  };
  const reported: string[] = [];
  for (const name of Object.keys(request).reverse()) {
    reported.push(await new Bench().outcome(request));
    if (name === 'referrer_tag') request[name] = referrer_tag;
    else if (name === 'granularity') request[name] = 'row';
    else delete request[name];
  }
  assert.deepEqual(reported, [
    'INVALID_REFERRER_TAG',
    'INVALID_REQUEST sub_id_list',
    'INVALID_REQUEST granularity',
    'INVALID_REQUEST date_to',
    'INVALID_REQUEST date_from',
    'INVALID_REQUEST limit',
    'INVALID_REQUEST cursor',
  ]);
});

describe('summary of an analytics query', () => {
  it('a summary without sessions contains zeros and nulls', async () => {
    assert.deepEqual(await new Bench().summary({}), {
      referrer_tag,
      ...zeroMetrics,
      top_lenders: [],
      granularity: 'summary',
      date_from: '2026-04-20',
      date_to: '2026-05-20',
      ids_outside_dates: 0,
      bot_sessions: 0,
      matured: {
        from: '2025-11-21',
        to: '2026-04-04',
        sessions: 0,
        sessions_with_revenue: 0,
        rev_per_session: null,
        ci95: null,
      },
      matured_from: '2025-11-21',
      matured_to: '2026-04-04',
      sessions_matured: 0,
      rev_per_session_matured: null,
      rev_per_session_ci95: null,
      by_device: {},
      clicks_not_booked: allBooked,
      widget_events: noEvents,
      sessions_kept_from: null,
      as_of: null,
    });
  });

  it('a summary contains amounts in dollars, ratios with six decimals, and figures for each lender, device and widget event', async () => {
    const view = await new Bench().summary({
      sessions: 3,
      views: 7,
      clicks: 2,
      attributedMicros: 12_345_678,
      confirmedMicros: 100_000_000,
      topLenders: [
        { lender: 'Beta', clicks: 2, confirmedMicros: 1_500_000 },
        { lender: 'Alpha', clicks: 1, confirmedMicros: 0 },
      ],
      byDevice: [0, 1, 2, 3, 4].map((device) => ({ ...noFigures, device, sessions: device + 1, views: 4, clicks: 1 })),
      unbookedClicks: [4, 3, 2, 1],
      widgetEvents: [7, 6, 5, 4, 3, 2, 1],
      asOfMs: Date.UTC(2026, 4, 20, 11, 59, 59, 123),
      subsOutsideDates: 4,
    });
    assert.deepEqual([view.sessions_total, view.marketplace_views, view.offer_clicks], [3, 7, 2]);
    assert.deepEqual([view.click_rate, view.rev_per_session], [0.285714, 33.333333]);
    assert.deepEqual([view.rev_attributed, view.rev_confirmed], [12.345678, 100]);
    assert.deepEqual([view.as_of, view.ids_outside_dates], ['2026-05-20T11:59:59.123Z', 4]);
    assert.deepEqual(view.top_lenders, [
      { lender: 'Beta', clicks: 2, rev_confirmed: 1.5, rev_confirmed_per_click: 0.75 },
      { lender: 'Alpha', clicks: 1, rev_confirmed: 0, rev_confirmed_per_click: 0 },
    ]);
    assert.deepEqual(Object.keys(view.by_device).sort(), ['bot', 'desktop', 'mobile', 'tablet', 'unknown']);
    const tablet = { ...zeroMetrics, sessions_total: 4, marketplace_views: 4, offer_clicks: 1, click_rate: 0.25 };
    assert.deepEqual(view.by_device.tablet, tablet);
    assert.deepEqual(view.clicks_not_booked, { cap: 4, budget: 3, too_fast: 2, too_many_offers: 1 });
    assert.deepEqual(view.widget_events, {
      widget_loaded: 7,
      offers_rendered: 6,
      offer_impression: 5,
      offer_details_opened: 4,
      disclosure_opened: 3,
      offer_click: 2,
      widget_error: 1,
    });
  });

  it('a summary contains the figures of matured sessions twice, in `matured` and in flat members', async () => {
    const bench = new Bench();
    const matured = { sessions: 1_000, sessionsWithRevenue: 25, confirmedMicros: 1e9, confirmedUsdSquared: 50_000 };
    const view = await bench.summary({ matured });
    // m = 1, V = (50 - 1) / 999
    const factor = Math.exp(1.96 * Math.sqrt(49 / 999));
    const ci95 = { low: Number((1 / factor).toFixed(6)), high: Number(factor.toFixed(6)) };
    const window = { from: '2025-11-21', to: '2026-04-04' };
    assert.deepEqual(view.matured, {
      ...window,
      sessions: 1_000,
      sessions_with_revenue: 25,
      rev_per_session: 1,
      ci95,
    });
    const { matured_from: from, matured_to: to, sessions_matured: sessions } = view;
    const flat = { from, to, sessions, rev_per_session: view.rev_per_session_matured, ci95: view.rev_per_session_ci95 };
    assert.deepEqual({ ...flat, sessions_with_revenue: 25 }, view.matured);
  });

  it('a summary has no confidence interval if too few sessions have revenue, or if their number is unknown', async () => {
    const bench = new Bench();
    const sums = { sessions: 1_000, confirmedMicros: 1e9, confirmedUsdSquared: 50_000 };
    for (const sessionsWithRevenue of [0, 24, null]) {
      const view = await bench.summary({ matured: { ...sums, sessionsWithRevenue } });
      assert.deepEqual([view.rev_per_session_ci95, view.matured.ci95], [null, null]);
      assert.equal(view.matured.sessions_with_revenue, sessionsWithRevenue);
      assert.equal(view.rev_per_session_matured, 1);
    }
    // Sessions without revenue have no interval {0, 0}.
    const none = { sessions: 30, sessionsWithRevenue: 0, confirmedMicros: 0, confirmedUsdSquared: 0 };
    assert.equal((await bench.summary({ matured: none })).rev_per_session_ci95, null);
  });

  it('a summary counts the sessions of declared bots', async () => {
    const bot = deviceClasses.indexOf('bot');
    const byDevice = [bot, 0].map((device) => ({ ...noFigures, device, sessions: device + 7 }));
    assert.equal((await new Bench().summary({ byDevice })).bot_sessions, bot + 7);
    assert.equal((await new Bench().summary({ byDevice: byDevice.slice(1) })).bot_sessions, 0);
  });

  it('answers to test keys list `referrer_tag` as ignored if no session has the tag', async () => {
    for (const granularity of ['summary', 'daily', 'row']) {
      for (const tagHasSessions of [true, false]) {
        const bench = new Bench();
        bench.analytics.setTagHasSessions(tagHasSessions);
        const ignoredFor = async (tenant: Tenant) =>
          (await bench.view<AnalyticsSummary>({ referrer_tag, granularity }, tenant)).ignored;
        assert.deepEqual(await ignoredFor(testTenant), tagHasSessions ? undefined : ['referrer_tag']);
        assert.equal(await ignoredFor(liveTenant), undefined);
      }
    }
  });
});

describe('daily figures of an analytics query', () => {
  it('a daily query returns the figures of each day', async () => {
    const [first, second] = [day('2026-05-01'), day('2026-05-02')];
    const view = await new Bench().days({ date_from: '2026-05-01', date_to: '2026-05-02' }, [
      {
        day: first,
        sessions: 3,
        views: 7,
        clicks: 2,
        attributedMicros: 12_345_678,
        confirmedMicros: 100_000_000,
        unbookedClicks: [4, 3, 2, 1],
        widgetEvents: [1, 0, 0, 0, 0, 0, 2],
        matured: true,
      },
      { day: second, ...noFigures, unbookedClicks: noUnbookedClicks, widgetEvents: noWidgetEvents, matured: false },
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
          rev_attributed: 12.345678,
          rev_confirmed: 100,
          rev_per_session: 33.333333,
          clicks_not_booked: { cap: 4, budget: 3, too_fast: 2, too_many_offers: 1 },
          widget_events: { ...noEvents, widget_loaded: 1, widget_error: 2 },
          matured: true,
        },
        {
          date: '2026-05-02',
          ...zeroMetrics,
          clicks_not_booked: allBooked,
          widget_events: noEvents,
          matured: false,
        },
      ],
      sessions_kept_from: null,
      has_more: false,
      next_cursor: null,
    });
  });

  it('the pages of a daily query together contain each day of the date range exactly once', async () => {
    const window = fc.record({
      first: fc.integer({ min: -700_000, max: 2_900_000 }),
      days: fc.integer({ min: 1, max: 40 }),
    });
    await fc.assert(
      fc.asyncProperty(window, fc.integer({ min: 1, max: 12 }), async ({ first, days }, limit) => {
        const bench = new Bench();
        const dates = { date_from: formatIsoDate(first), date_to: formatIsoDate(first + days - 1) };
        const queriedDays: number[] = [];
        let cursor: string | undefined;
        do {
          const page = await bench.days({ ...(cursor === undefined && dates), limit: String(limit), cursor });
          assert.deepEqual([page.date_from, page.date_to], [dates.date_from, dates.date_to]);
          assert.equal(page.has_more, page.next_cursor !== null);
          const { fromDay, toDay } = bench.analytics.lastQuery!;
          assert(toDay - fromDay < limit);
          for (let each = fromDay; each <= toDay; each++) queriedDays.push(each);
          assert(queriedDays.length <= days);
          cursor = page.next_cursor ?? undefined;
        } while (cursor !== undefined);
        assert.deepEqual(
          queriedDays,
          Array.from({ length: days }, (_, index) => first + index),
        );
      }),
    );
  });
});

describe('rows of an analytics query', () => {
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

  it('an analytics row contains all documented properties of a session', async () => {
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
          rev_attributed: 12.345678,
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

  it('an analytics row has the metadata null if the stored metadata is absent or not a JSON object', async () => {
    const bench = new Bench();
    const texts = [null, '', '{', '[1]', '5', '"text"', 'null', '{}'];
    const rows = texts.map((metadata) => row(bench, { metadata }, testTenant));
    const { data } = await bench.rows({}, { rows });
    assert(data.every(({ sandbox }) => sandbox));
    assert.deepEqual(
      data.map(({ metadata }) => metadata),
      [...texts.slice(1).map(() => null), {}],
    );
  });

  it('the next page of rows starts after the last row of the previous page', async () => {
    const bench = new Bench();
    const first = await bench.rows({ limit: '7' }, { nextAfterPosition: 4_711 });
    const { afterPosition, limit } = bench.analytics.lastRowsQuery!;
    assert.deepEqual([afterPosition, limit, first.has_more], [0, 7, true]);
    const second = await bench.rows({ cursor: first.next_cursor! });
    const next = bench.analytics.lastRowsQuery!;
    assert.deepEqual([next.afterPosition, next.limit], [4_711, 100]);
    assert.deepEqual([second.has_more, second.next_cursor], [false, null]);
  });
});

describe('sums of analytics figures', () => {
  const micros = fc.integer({ min: 0, max: 99_999 });
  const visits = fc.array(
    fc.record({
      device: fc.constantFrom<DeviceClass>(0, 1, 2, 3, 4),
      clicks: fc.array(fc.record({ micros, payout: fc.option(fc.integer({ min: 1, max: 99_999 })) }), { maxLength: 4 }),
    }),
    { minLength: 101, maxLength: 130 },
  );

  for (const vertical of builtInVerticals.verticals) {
    it(`amounts of rows, lenders, days and devices add up exactly to the summary of ${vertical.segment}`, async () => {
      const { clicksConfirmRevenue = false } = vertical;
      const property = fc.asyncProperty(visits, async (visited) => {
        const bench = new Bench();
        const projected = new ProjectedStore();
        const tenant = { account: 1, vertical, mode: 'live' as const };
        for (const [serial, { device, clicks }] of visited.entries()) {
          const createdMs = bench.clock.wallMs() - (serial % 3) * 86_400_000;
          const sub = subIdBytes({ createdMs, serial, vertical: vertical.number });
          const offerIds = clicks.map((_, at) => `offer-${at}`);
          projected.apply(
            sessionCreatedRecord(sub, { device, tag: referrer_tag }),
            offersViewedRecord(sub, offerIds),
            ...clicks.flatMap(({ micros: valueMicros, payout }, at) => [
              offerClickedRecord(sub, offerIds[at]!, { valueMicros, decision: [true, null, clicksConfirmRevenue] }),
              ...(payout === null ? [] : [revenueConfirmedRecord(sub, offerIds[at]!, { micros: payout })]),
            ]),
          );
        }
        const analytics = new ReadOnlyAnalytics(projected.file);
        const deps = { ...bench, analytics };
        const query = async <View>(request: ParameterTexts): Promise<View> => {
          const outcome = await callOperation(queryAnalytics, deps, tenant, { texts: { referrer_tag, ...request } });
          assert.ok(outcome.ok);
          return outcome.value as View;
        };
        const summary = await query<AnalyticsSummary>({});
        const rows: SessionRowsResponse['data'][number][] = [];
        for (let cursor: string | undefined; rows.length < visited.length; ) {
          const page = await query<SessionRowsResponse>({
            granularity: 'row',
            ...(cursor !== undefined && { cursor }),
          });
          rows.push(...page.data);
          cursor = page.next_cursor ?? undefined;
        }
        const { data: days } = await query<DailyAnalytics>({ granularity: 'daily' });
        const sum = (amounts: readonly number[]) =>
          amounts.reduce((total, amount) => total + usdToExactMicros(amount)!, 0);
        for (const name of ['rev_attributed', 'rev_confirmed'] as const) {
          const total = usdToExactMicros(summary[name]);
          for (const parts of [rows, days, Object.values(summary.by_device)]) {
            assert.equal(sum(parts.map((part) => part[name])), total);
          }
        }
        for (const whole of [...rows, { ...summary, lenders: summary.top_lenders }]) {
          const ofLenders = sum(whole.lenders.map(({ rev_confirmed }) => rev_confirmed));
          assert.equal(ofLenders, usdToExactMicros(whole.rev_confirmed));
        }
        assert.ok(summary.rev_attributed > 0 && summary.rev_confirmed > 0);
        await analytics.close();
        projected.close();
      });
      await fc.assert(property, { numRuns: 5, endOnFailure: true });
    });
  }
});

describe('figures of offers', () => {
  const shownByPosition = [3, 0, 1, ...Array<number>(17).fill(0)];
  const none = { lender: null, shownByPosition, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };
  const request = { referrer_tag, granularity: 'offer' };

  it('have ratios of their counts, and the name of the lender in the catalog or else of the last click', async () => {
    const bench = new Bench();
    const clicked = { clicks: 3, attributedMicros: 10_000_000, confirmedMicros: 2_500_001, lender: 'Clicked lender' };
    bench.analytics.offers = {
      ...bench.analytics.offers,
      offers: [
        { ...none, ...clicked, offerId: 'in-catalog' },
        { ...none, ...clicked, offerId: 'removed' },
        { ...none, offerId: 'unknown' },
      ],
      offersFromDay: day('2026-02-01'),
    };
    const { data, ...page } = await bench.view<OfferAnalytics>(request);
    const figures = {
      shown: 4,
      shown_by_position: shownByPosition,
      average_position: 1.5,
      offer_clicks: 3,
      click_rate: 0.75,
      rev_attributed: 10,
      rev_confirmed: 2.500001,
      rev_attributed_per_click: 3.333333,
      rev_confirmed_per_click: 0.833334,
      rev_attributed_per_shown: 2.5,
      rev_confirmed_per_shown: 0.625,
    };
    const zero = { offer_clicks: 0, click_rate: 0, rev_attributed: 0, rev_confirmed: 0 };
    assert.deepEqual(data, [
      { svc_offer_id: 'in-catalog', lender_name: 'Current lender', ...figures },
      { svc_offer_id: 'removed', lender_name: 'Clicked lender', ...figures },
      {
        svc_offer_id: 'unknown',
        lender_name: null,
        shown: 4,
        shown_by_position: shownByPosition,
        average_position: 1.5,
        ...zero,
        rev_attributed_per_click: 0,
        rev_confirmed_per_click: 0,
        rev_attributed_per_shown: 0,
        rev_confirmed_per_shown: 0,
      },
    ]);
    assert.deepEqual(page, {
      referrer_tag,
      granularity: 'offer',
      date_from: '2026-04-20',
      date_to: '2026-05-20',
      sessions_kept_from: null,
      offers_counted_from: '2026-02-01',
      has_more: false,
      next_cursor: null,
    });
  });

  it('are continued after the last offer of the page before', async () => {
    const bench = new Bench();
    bench.analytics.offers = { ...bench.analytics.offers, nextAfterOfferId: 'offer-ü' };
    const first = await bench.view<OfferAnalytics>({ ...request, limit: '7' });
    assert.deepEqual([bench.analytics.lastOffersQuery!.afterOfferId, bench.analytics.lastOffersQuery!.limit], ['', 7]);
    await bench.view<OfferAnalytics>({ ...request, cursor: first.next_cursor! });
    const { fromDay, toDay, afterOfferId, limit } = bench.analytics.lastOffersQuery!;
    assert.deepEqual([afterOfferId, limit, fromDay, toDay], ['offer-ü', 100, day('2026-04-20'), day('2026-05-20')]);
  });

  it('need a tag and no list of ids, and are unavailable while the aggregator is', async () => {
    const bench = new Bench();
    const sub_id_list = bench.issue();
    for (const [query, param, rule] of [
      [
        { granularity: 'offer' },
        'referrer_tag',
        /^or sub_id_list is required: .*granularity=offer, a tag without sub_id_list/,
      ],
      [
        { granularity: 'offer', sub_id_list },
        'referrer_tag',
        /^is required with granularity=offer, without sub_id_list/,
      ],
      [{ ...request, sub_id_list }, 'sub_id_list', /^must be absent with granularity=offer/],
    ] as const) {
      const outcome = await bench.query(query);
      assert.ok(!outcome.ok);
      assert.deepEqual([outcome.error.code, outcome.error.param], ['INVALID_REQUEST', param]);
      assert.match(outcome.error.rule!, rule);
    }
    assert.equal(await bench.outcome({ ...request, date_from: '2026-05-21' }), 'INVALID_REQUEST date_from');
    bench.analytics.error = new AnalyticsUnavailableError('gone');
    assert.equal(verdictOf(await bench.query(request)), 'SERVICE_UNAVAILABLE');
  });
});

describe('pages of an analytics query', () => {
  const paged = ['daily', 'row', 'offer'] as const;
  const cursorOf = async (bench: Bench, request: ParameterTexts): Promise<string> => {
    bench.analytics.page = { rows: [], retainedFromDay: 0, tagHasSessions: true, nextAfterPosition: 9 };
    bench.analytics.offers = { ...bench.analytics.offers, nextAfterOfferId: 'offer-1' };
    const outcome = await bench.query({ limit: '1', ...request });
    assert(outcome.ok && 'next_cursor' in outcome.value);
    return outcome.value.next_cursor!;
  };

  it('returns 100 items per page by default, and accepts limits from 1 to 100', async () => {
    const bench = new Bench();
    const page = await bench.days({ date_from: '0001-01-01', date_to: '9999-12-31' });
    const { fromDay, toDay } = bench.analytics.lastQuery!;
    assert.deepEqual([page.has_more, formatIsoDate(fromDay), toDay - fromDay + 1], [true, '0001-01-01', 100]);
    for (const granularity of paged) {
      for (const limit of ['1', '10', '99', '100']) {
        assert.equal(await bench.outcome({ referrer_tag, granularity, limit }), 'ok');
      }
      for (const limit of ['', '0', '-1', '101', '1000', '1.5', '1e1', '01', ' 1', '+1', 'ten', '١']) {
        assert.equal(await bench.outcome({ referrer_tag, granularity, limit }), 'INVALID_REQUEST limit');
      }
    }
  });

  it('a summary query rejects a page limit or cursor', async () => {
    const bench = new Bench();
    const cursor = await cursorOf(bench, { referrer_tag, granularity: 'row' });
    assert.equal(await bench.outcome({ referrer_tag, limit: '5' }), 'INVALID_REQUEST limit');
    assert.equal(await bench.outcome({ referrer_tag, cursor }), 'INVALID_REQUEST cursor');
    assert.equal(await bench.outcome({ referrer_tag, granularity: 'summary', cursor }), 'INVALID_REQUEST cursor');
  });

  it('later pages keep the date range of the first page, and a request for another range is rejected', async () => {
    for (const granularity of paged) {
      const bench = new Bench();
      const cursor = await cursorOf(bench, { referrer_tag, granularity });
      bench.clock.advance(86_400_000);
      const request = { referrer_tag, granularity, cursor };
      const [date_from, date_to] = ['2026-04-20', '2026-05-20'];
      for (const dates of [{}, { date_from }, { date_to }, { date_from, date_to }]) {
        const view = await bench.view<SessionRowsResponse>({ ...request, ...dates });
        assert.deepEqual([view.date_from, view.date_to], [date_from, date_to]);
      }
      for (const dates of [{ date_from: '2026-04-21', date_to }, { date_to: '2026-05-21' }, { date_from: date_to }]) {
        assert.equal(await bench.outcome({ ...request, ...dates }), 'INVALID_REQUEST cursor');
      }
      assert.equal(await bench.outcome({ ...request, date_from: 'then' }), 'INVALID_REQUEST date_from');
    }
  });

  it('accepts an order of sessions only, and a cursor only with the order of its first page', async () => {
    const bench = new Bench();
    const request = { referrer_tag, granularity: 'row' };
    for (const order of ['oldest', 'newest'] as const) {
      // The first page of the oldest sessions needs no order.
      const cursor = await cursorOf(bench, order === 'oldest' ? request : { ...request, order });
      assert.equal(await bench.outcome({ ...request, order, cursor }), 'ok');
      const { order: asked, afterPosition } = bench.analytics.lastRowsQuery!;
      assert.deepEqual([asked, afterPosition], [order, 9]);
      const other = order === 'newest' ? 'oldest' : 'newest';
      assert.equal(await bench.outcome({ ...request, order: other, cursor }), 'INVALID_REQUEST cursor');
    }
    for (const granularity of ['summary', 'daily', 'offer']) {
      assert.equal(await bench.outcome({ referrer_tag, granularity, order: 'newest' }), 'INVALID_REQUEST order');
    }
    for (const order of ['', 'Newest', 'random']) {
      assert.equal(await bench.outcome({ ...request, order }), 'INVALID_REQUEST order');
    }
  });

  // The token tests in test/ids check that a cursor is bound to every part of its query.
  it('rejects a page cursor of another query or tenant', async () => {
    const bench = new Bench();
    const [one, other] = [bench.issue(), bench.issue()];
    const request = { granularity: 'row', sub_id_list: `${one},${other}` };
    const cursor = await cursorOf(bench, request);
    for (const change of [{ granularity: 'daily' }, { sub_id_list: one }, { sub_id_list: 'x' }, { referrer_tag }]) {
      assert.equal(await bench.outcome({ ...request, ...change, cursor }), 'INVALID_REQUEST cursor');
    }
    const otherVertical = { ...liveTenant, vertical: { ...liveTenant.vertical, number: 2 } };
    for (const tenant of [testTenant, { ...liveTenant, account: 43 }, otherVertical]) {
      assert.equal(await bench.outcome({ ...request, cursor }, tenant), 'INVALID_REQUEST cursor');
    }
    // Neither the order of the sub_ids nor invalid sub_ids have an effect on the cursor.
    const sub_id_list = [other, 'stray', one, one].join(',');
    assert.equal(await bench.outcome({ ...request, sub_id_list, cursor }), 'ok');
  });
});

it('returns SERVICE_UNAVAILABLE while the aggregator is unavailable, and throws unexpected errors', async () => {
  const bench = new Bench();
  for (const granularity of ['summary', 'daily', 'row']) {
    bench.analytics.error = new AnalyticsUnavailableError('gone');
    const outcome = await bench.query({ referrer_tag, granularity });
    assert.deepEqual(outcome, { ok: false, error: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } });
    bench.analytics.error = new TypeError('a bug');
    await assert.rejects(async () => bench.query({ referrer_tag, granularity }), TypeError);
  }
});
