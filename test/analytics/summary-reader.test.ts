import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { clickedRecord, createdRecord, reportedRecord, subOf, viewedRecord } from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('summary', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const apply = (...records: readonly unknown[]) => projected.apply(...records);

  function query(wanted: Partial<SummaryQuery>): SummaryResult {
    return projected.store.getSummary({
      account: 1,
      vertical: 1,
      mode: 'live',
      referrerTag: null,
      subs: null,
      fromDay: today - 30,
      toDay: today,
      today,
      ...wanted,
    });
  }

  it('separates two accounts with the same tag', () => {
    const mine = subOf({ createdMs: noon, serial: 1, account: 1 });
    const theirs = [2, 3].map((serial) => subOf({ createdMs: noon, serial, account: 2 }));
    apply(createdRecord(mine), ...theirs.map((sub) => createdRecord(sub)));
    assert.equal(query({ account: 1, referrerTag: 'tag-one' }).sessions, 1);
    assert.equal(query({ account: 2, referrerTag: 'tag-one' }).sessions, 2);
    assert.equal(query({ account: 1, subs: [mine, ...theirs] }).sessions, 1);
    assert.equal(query({ account: 3, referrerTag: 'tag-one' }).sessions, 0);
  });

  it('separates modes and verticals', () => {
    const live = subOf({ createdMs: noon, serial: 1 });
    const test = subOf({ createdMs: noon, serial: 2, mode: 'test' });
    const other = subOf({ createdMs: noon, serial: 3, vertical: 2 });
    apply(createdRecord(live), createdRecord(test), createdRecord(other));
    const subs = [live, test, other];
    for (const wanted of [{ mode: 'live' }, { mode: 'test' }, { vertical: 2 }] as const) {
      assert.equal(query({ ...wanted, referrerTag: 'tag-one' }).sessions, 1);
      assert.equal(query({ ...wanted, subs }).sessions, 1);
    }
  });

  it('returns the same figures for a tag and for its sub_ids', () => {
    const subs: Buffer[] = [];
    for (let serial = 0; serial < 40; serial++) {
      const sub = subOf({ createdMs: noon - serial * dayMs, serial });
      subs.push(sub);
      apply(createdRecord(sub, { device: (serial % 5) as 0 }), viewedRecord(sub, ['a', 'b', 'c']));
      if (serial % 2 === 0) apply(clickedRecord(sub, 'a', { valueMicros: 1_000 + serial }));
      if (serial % 4 === 0) apply(reportedRecord(sub, ['widget_loaded', 'offer_impression', 'offer_impression']));
      if (serial % 3 === 0) apply(clickedRecord(sub, 'b', { lender: 'Lender of a', valueMicros: 7 }));
    }
    const window = { fromDay: today - 35, toDay: today - 3, today: today + 30 };
    const byTag = query({ ...window, referrerTag: 'tag-one' });
    const bySubs = query({ ...window, subs });
    assert.equal(byTag.sessions, 33);
    assert.equal(byTag.byDevice.length, 5);
    assert.equal(byTag.matured.sessions, 20);
    assert.deepEqual(byTag.widgetEvents, [8, 0, 16, 0, 0, 0, 0]);
    assert.equal(bySubs.subsOutsideDates, 7);
    assert.deepEqual({ ...bySubs, subsOutsideDates: 0 }, byTag);
  });

  it('intersects sub_ids and tag', () => {
    const one = subOf({ createdMs: noon, serial: 1 });
    const two = subOf({ createdMs: noon, serial: 2 });
    const old = subOf({ createdMs: noon - 40 * dayMs, serial: 3 });
    const oldOfTwo = subOf({ createdMs: noon - 40 * dayMs, serial: 4 });
    const another = subOf({ createdMs: noon, serial: 5 });
    apply(createdRecord(one), createdRecord(two, { tag: 'tag-two' }), createdRecord(another));
    apply(createdRecord(old), createdRecord(oldOfTwo, { tag: 'tag-two' }));
    const figures = query({ referrerTag: 'tag-one', subs: [one, two, old, oldOfTwo] });
    assert.equal(figures.sessions, 1);
    assert.equal(figures.subsOutsideDates, 1);
  });

  it('ignores sub_ids without a session', () => {
    const figures = query({ subs: [subOf({ createdMs: noon, serial: 1 })] });
    assert.deepEqual([figures.sessions, figures.subsOutsideDates], [0, 0]);
  });

  it('includes the first and the last day of the window', () => {
    const subs = [-1, 0, 1, 2, 3].map((day) => subOf({ createdMs: (today + day) * dayMs, serial: day + 1 }));
    apply(...subs.map((sub) => createdRecord(sub)));
    const window = { fromDay: today, toDay: today + 2 };
    assert.equal(query({ ...window, referrerTag: 'tag-one' }).sessions, 3);
    const bySubs = query({ ...window, subs });
    assert.deepEqual([bySubs.sessions, bySubs.subsOutsideDates], [3, 2]);
  });

  it('returns up to 20 lenders by clicks, then by name', () => {
    const lenders = Array.from({ length: 25 }, (_, i) => `Lender ${String.fromCharCode(97 + i)}`);
    const subs = [1, 2].map((serial) => subOf({ createdMs: noon, serial }));
    const offers = lenders.map((_, i) => `offer-${i}`);
    for (const sub of subs) apply(createdRecord(sub), viewedRecord(sub, offers));
    for (const [i, lender] of lenders.toReversed().entries()) apply(clickedRecord(subs[0]!, `offer-${i}`, { lender }));
    apply(clickedRecord(subs[1]!, 'offer-3', { lender: 'Lender x' }));
    const expected = ['Lender x', ...lenders.filter((lender) => lender !== 'Lender x')].slice(0, 20);
    for (const figures of [query({ referrerTag: 'tag-one' }), query({ subs })]) {
      assert.deepEqual(
        figures.topLenders,
        expected.map((lender) => ({ lender, clicks: lender === 'Lender x' ? 2 : 1, confirmedMicros: 0 })),
      );
    }
  });

  it('sorts non-ASCII lender names in the same order for a tag and for sub_ids', () => {
    const sub = subOf({ createdMs: noon, serial: 1 });
    const lenders = ['Zins', 'Ärzte', '\u{ff21}bank', '\u{1f3e6} Bank', 'ähnlich', 'zins', ''];
    apply(createdRecord(sub), viewedRecord(sub, lenders));
    for (const lender of lenders) apply(clickedRecord(sub, lender, { lender }));
    const byTag = query({ referrerTag: 'tag-one' }).topLenders.map(({ lender }) => lender);
    assert.deepEqual(byTag, ['', 'Zins', 'zins', 'Ärzte', 'ähnlich', '\u{ff21}bank', '\u{1f3e6} Bank']);
    assert.deepEqual(
      query({ subs: [sub] }).topLenders.map(({ lender }) => lender),
      byTag,
    );
  });

  it('returns the figures of each device with sessions', () => {
    const phone = subOf({ createdMs: noon, serial: 1 });
    const desk = subOf({ createdMs: noon, serial: 2 });
    apply(createdRecord(phone, { device: 2 }), createdRecord(desk, { device: 1 }));
    apply(viewedRecord(phone, ['a']), clickedRecord(phone, 'a', { valueMicros: 12 }));
    const expected = [
      { device: 1, sessions: 1, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 },
      { device: 2, sessions: 1, views: 1, clicks: 1, attributedMicros: 12, confirmedMicros: 0 },
    ];
    assert.deepEqual(query({ referrerTag: 'tag-one' }).byDevice, expected);
    assert.deepEqual(query({ subs: [phone, desk] }).byDevice, expected);
  });

  it('treats a cohort as matured on the 46th day after its own day', () => {
    const sub = subOf({ createdMs: noon, serial: 1 });
    apply(createdRecord(sub));
    for (const filter of [{ referrerTag: 'tag-one' }, { subs: [sub] }]) {
      assert.equal(query({ ...filter, today: today + 45 }).matured.sessions, 0);
      assert.equal(query({ ...filter, today: today + 46 }).matured.sessions, 1);
    }
  });

  it('returns the time of the last projected record, or null', () => {
    assert.equal(query({ referrerTag: 'tag-one' }).asOfMs, null);
    const sub = subOf({ createdMs: noon, serial: 1 });
    apply(createdRecord(sub), viewedRecord(sub, ['a'], noon + 5));
    assert.equal(query({ referrerTag: 'tag-one' }).asOfMs, noon + 5);
    apply(['not a record']);
    assert.equal(query({ referrerTag: 'tag-one' }).asOfMs, noon + 5);
  });
});
