import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { zeroProjectionTotals } from '../../src/analytics/projection-state.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayNumberOf } from '../../src/domain/calendar.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayNumberOf(noon);

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
    const referrerTag = filter.subs ? null : 'tag-one';
    return projected.store.getSummary({ ...byTag, referrerTag, fromDay: today - 30, today, ...filter });
  }

  const sub = subIdBytes({ createdMs: noon, serial: 1 });
  const tenant = { account: 1, vertical: 1, mode: 'live' } as const;
  const byTag = { ...tenant, referrerTag: 'tag-one', subs: null, fromDay: 0, toDay: today };

  it('counts sessions, views and clicks, in one batch and if the store is reopened after every record', () => {
    const records = [
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['a', 'b']),
      offersViewedRecord(sub, ['b', 'c']),
      offerClickedRecord(sub, 'a', { valueMicros: 3_500_000 }),
      offerClickedRecord(sub, 'c', { valueMicros: 40 }),
      offerClickedRecord(sub, 'a', { valueMicros: 7 }),
      offerClickedRecord(sub, 'z'),
    ];
    for (const applyAll of [apply, applyEach]) {
      projected.close();
      projected = new ProjectedStore();
      applyAll(...records);
      const { sessions, views, clicks, attributedMicros, confirmedMicros } = query();
      assert.deepEqual([sessions, views, clicks, attributedMicros, confirmedMicros], [1, 2, 2, 3_500_040, 0]);
      const totals = projected.store.getTotals();
      assert.deepEqual([totals.records, totals.duplicateClicks, totals.unshownClicks], [7, 1, 1]);
      assert.deepEqual(query({ subs: [sub] }).topLenders, query().topLenders);
    }
  });

  it('ignores a click on an offer that was shown later or to another session', () => {
    const other = subIdBytes({ createdMs: noon, serial: 2 });
    apply(
      sessionCreatedRecord(sub),
      sessionCreatedRecord(other),
      offersViewedRecord(other, ['a']),
      offerClickedRecord(sub, 'a'),
      offersViewedRecord(sub, ['a']),
    );
    assert.equal(query().clicks, 0);
    assert.equal(projected.store.getTotals().unshownClicks, 1);
    apply(offerClickedRecord(sub, 'a'));
    assert.equal(query().clicks, 1);
  });

  it('ignores a click more than 24 hours after the creation of the session', () => {
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, ['a', 'b']));
    apply(offerClickedRecord(sub, 'a', { wallMs: noon + bounds.clickAttributionMs }));
    apply(offerClickedRecord(sub, 'b', { wallMs: noon + bounds.clickAttributionMs + 1 }));
    assert.equal(query().clicks, 1);
    assert.equal(projected.store.getTotals().lateClicks, 1);
  });

  it('counts a sandbox click with zero revenue', () => {
    const test = subIdBytes({ createdMs: noon, serial: 1, mode: 'test' });
    apply(
      sessionCreatedRecord(test),
      offersViewedRecord(test, ['a']),
      offerClickedRecord(test, 'a', { valueMicros: 9_000_000 }),
    );
    for (const filter of [{}, { subs: [test] }]) {
      const { clicks, attributedMicros } = query({ mode: 'test', ...filter });
      assert.deepEqual([clicks, attributedMicros], [1, 0]);
    }
  });

  it('ignores views, clicks and widget reports of an unknown session', () => {
    apply(offersViewedRecord(sub, ['a']), offerClickedRecord(sub, 'a'));
    apply(widgetEventsRecord(sub, ['widget_loaded']), widgetViewedRecord(sub, ['a'], { again: true }));
    assert.deepEqual([query().views, query().widgetEvents], [0, [0, 0, 0, 0, 0, 0, 0]]);
    assert.equal(projected.store.getTotals().unknownSession, 4);
  });

  it('ignores a second creation record of the same session', () => {
    apply(sessionCreatedRecord(sub));
    apply(sessionCreatedRecord(sub, { tag: 'tag-two' }), sessionCreatedRecord(sub));
    assert.equal(query().sessions, 1);
    assert.equal(query({ referrerTag: 'tag-two' }).sessions, 0);
    assert.equal(projected.store.getTotals().repeatedSession, 2);
  });

  it('counts events of a session whose creation time is before that of the previous record', () => {
    const older = subIdBytes({ createdMs: noon - 5_000, serial: 3 });
    apply(sessionCreatedRecord(sub));
    apply(sessionCreatedRecord(older));
    applyEach(offersViewedRecord(older, ['a']), offerClickedRecord(older, 'a'), sessionCreatedRecord(older));
    assert.deepEqual([query().sessions, query().views, query().clicks], [2, 1, 1]);
  });

  /** Returns the confirmed revenue, the sum of its squares in USD, and the confirmed revenue by lender, at an age of 60 days. */
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
    apply(
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['a', 'b', 'c']),
      offerClickedRecord(sub, 'a'),
      offerClickedRecord(sub, 'b'),
    );

  it('sums confirmed revenue by session, lender and device on the creation day of the session, and squares the sum per session', () => {
    createClicks();
    apply(revenueConfirmedRecord(sub, 'a', { micros: 40_000_000, occurredMs: noon + 44 * dayMs }));
    apply(revenueConfirmedRecord(sub, 'b', { micros: 2_500_000 }));
    const assertConfirmed = (ofA: number, ofB: number) => {
      const confirmedMicros = (ofA + ofB) * 1e6;
      const lenders = { 'Lender of a': ofA * 1e6, 'Lender of b': ofB * 1e6 };
      for (const filter of [{}, { subs: [sub] }]) {
        assert.deepEqual(confirmed(filter), { confirmedMicros, usdSquared: (ofA + ofB) ** 2, lenders });
        assert.equal(query({ ...filter, fromDay: today, toDay: today }).confirmedMicros, confirmedMicros);
      }
    };
    applyEach(revenueConfirmedRecord(sub, 'a', { txid: 'tx-2', micros: 7_500_000 }));
    assertConfirmed(47.5, 2.5);
    applyEach(revenueReversedRecord(sub, 'a', { micros: 30_000_000, occurredMs: noon + 44 * dayMs }));
    assertConfirmed(17.5, 2.5);
    apply(revenueReversedRecord(sub, 'b', { micros: 2_500_000 }));
    assertConfirmed(17.5, 0);
  });

  it('sums the squares of large revenues exactly', () => {
    const micros = bounds.confirmedRevenueUsdMax * 1_000_000 - 10_000;
    const subs = Array.from({ length: 1_000 }, (_, serial) => subIdBytes({ createdMs: noon, serial: serial + 10 }));
    const recordsOf = (sub: Buffer) => [
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['a']),
      offerClickedRecord(sub, 'a'),
      revenueConfirmedRecord(sub, 'a', { micros }),
    ];
    apply(...subs.flatMap(recordsOf));
    apply(...subs.slice(1).map((sub) => revenueReversedRecord(sub, 'a', { micros })));
    assert.equal(confirmed().usdSquared, 9_999_999 ** 2 / 10_000);
  });

  it('counts an unrecorded click once if its confirmation restores the click', () => {
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, ['a']));
    const click = { clickedMs: noon + 2_000, valueMicros: 3_000_000 };
    apply(revenueConfirmedRecord(sub, 'a', { click }));
    assert.deepEqual([query().clicks, query().attributedMicros, query().confirmedMicros], [1, 3_000_000, 40_000_000]);
    applyEach(offerClickedRecord(sub, 'a'), revenueConfirmedRecord(sub, 'a', { txid: 'tx-2', click }));
    assert.deepEqual([query().clicks, query().attributedMicros, query().confirmedMicros], [1, 3_000_000, 80_000_000]);
    assert.equal(projected.store.getTotals().duplicateClicks, 1);
  });

  it('ignores invalid confirmations', () => {
    createClicks();
    const test = subIdBytes({ createdMs: noon, serial: 2, mode: 'test' });
    apply(sessionCreatedRecord(test), offersViewedRecord(test, ['a']), offerClickedRecord(test, 'a'));
    const unknown = subIdBytes({ createdMs: noon, serial: 3 });
    applyEach(
      revenueConfirmedRecord(sub, 'c'),
      revenueConfirmedRecord(sub, 'z'),
      revenueConfirmedRecord(test, 'a'),
      revenueConfirmedRecord(unknown, 'a'),
      revenueReversedRecord(sub, 'a'),
      revenueConfirmedRecord(sub, 'a', { occurredMs: noon - bounds.confirmationClockSkewMs }),
      revenueConfirmedRecord(sub, 'a', { wallMs: noon + dayMs - bounds.confirmationClockSkewMs - 1 }),
      revenueConfirmedRecord(sub, 'a', { wallMs: noon + 2_000 + bounds.confirmationWindowMs + 1 }),
      revenueConfirmedRecord(sub, 'a', { micros: 40_000_000 }),
      revenueConfirmedRecord(sub, 'a', { micros: 40_000_000 }),
      revenueConfirmedRecord(sub, 'a', { micros: 41_000_000 }),
      revenueReversedRecord(sub, 'a', { micros: 40_000_001 }),
      revenueReversedRecord(sub, 'a', { micros: 1_000_000 }),
      revenueReversedRecord(sub, 'a', { micros: 1_000_000 }),
      revenueReversedRecord(sub, 'a', { micros: 39_000_000 }),
    );
    assert.equal(confirmed().confirmedMicros, 39_000_000);
    const { unknownSession, repeatedConfirmations, unsoundConfirmations } = projected.store.getTotals();
    assert.deepEqual([unknownSession, repeatedConfirmations, unsoundConfirmations], [1, 2, 10]);
  });

  it('counts one view per widget load, and clicks on all offers of the load', () => {
    apply(
      sessionCreatedRecord(sub),
      widgetViewedRecord(sub, ['a']),
      widgetViewedRecord(sub, ['b'], { again: true }),
      widgetViewedRecord(sub, ['a', 'c'], { load: 2 }),
    );
    applyEach(widgetViewedRecord(sub, ['d'], { load: 2, again: true, wallMs: noon + 9_000 }));
    assert.equal(projected.store.listRows({ ...byTag, afterPosition: 0, limit: 1 }).rows[0]!.lastEventMs, noon + 9_000);
    applyEach(...['a', 'b', 'c', 'd', 'e'].map((offer) => offerClickedRecord(sub, offer)));
    for (const filter of [{}, { subs: [sub] }]) assert.deepEqual([query(filter).views, query(filter).clicks], [2, 4]);
    assert.equal(projected.store.getTotals().unshownClicks, 1);
  });

  it('counts widget events by type on the creation day of the session', () => {
    const phone = subIdBytes({ createdMs: today * dayMs - 1, serial: 2 });
    apply(sessionCreatedRecord(sub), sessionCreatedRecord(phone, { device: 2 }));
    apply(
      widgetEventsRecord(sub, ['widget_loaded', 'offers_rendered', 'offer_impression', 'offer_impression']),
      widgetEventsRecord(phone, ['widget_loaded', 'widget_error']),
    );
    applyEach(
      widgetEventsRecord(sub, ['offer_details_opened', 'disclosure_opened', 'offer_click'], { firstEvent: 5 }),
      widgetEventsRecord(phone, ['widget_error'], { load: 2, firstEvent: 3, wallMs: noon }),
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

  it('counts widget events of known types only, but not as clicks or views', () => {
    apply(sessionCreatedRecord(sub), widgetViewedRecord(sub, ['a']));
    apply(widgetEventsRecord(sub, [7, 'offer_click', 4_000], { offerId: 'a' }), widgetEventsRecord(sub, [7]));
    const { views, clicks, attributedMicros, topLenders, widgetEvents } = query();
    assert.deepEqual([views, clicks, attributedMicros, topLenders], [1, 0, 0, []]);
    assert.deepEqual(widgetEvents, [0, 0, 0, 0, 0, 1, 0]);
    assert.equal(projected.store.getTotals().malformed, 0);
  });

  it('ignores malformed ledger records', () => {
    const eight = Buffer.alloc(8);
    const many = bounds.logRecordItemsMax + 1;
    const longName = 'x'.repeat(bounds.ledgerNameCharactersMax + 1);
    /** Returns the record without its last member, and with each invalid value of each member. */
    const variants = (record: unknown[], invalid: Readonly<Record<number, unknown[]>>) => [
      record.slice(0, -1),
      ...Object.entries(invalid).flatMap(([index, values]) => values.map((value) => record.with(Number(index), value))),
    ];
    const view = [2, noon, sub, 'catalog-1', ['a']];
    const malformed: unknown[] = [
      ...[null, 7, 'text', {}, [], [1], [6, noon, sub]],
      ...variants([1, noon, sub, 'tag-one', 1, 0, null], {
        0: ['1'],
        1: [-1, 1.5, Number.NaN, 2 ** 53],
        2: [sub.subarray(1), 'sub'],
        3: [5, longName],
        4: ['1'],
        5: [-1],
        6: [5],
      }),
      ...variants(view, { 3: [null], 4: ['a', ['a', 5]] }),
      ...[eight.subarray(1), Buffer.alloc(9), '01234567'].map((widget) => [...view, widget]),
      ...[
        [null, true],
        [eight, null],
        [eight, 1],
      ].map((members) => [...view, ...members]),
      ...variants([3, noon, sub, 'catalog-1', 'a', 'Lender', 1], {
        4: [null],
        5: [null],
        6: [-1, 0.5, bounds.clickValueMicrosMax + 1],
      }),
      ...variants([4, noon, sub, 'a', 'Lender', 'tx', 1, noon, null, null], {
        4: [null],
        5: [5],
        6: [0, 0.5, bounds.confirmedRevenueUsdMax * 1_000_000 + 1],
        7: [-1],
        8: [noon],
        9: [1],
      }),
      ...variants([5, noon, sub, 'a', 'Lender', 'tx', 1, noon], { 3: [null] }),
      ...variants([6, noon, sub, eight, eight, [0], [null]], {
        3: [eight.subarray(1), '01234567'],
        4: [Buffer.alloc(16), Buffer.alloc(9), [eight]],
        5: [0, ['widget_loaded'], [-1], [0.5]],
        6: [[], [null, null], [5], [longName], 'a'],
      }),
      [6, noon, sub, eight, Buffer.alloc(0), [], []],
      [6, noon, sub, eight, Buffer.alloc(many * 8), Array(many).fill(0), Array(many).fill(null)],
    ];
    apply(...malformed, sessionCreatedRecord(sub), offersViewedRecord(sub, ['a']));
    const counted = { records: malformed.length + 2, malformed: malformed.length };
    assert.deepEqual({ ...projected.store.getTotals() }, { ...zeroProjectionTotals, ...counted });
    assert.deepEqual([query().sessions, query().views], [1, 1]);
  });

  it('counts a record with additional members that a later version wrote', () => {
    apply(
      [...sessionCreatedRecord(sub), 'more'],
      [...widgetViewedRecord(sub, ['a']), 1],
      [...offerClickedRecord(sub, 'a'), null],
    );
    apply([...widgetEventsRecord(sub, ['widget_loaded']), 'more']);
    assert.deepEqual([query().sessions, query().views, query().clicks], [1, 1, 1]);
    assert.equal(query().widgetEvents[0], 1);
  });

  it('does not change the store if a batch fails', () => {
    apply(sessionCreatedRecord(sub));
    assert.throws(
      () =>
        projected.store.applyBatch((projection) => {
          projection.apply(2, offersViewedRecord(sub, ['a']), 1);
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
