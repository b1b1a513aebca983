import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import {
  clickedRecord,
  confirmedRecord,
  createdRecord,
  reportedRecord,
  reversedRecord,
  subOf,
  viewedRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('counting rules', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const apply = (...records: readonly unknown[]) => projected.apply(...records);

  /** Applies each record in a batch of its own and reopens the store after it. */
  function applyEach(...records: readonly unknown[]): void {
    for (const record of records) {
      apply(record);
      projected.reopen();
    }
  }

  function query(filter: Partial<SummaryQuery> = {}): SummaryResult {
    return projected.store.getSummary({
      account: 1,
      vertical: 1,
      mode: 'live',
      referrerTag: filter.subs ? null : 'tag-one',
      subs: null,
      fromDay: today - 30,
      toDay: today,
      today,
      ...filter,
    });
  }

  const sub = subOf({ createdMs: noon, serial: 1 });
  const byTag = {
    account: 1,
    vertical: 1,
    mode: 'live',
    referrerTag: 'tag-one',
    subs: null,
    fromDay: 0,
    toDay: today,
  } as const;

  it('counts a session, its views and its clicks', () => {
    apply(
      createdRecord(sub),
      viewedRecord(sub, ['a', 'b']),
      viewedRecord(sub, ['b', 'c']),
      clickedRecord(sub, 'a', { valueMicros: 3_500_000 }),
      clickedRecord(sub, 'c', { valueMicros: 40 }),
    );
    const { sessions, views, clicks, attributedMicros, confirmedMicros } = query();
    assert.deepEqual(
      { sessions, views, clicks, attributedMicros, confirmedMicros },
      { sessions: 1, views: 2, clicks: 2, attributedMicros: 3_500_040, confirmedMicros: 0 },
    );
  });

  it('counts the same if the store is reopened after every record', () => {
    const records = [
      createdRecord(sub),
      viewedRecord(sub, ['a', 'b']),
      viewedRecord(sub, ['b', 'c']),
      clickedRecord(sub, 'b'),
      clickedRecord(sub, 'a'),
      clickedRecord(sub, 'a'),
      clickedRecord(sub, 'z'),
    ];
    applyEach(...records);
    const { sessions, views, clicks } = query();
    assert.deepEqual({ sessions, views, clicks }, { sessions: 1, views: 2, clicks: 2 });
    const totals = projected.store.getTotals();
    assert.deepEqual([totals.records, totals.duplicateClicks, totals.unshownClicks], [7, 1, 1]);
    assert.deepEqual(query({ subs: [sub] }).topLenders, query().topLenders);
  });

  it('counts a repeated click once', () => {
    apply(
      createdRecord(sub),
      viewedRecord(sub, ['a']),
      clickedRecord(sub, 'a', { valueMicros: 5 }),
      clickedRecord(sub, 'a', { valueMicros: 7 }),
    );
    assert.equal(query().clicks, 1);
    assert.equal(query().attributedMicros, 5);
    assert.equal(projected.store.getTotals().duplicateClicks, 1);
  });

  it('ignores a click on an offer that was shown later or to another session', () => {
    const other = subOf({ createdMs: noon, serial: 2 });
    apply(
      createdRecord(sub),
      createdRecord(other),
      viewedRecord(other, ['a']),
      clickedRecord(sub, 'a'),
      viewedRecord(sub, ['a']),
    );
    assert.equal(query().clicks, 0);
    assert.equal(projected.store.getTotals().unshownClicks, 1);
    apply(clickedRecord(sub, 'a'));
    assert.equal(query().clicks, 1);
  });

  it('ignores a click more than 24 hours after the creation of the session', () => {
    apply(createdRecord(sub), viewedRecord(sub, ['a', 'b']));
    apply(clickedRecord(sub, 'a', { wallMs: noon + bounds.clickAttributionMs }));
    apply(clickedRecord(sub, 'b', { wallMs: noon + bounds.clickAttributionMs + 1 }));
    assert.equal(query().clicks, 1);
    assert.equal(projected.store.getTotals().lateClicks, 1);
  });

  it('counts a test click with zero revenue', () => {
    const test = subOf({ createdMs: noon, serial: 1, mode: 'test' });
    apply(createdRecord(test), viewedRecord(test, ['a']), clickedRecord(test, 'a', { valueMicros: 9_000_000 }));
    const { clicks, attributedMicros } = query({ mode: 'test' });
    assert.deepEqual({ clicks, attributedMicros }, { clicks: 1, attributedMicros: 0 });
    assert.equal(query({ mode: 'test', subs: [test] }).attributedMicros, 0);
  });

  it('ignores views and clicks of an unknown session', () => {
    apply(viewedRecord(sub, ['a']), clickedRecord(sub, 'a'));
    assert.equal(query().views, 0);
    assert.equal(projected.store.getTotals().unknownSession, 2);
  });

  it('ignores a second creation of a session', () => {
    apply(createdRecord(sub));
    apply(createdRecord(sub, { tag: 'tag-two' }), createdRecord(sub));
    assert.equal(query().sessions, 1);
    assert.equal(query({ referrerTag: 'tag-two' }).sessions, 0);
    assert.equal(projected.store.getTotals().repeatedSession, 2);
  });

  it('counts events of a session that is older than the previous one', () => {
    const older = subOf({ createdMs: noon - 5_000, serial: 3 });
    apply(createdRecord(sub));
    apply(createdRecord(older));
    applyEach(viewedRecord(older, ['a']), clickedRecord(older, 'a'), createdRecord(older));
    assert.deepEqual([query().sessions, query().views, query().clicks], [2, 1, 1]);
  });

  it('counts later events on the creation day of the session', () => {
    const created = subOf({ createdMs: today * dayMs - 1, serial: 1 });
    const after = today * dayMs + 3_600_000;
    apply(createdRecord(created), viewedRecord(created, ['a'], after), clickedRecord(created, 'a', { wallMs: after }));
    const yesterday = query({ fromDay: today - 1, toDay: today - 1 });
    assert.deepEqual([yesterday.sessions, yesterday.views, yesterday.clicks], [1, 1, 1]);
    assert.equal(yesterday.topLenders.length, 1);
    const day = query({ fromDay: today, toDay: today });
    assert.deepEqual([day.sessions, day.views, day.clicks, day.topLenders.length], [0, 0, 0, 0]);
  });

  /** Confirmed revenue, its square in USD, and confirmed revenue by lender, of one matured session. */
  function confirmed(filter: Partial<SummaryQuery> = {}) {
    const { confirmedMicros, matured, topLenders, byDevice } = query({ today: today + 60, ...filter });
    const lenders = Object.fromEntries(topLenders.map(({ lender, confirmedMicros: micros }) => [lender, micros]));
    assert.equal(matured.confirmedMicros, confirmedMicros);
    assert.equal(
      byDevice.reduce((sum, device) => sum + device.confirmedMicros, 0),
      confirmedMicros,
    );
    return { confirmedMicros, usdSquared: matured.confirmedUsdSquared, lenders };
  }

  const createClicks = () =>
    apply(createdRecord(sub), viewedRecord(sub, ['a', 'b', 'c']), clickedRecord(sub, 'a'), clickedRecord(sub, 'b'));

  it('sums confirmed revenue by session, lender and device, and squares the sum of each session', () => {
    createClicks();
    apply(confirmedRecord(sub, 'a', { micros: 40_000_000 }), confirmedRecord(sub, 'b', { micros: 2_500_000 }));
    applyEach(confirmedRecord(sub, 'a', { txid: 'tx-2', micros: 7_500_000 }));
    for (const filter of [{}, { subs: [sub] }]) {
      assert.deepEqual(confirmed(filter), {
        confirmedMicros: 50_000_000,
        usdSquared: 2_500,
        lenders: { 'Lender of a': 47_500_000, 'Lender of b': 2_500_000 },
      });
    }
  });

  it('subtracts a reversal from session, lender and square', () => {
    createClicks();
    apply(confirmedRecord(sub, 'a'), confirmedRecord(sub, 'b', { micros: 10_000_000 }));
    applyEach(reversedRecord(sub, 'a', { micros: 30_000_000 }));
    for (const filter of [{}, { subs: [sub] }]) {
      assert.deepEqual(confirmed(filter), {
        confirmedMicros: 20_000_000,
        usdSquared: 400,
        lenders: { 'Lender of a': 10_000_000, 'Lender of b': 10_000_000 },
      });
    }
    apply(reversedRecord(sub, 'b', { micros: 10_000_000 }));
    assert.deepEqual(confirmed().lenders, { 'Lender of a': 10_000_000, 'Lender of b': 0 });
  });

  it('sums large squares exactly', () => {
    const micros = bounds.confirmedRevenueUsdMax * 1_000_000 - 10_000;
    const subs = Array.from({ length: 1_000 }, (_, serial) => subOf({ createdMs: noon, serial: serial + 10 }));
    const recordsOf = (sub: Buffer) => [
      createdRecord(sub),
      viewedRecord(sub, ['a']),
      clickedRecord(sub, 'a'),
      confirmedRecord(sub, 'a', { micros }),
    ];
    apply(...subs.flatMap(recordsOf));
    apply(...subs.slice(1).map((sub) => reversedRecord(sub, 'a', { micros })));
    assert.equal(confirmed().usdSquared, 9_999_999 ** 2 / 10_000);
  });

  it('counts confirmed revenue on the creation day of the session', () => {
    createClicks();
    apply(confirmedRecord(sub, 'a', { occurredMs: noon + 44 * dayMs }));
    assert.equal(query({ fromDay: today, toDay: today }).confirmedMicros, 40_000_000);
    assert.equal(query({ fromDay: today + 1, toDay: today + 60 }).confirmedMicros, 0);
  });

  it('counts a click restored by a confirmation once', () => {
    apply(createdRecord(sub), viewedRecord(sub, ['a']));
    const click = { clickedMs: noon + 2_000, valueMicros: 3_000_000 };
    apply(confirmedRecord(sub, 'a', { click }));
    assert.deepEqual([query().clicks, query().attributedMicros, query().confirmedMicros], [1, 3_000_000, 40_000_000]);
    applyEach(clickedRecord(sub, 'a'), confirmedRecord(sub, 'a', { txid: 'tx-2', click }));
    assert.deepEqual([query().clicks, query().attributedMicros, query().confirmedMicros], [1, 3_000_000, 80_000_000]);
    assert.equal(projected.store.getTotals().duplicateClicks, 1);
  });

  it('ignores confirmations that break the rules', () => {
    createClicks();
    const test = subOf({ createdMs: noon, serial: 2, mode: 'test' });
    apply(createdRecord(test), viewedRecord(test, ['a']), clickedRecord(test, 'a'));
    const unknown = subOf({ createdMs: noon, serial: 3 });
    applyEach(
      confirmedRecord(sub, 'c'),
      confirmedRecord(sub, 'z'),
      confirmedRecord(test, 'a'),
      confirmedRecord(unknown, 'a'),
      reversedRecord(sub, 'a'),
      confirmedRecord(sub, 'a', { occurredMs: noon - bounds.confirmationClockSkewMs }),
      confirmedRecord(sub, 'a', { wallMs: noon + dayMs - bounds.confirmationClockSkewMs - 1 }),
      confirmedRecord(sub, 'a', { wallMs: noon + 2_000 + bounds.confirmationWindowMs + 1 }),
      confirmedRecord(sub, 'a', { micros: 40_000_000 }),
      confirmedRecord(sub, 'a', { micros: 40_000_000 }),
      confirmedRecord(sub, 'a', { micros: 41_000_000 }),
      reversedRecord(sub, 'a', { micros: 40_000_001 }),
      reversedRecord(sub, 'a', { micros: 1_000_000 }),
      reversedRecord(sub, 'a', { micros: 1_000_000 }),
      reversedRecord(sub, 'a', { micros: 39_000_000 }),
    );
    assert.equal(confirmed().confirmedMicros, 39_000_000);
    const { unknownSession, repeatedConfirmations, unsoundConfirmations } = projected.store.getTotals();
    assert.deepEqual([unknownSession, repeatedConfirmations, unsoundConfirmations], [1, 2, 10]);
  });

  it('counts one view per widget load, and clicks on all offers of the load', () => {
    apply(
      createdRecord(sub),
      widgetViewedRecord(sub, ['a']),
      widgetViewedRecord(sub, ['b'], { again: true }),
      widgetViewedRecord(sub, ['a', 'c'], { load: 2 }),
    );
    applyEach(widgetViewedRecord(sub, ['d'], { load: 2, again: true, wallMs: noon + 9_000 }));
    assert.equal(projected.store.listRows({ ...byTag, afterPosition: 0, limit: 1 }).rows[0]!.lastEventMs, noon + 9_000);
    applyEach(...['a', 'b', 'c', 'd', 'e'].map((offer) => clickedRecord(sub, offer)));
    for (const filter of [{}, { subs: [sub] }]) assert.deepEqual([query(filter).views, query(filter).clicks], [2, 4]);
    assert.equal(projected.store.getTotals().unshownClicks, 1);
  });

  it('counts widget events by type on the creation day of the session', () => {
    const phone = subOf({ createdMs: today * dayMs - 1, serial: 2 });
    apply(createdRecord(sub), createdRecord(phone, { device: 2 }));
    apply(
      reportedRecord(sub, ['widget_loaded', 'offers_rendered', 'offer_impression', 'offer_impression']),
      reportedRecord(phone, ['widget_loaded', 'widget_error']),
    );
    applyEach(
      reportedRecord(sub, ['offer_details_opened', 'disclosure_opened', 'offer_click'], { firstEvent: 5 }),
      reportedRecord(phone, ['widget_error'], { load: 2, firstEvent: 3, wallMs: noon }),
    );
    assert.deepEqual(query().widgetEvents, [2, 1, 2, 1, 1, 1, 2]);
    assert.deepEqual(query({ subs: [sub, phone] }).widgetEvents, [2, 1, 2, 1, 1, 1, 2]);
    const yesterday = { fromDay: today - 1, toDay: today - 1 };
    for (const filter of [yesterday, { ...yesterday, subs: [sub, phone] }]) {
      assert.deepEqual(query(filter).widgetEvents, [1, 0, 0, 0, 0, 0, 2]);
    }
    const others = [{ referrerTag: 'tag-two' }, { mode: 'test' }, { account: 2 }, { subs: [] }] as const;
    for (const filter of others) assert.deepEqual(query(filter).widgetEvents, [0, 0, 0, 0, 0, 0, 0]);
  });

  it('counts no click and no view for widget events', () => {
    apply(createdRecord(sub), widgetViewedRecord(sub, ['a']));
    apply(reportedRecord(sub, ['offers_rendered', 'offer_click'], { offerId: 'a' }));
    const { views, clicks, attributedMicros, topLenders } = query();
    assert.deepEqual([views, clicks, attributedMicros, topLenders], [1, 0, 0, []]);
  });

  it('moves the time of the last event forwards only, also for widget events', () => {
    const lastEvent = () => projected.store.listRows({ ...byTag, afterPosition: 0, limit: 1 }).rows[0]!.lastEventMs;
    apply(createdRecord(sub));
    apply(reportedRecord(sub, ['widget_loaded'], { wallMs: noon + 5_000 }));
    assert.equal(lastEvent(), noon + 5_000);
    applyEach(reportedRecord(sub, ['offer_impression'], { wallMs: noon + 4_000 }));
    assert.equal(lastEvent(), noon + 5_000);
  });

  it('ignores widget reports of an unknown session', () => {
    apply(reportedRecord(sub, ['widget_loaded']), widgetViewedRecord(sub, ['a'], { again: true }));
    assert.deepEqual(query().widgetEvents, [0, 0, 0, 0, 0, 0, 0]);
    assert.equal(projected.store.getTotals().unknownSession, 2);
  });

  it('ignores widget events of unknown types and counts the others of the record', () => {
    apply(createdRecord(sub), reportedRecord(sub, [7, 'offer_click', 4_000]), reportedRecord(sub, [7]));
    assert.deepEqual(query().widgetEvents, [0, 0, 0, 0, 0, 1, 0]);
    assert.equal(projected.store.getTotals().malformed, 0);
  });

  it('ignores malformed records', () => {
    const eight = Buffer.alloc(8);
    const many = bounds.logRecordItemsMax + 1;
    const malformed: unknown[] = [
      null,
      7,
      'text',
      {},
      [],
      [1],
      [6, noon, sub],
      ['1', noon, sub, 'tag-one', 1, 0, null],
      [1, -1, sub, 'tag-one', 1, 0, null],
      [1, 1.5, sub, 'tag-one', 1, 0, null],
      [1, Number.NaN, sub, 'tag-one', 1, 0, null],
      [1, 2 ** 53, sub, 'tag-one', 1, 0, null],
      [1, noon, sub.subarray(1), 'tag-one', 1, 0, null],
      [1, noon, 'sub', 'tag-one', 1, 0, null],
      [1, noon, sub, 5, 1, 0, null],
      [1, noon, sub, 'x'.repeat(bounds.ledgerNameCharactersMax + 1), 1, 0, null],
      [1, noon, sub, 'tag-one', '1', 0, null],
      [1, noon, sub, 'tag-one', 1, -1, null],
      [1, noon, sub, 'tag-one', 1, 0, 5],
      [1, noon, sub, 'tag-one', 1, 0],
      [2, noon, sub, 'catalog-1'],
      [2, noon, sub, 'catalog-1', 'a'],
      [2, noon, sub, 'catalog-1', ['a', 5]],
      [2, noon, sub, null, ['a']],
      [2, noon, sub, 'catalog-1', ['a'], eight.subarray(1)],
      [2, noon, sub, 'catalog-1', ['a'], Buffer.alloc(9)],
      [2, noon, sub, 'catalog-1', ['a'], '01234567'],
      [2, noon, sub, 'catalog-1', ['a'], null, true],
      [2, noon, sub, 'catalog-1', ['a'], eight, null],
      [2, noon, sub, 'catalog-1', ['a'], eight, 1],
      [3, noon, sub, 'catalog-1', 'a', 'Lender'],
      [3, noon, sub, 'catalog-1', 'a', 'Lender', -1],
      [3, noon, sub, 'catalog-1', 'a', 'Lender', 0.5],
      [3, noon, sub, 'catalog-1', 'a', 'Lender', bounds.clickValueMicrosMax + 1],
      [3, noon, sub, 'catalog-1', 'a', null, 1],
      [3, noon, sub, 'catalog-1', null, 'Lender', 1],
      [4, noon, sub, 'a', 'Lender', 'tx', 1, noon, null],
      [4, noon, sub, 'a', 'Lender', 'tx', 0, noon, null, null],
      [4, noon, sub, 'a', 'Lender', 'tx', 0.5, noon, null, null],
      [4, noon, sub, 'a', 'Lender', 'tx', bounds.confirmedRevenueUsdMax * 1_000_000 + 1, noon, null, null],
      [4, noon, sub, 'a', 'Lender', 5, 1, noon, null, null],
      [4, noon, sub, 'a', 'Lender', 'tx', 1, -1, null, null],
      [4, noon, sub, 'a', 'Lender', 'tx', 1, noon, noon, null],
      [4, noon, sub, 'a', 'Lender', 'tx', 1, noon, null, 1],
      [4, noon, sub, 'a', null, 'tx', 1, noon, null, null],
      [5, noon, sub, 'a', 'Lender', 'tx', 1],
      [5, noon, sub, null, 'Lender', 'tx', 1, noon],
      [6, noon, sub, eight, eight, [0]],
      [6, noon, sub, eight.subarray(1), eight, [0], [null]],
      [6, noon, sub, '01234567', eight, [0], [null]],
      [6, noon, sub, eight, Buffer.alloc(0), [], []],
      [6, noon, sub, eight, Buffer.alloc(16), [0], [null]],
      [6, noon, sub, eight, Buffer.alloc(9), [0], [null]],
      [6, noon, sub, eight, [eight], [0], [null]],
      [6, noon, sub, eight, eight, 0, [null]],
      [6, noon, sub, eight, eight, ['widget_loaded'], [null]],
      [6, noon, sub, eight, eight, [-1], [null]],
      [6, noon, sub, eight, eight, [0.5], [null]],
      [6, noon, sub, eight, eight, [0], []],
      [6, noon, sub, eight, eight, [0], [null, null]],
      [6, noon, sub, eight, eight, [0], [5]],
      [6, noon, sub, eight, eight, [0], ['x'.repeat(bounds.ledgerNameCharactersMax + 1)]],
      [6, noon, sub, eight, eight, [0], 'a'],
      [6, noon, sub, eight, Buffer.alloc(many * 8), Array(many).fill(0), Array(many).fill(null)],
    ];
    apply(...malformed, createdRecord(sub), viewedRecord(sub, ['a']));
    assert.deepEqual(
      { ...projected.store.getTotals() },
      {
        records: malformed.length + 2,
        sealedSession: 0,
        malformed: malformed.length,
        unknownSession: 0,
        repeatedSession: 0,
        unshownClicks: 0,
        duplicateClicks: 0,
        lateClicks: 0,
        repeatedConfirmations: 0,
        unsoundConfirmations: 0,
      },
    );
    assert.deepEqual([query().sessions, query().views], [1, 1]);
  });

  it('counts a record with additional members of a later version', () => {
    apply([...createdRecord(sub), 'more'], [...widgetViewedRecord(sub, ['a']), 1], [...clickedRecord(sub, 'a'), null]);
    apply([...reportedRecord(sub, ['widget_loaded']), 'more']);
    assert.deepEqual([query().sessions, query().views, query().clicks], [1, 1, 1]);
    assert.equal(query().widgetEvents[0], 1);
  });

  it('does not change the store if a batch fails', () => {
    apply(createdRecord(sub));
    assert.throws(
      () =>
        projected.store.applyBatch((projection) => {
          projection.apply(2, viewedRecord(sub, ['a']), 1);
          throw new Error('failed');
        }),
      /failed/,
    );
    projected.reopen();
    assert.equal(projected.store.cursor?.position, 1);
    assert.deepEqual([query().sessions, query().views], [1, 0]);
    assert.equal(query({ subs: [sub] }).views, 0);
  });
});
