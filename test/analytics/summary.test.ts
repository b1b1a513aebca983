import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { FoldedStore } from '../support/folded-store.ts';
import { clickedRecord, createdRecord, reportedRecord, subOf, viewedRecord } from '../support/ledger-records.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('summary', () => {
  let folded: FoldedStore;

  beforeEach(() => {
    folded = new FoldedStore();
  });
  afterEach(() => folded.close());

  const fold = (...records: readonly unknown[]) => folded.fold(...records);

  function ask(wanted: Partial<SummaryQuery>): SummaryResult {
    return folded.store.getSummary({
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

  it('keeps the figures of two accounts with the same tag apart', () => {
    const mine = subOf({ createdMs: noon, serial: 1, account: 1 });
    const theirs = [2, 3].map((serial) => subOf({ createdMs: noon, serial, account: 2 }));
    fold(createdRecord(mine), ...theirs.map((sub) => createdRecord(sub)));
    assert.equal(ask({ account: 1, referrerTag: 'tag-one' }).sessions, 1);
    assert.equal(ask({ account: 2, referrerTag: 'tag-one' }).sessions, 2);
    assert.equal(ask({ account: 1, subs: [mine, ...theirs] }).sessions, 1);
    assert.equal(ask({ account: 3, referrerTag: 'tag-one' }).sessions, 0);
  });

  it('keeps live and test figures apart, and those of two verticals', () => {
    const live = subOf({ createdMs: noon, serial: 1 });
    const test = subOf({ createdMs: noon, serial: 2, mode: 'test' });
    const other = subOf({ createdMs: noon, serial: 3, vertical: 2 });
    fold(createdRecord(live), createdRecord(test), createdRecord(other));
    const subs = [live, test, other];
    for (const wanted of [{ mode: 'live' }, { mode: 'test' }, { vertical: 2 }] as const) {
      assert.equal(ask({ ...wanted, referrerTag: 'tag-one' }).sessions, 1);
      assert.equal(ask({ ...wanted, subs }).sessions, 1);
    }
  });

  it('answers by tag and by the ids of that tag with the same figures', () => {
    const subs: Buffer[] = [];
    for (let serial = 0; serial < 40; serial++) {
      const sub = subOf({ createdMs: noon - serial * dayMs, serial });
      subs.push(sub);
      fold(createdRecord(sub, { device: (serial % 5) as 0 }), viewedRecord(sub, ['a', 'b', 'c']));
      if (serial % 2 === 0) fold(clickedRecord(sub, 'a', { valueMicros: 1_000 + serial }));
      if (serial % 4 === 0) fold(reportedRecord(sub, ['widget_loaded', 'offer_impression', 'offer_impression']));
      if (serial % 3 === 0) fold(clickedRecord(sub, 'b', { lender: 'Lender of a', valueMicros: 7 }));
    }
    const window = { fromDay: today - 35, toDay: today - 3, today: today + 30 };
    const byTag = ask({ ...window, referrerTag: 'tag-one' });
    const bySubs = ask({ ...window, subs });
    assert.equal(byTag.sessions, 33);
    assert.equal(byTag.byDevice.length, 5);
    assert.equal(byTag.matured.sessions, 20);
    assert.deepEqual(byTag.widgetEvents, [8, 0, 16, 0, 0, 0, 0]);
    assert.equal(bySubs.subsOutsideDates, 7);
    assert.deepEqual({ ...bySubs, subsOutsideDates: 0 }, byTag);
  });

  it('takes the intersection when ids and a tag are given', () => {
    const one = subOf({ createdMs: noon, serial: 1 });
    const two = subOf({ createdMs: noon, serial: 2 });
    const old = subOf({ createdMs: noon - 40 * dayMs, serial: 3 });
    const oldOfTwo = subOf({ createdMs: noon - 40 * dayMs, serial: 4 });
    const another = subOf({ createdMs: noon, serial: 5 });
    fold(createdRecord(one), createdRecord(two, { tag: 'tag-two' }), createdRecord(another));
    fold(createdRecord(old), createdRecord(oldOfTwo, { tag: 'tag-two' }));
    const figures = ask({ referrerTag: 'tag-one', subs: [one, two, old, oldOfTwo] });
    assert.equal(figures.sessions, 1);
    assert.equal(figures.subsOutsideDates, 1);
  });

  it('lets ids that no session has contribute nothing', () => {
    const figures = ask({ subs: [subOf({ createdMs: noon, serial: 1 })] });
    assert.deepEqual([figures.sessions, figures.subsOutsideDates], [0, 0]);
  });

  it('includes the first and the last day of the window and no other', () => {
    const subs = [-1, 0, 1, 2, 3].map((day) => subOf({ createdMs: (today + day) * dayMs, serial: day + 1 }));
    fold(...subs.map((sub) => createdRecord(sub)));
    const window = { fromDay: today, toDay: today + 2 };
    assert.equal(ask({ ...window, referrerTag: 'tag-one' }).sessions, 3);
    const bySubs = ask({ ...window, subs });
    assert.deepEqual([bySubs.sessions, bySubs.subsOutsideDates], [3, 2]);
  });

  it('lists lenders with a click by clicks, then by name, and not more than twenty', () => {
    const lenders = Array.from({ length: 25 }, (_, i) => `Lender ${String.fromCharCode(97 + i)}`);
    const subs = [1, 2].map((serial) => subOf({ createdMs: noon, serial }));
    const offers = lenders.map((_, i) => `offer-${i}`);
    for (const sub of subs) fold(createdRecord(sub), viewedRecord(sub, offers));
    for (const [i, lender] of lenders.toReversed().entries()) fold(clickedRecord(subs[0]!, `offer-${i}`, { lender }));
    fold(clickedRecord(subs[1]!, 'offer-3', { lender: 'Lender x' }));
    const expected = ['Lender x', ...lenders.filter((lender) => lender !== 'Lender x')].slice(0, 20);
    for (const figures of [ask({ referrerTag: 'tag-one' }), ask({ subs })]) {
      assert.deepEqual(
        figures.topLenders,
        expected.map((lender) => ({ lender, clicks: lender === 'Lender x' ? 2 : 1, confirmedMicros: 0 })),
      );
    }
  });

  it('orders lender names alike by tag and by ids when they are not plain ASCII', () => {
    const sub = subOf({ createdMs: noon, serial: 1 });
    const lenders = ['Zins', 'Ärzte', '\u{ff21}bank', '\u{1f3e6} Bank', 'ähnlich', 'zins', ''];
    fold(createdRecord(sub), viewedRecord(sub, lenders));
    for (const lender of lenders) fold(clickedRecord(sub, lender, { lender }));
    const byTag = ask({ referrerTag: 'tag-one' }).topLenders.map(({ lender }) => lender);
    assert.deepEqual(byTag, ['', 'Zins', 'zins', 'Ärzte', 'ähnlich', '\u{ff21}bank', '\u{1f3e6} Bank']);
    assert.deepEqual(
      ask({ subs: [sub] }).topLenders.map(({ lender }) => lender),
      byTag,
    );
  });

  it('breaks the figures down by the devices that occur', () => {
    const phone = subOf({ createdMs: noon, serial: 1 });
    const desk = subOf({ createdMs: noon, serial: 2 });
    fold(createdRecord(phone, { device: 2 }), createdRecord(desk, { device: 1 }));
    fold(viewedRecord(phone, ['a']), clickedRecord(phone, 'a', { valueMicros: 12 }));
    const expected = [
      { device: 1, sessions: 1, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 },
      { device: 2, sessions: 1, views: 1, clicks: 1, attributedMicros: 12, confirmedMicros: 0 },
    ];
    assert.deepEqual(ask({ referrerTag: 'tag-one' }).byDevice, expected);
    assert.deepEqual(ask({ subs: [phone, desk] }).byDevice, expected);
  });

  it('calls a cohort matured on the 46th day after its own, and not on the 45th', () => {
    const sub = subOf({ createdMs: noon, serial: 1 });
    fold(createdRecord(sub));
    for (const filter of [{ referrerTag: 'tag-one' }, { subs: [sub] }]) {
      assert.equal(ask({ ...filter, today: today + 45 }).matured.sessions, 0);
      assert.equal(ask({ ...filter, today: today + 46 }).matured.sessions, 1);
    }
  });

  it('says how far the counters have followed the log, and null for an empty one', () => {
    assert.equal(ask({ referrerTag: 'tag-one' }).asOfMs, null);
    const sub = subOf({ createdMs: noon, serial: 1 });
    fold(createdRecord(sub), viewedRecord(sub, ['a'], noon + 5));
    assert.equal(ask({ referrerTag: 'tag-one' }).asOfMs, noon + 5);
    fold(['not a record']);
    assert.equal(ask({ referrerTag: 'tag-one' }).asOfMs, noon + 5);
  });
});
