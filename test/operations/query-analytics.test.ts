import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { AnalyticsUnavailable, type SummaryFigures } from '../../src/analytics/analytics.ts';
import { isoDate, parseIsoDate } from '../../src/domain/calendar.ts';
import { type AnalyticsRequest, queryAnalytics } from '../../src/operations/query-analytics.ts';
import { RandomPool } from '../../src/secrets/random-pool.ts';
import { SubIds } from '../../src/sessions/sub-id.ts';
import type { Tenant } from '../../src/verticals/tenant.ts';
import { CannedAnalytics, noFigures } from '../support/canned-analytics.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ringOf } from '../support/secrets.ts';
import { liveTenant, testTenant } from '../support/tenants.ts';

const referrer_tag = 'experiment-1';
const day = (text: string): number => parseIsoDate(text)!;

class Bench {
  /** Noon of 2026-05-20. */
  readonly clock = new ManualClock();
  readonly subIds = new SubIds(ringOf('ours'), 0, new RandomPool());
  readonly analytics = new CannedAnalytics();

  issue(tenant: Tenant = liveTenant): string {
    return this.subIds.issue(this.clock.wallMs(), tenant.account, tenant.vertical.number, tenant.mode);
  }

  ask(request: AnalyticsRequest, tenant: Tenant = liveTenant) {
    const { clock, subIds, analytics } = this;
    analytics.asked = null;
    return queryAnalytics({ clock, subIds, analytics }, tenant, request);
  }

  async verdict(request: AnalyticsRequest): Promise<string> {
    const outcome = await this.ask(request);
    if (outcome.ok) return 'ok';
    assert.equal(this.analytics.asked, null);
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
  async answer(figures: Partial<SummaryFigures>, request: AnalyticsRequest = { referrer_tag }) {
    this.analytics.figures = { ...this.analytics.figures, ...figures };
    const outcome = await this.ask(request);
    assert(outcome.ok, JSON.stringify(outcome));
    return outcome.value;
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
    assert.deepEqual(subs, [Uint8Array.from(bench.subIds.bytesOf(id))]);
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
    assert.deepEqual(subs, [Uint8Array.from(bench.subIds.bytesOf(own))]);
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
      [one, other].map((id) => Uint8Array.from(bench.subIds.bytesOf(id))),
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

  it('is nothing else that is served', async () => {
    for (const granularity of ['', 'row', 'daily', 'Summary', 'weekly', 'constructor']) {
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
      sessions_matured: 0,
      rev_per_session_matured: null,
      rev_per_session_ci95: null,
      by_device: {},
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

describe('an analytics query', () => {
  it('is unavailable while the aggregator is', async () => {
    const bench = new Bench();
    bench.analytics.fault = new AnalyticsUnavailable('gone');
    const outcome = await bench.ask({ referrer_tag });
    assert.deepEqual(outcome, { ok: false, refusal: { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 } });
  });

  it('lets any other fault through, as the bug it is', async () => {
    const bench = new Bench();
    bench.analytics.fault = new TypeError('a bug');
    await assert.rejects(bench.ask({ referrer_tag }), TypeError);
  });
});
