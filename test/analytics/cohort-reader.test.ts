import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { DayMetrics, SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { noFigures, noWidgetEvents } from '../support/canned-analytics.ts';
import { clickedRecord, createdRecord, reportedRecord, subOf, viewedRecord } from '../support/ledger-records.ts';
import { ProjectedStore } from '../support/projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

let projected: ProjectedStore;
beforeEach(() => {
  projected = new ProjectedStore();
});
afterEach(() => projected.close());

const apply = (...records: readonly unknown[]) => projected.apply(...records);
const tagOne = { account: 1, vertical: 1, mode: 'live', referrerTag: 'tag-one', subs: null, today } as const;

describe('summary', () => {
  function query(filter: Partial<SummaryQuery> = {}): SummaryResult {
    const referrerTag = filter.subs ? null : 'tag-one';
    return projected.store.getSummary({ ...tagOne, referrerTag, fromDay: today - 30, toDay: today, ...filter });
  }

  it('includes only sessions of the account, vertical, mode and tag', () => {
    const subs = [
      { serial: 1 },
      { serial: 2, account: 2 },
      { serial: 3, account: 2 },
      { serial: 4, mode: 'test' as const },
      { serial: 5, vertical: 2 },
    ].map((wanted) => subOf({ createdMs: noon, ...wanted }));
    const [, ofTagTwo, old, oldOfTagTwo] = [0, 0, 40, 40].map((age, serial) =>
      subOf({ createdMs: noon - age * dayMs, serial: serial + 10 }),
    ) as [Buffer, Buffer, Buffer, Buffer];
    apply(...subs.map((sub) => createdRecord(sub)), createdRecord(old));
    apply(...[ofTagTwo, oldOfTagTwo].map((sub) => createdRecord(sub, { tag: 'tag-two' })));
    for (const [filter, sessions] of [
      [{ account: 1 }, 1],
      [{ account: 2 }, 2],
      [{ account: 3 }, 0],
      [{ mode: 'test' }, 1],
      [{ vertical: 2 }, 1],
    ] as const) {
      assert.equal(query(filter).sessions, sessions);
      assert.equal(query({ ...filter, subs }).sessions, sessions);
    }
    const both = query({ referrerTag: 'tag-one', subs: [subs[0]!, ofTagTwo, old, oldOfTagTwo] });
    assert.deepEqual([both.sessions, both.subsOutsideDates], [1, 1]);
    const unknown = query({ subs: [subOf({ createdMs: noon, serial: 99 })] });
    assert.deepEqual([unknown.sessions, unknown.subsOutsideDates], [0, 0]);
  });

  it('contains the same figures for a tag and for its sub_ids', () => {
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
    const byTag = query(window);
    const bySubs = query({ ...window, subs });
    assert.equal(byTag.sessions, 33);
    assert.equal(byTag.byDevice.length, 5);
    assert.equal(byTag.matured.sessions, 20);
    assert.deepEqual(byTag.widgetEvents, [8, 0, 16, 0, 0, 0, 0]);
    assert.equal(bySubs.subsOutsideDates, 7);
    assert.deepEqual({ ...bySubs, subsOutsideDates: 0 }, byTag);
  });

  it('includes the first and the last day of the window', () => {
    const subs = [-1, 0, 1, 2, 3].map((day) => subOf({ createdMs: (today + day) * dayMs, serial: day + 1 }));
    apply(...subs.map((sub) => createdRecord(sub)));
    const window = { fromDay: today, toDay: today + 2 };
    assert.equal(query(window).sessions, 3);
    const bySubs = query({ ...window, subs });
    assert.deepEqual([bySubs.sessions, bySubs.subsOutsideDates], [3, 2]);
  });

  it('lists up to 20 lenders by clicks, then by name', () => {
    const lenders = Array.from({ length: 25 }, (_, i) => `Lender ${String.fromCharCode(97 + i)}`);
    const subs = [1, 2].map((serial) => subOf({ createdMs: noon, serial }));
    const offers = lenders.map((_, i) => `offer-${i}`);
    for (const sub of subs) apply(createdRecord(sub), viewedRecord(sub, offers));
    for (const [i, lender] of lenders.toReversed().entries()) apply(clickedRecord(subs[0]!, `offer-${i}`, { lender }));
    apply(clickedRecord(subs[1]!, 'offer-3', { lender: 'Lender x' }));
    const expected = ['Lender x', ...lenders.filter((lender) => lender !== 'Lender x')].slice(0, 20);
    for (const filter of [{}, { subs }]) {
      assert.deepEqual(
        query(filter).topLenders,
        expected.map((lender) => ({ lender, clicks: lender === 'Lender x' ? 2 : 1, confirmedMicros: 0 })),
      );
    }
  });

  it('sorts non-ASCII lender names in the same order for a tag and for sub_ids', () => {
    const sub = subOf({ createdMs: noon, serial: 1 });
    const lenders = ['Zins', 'Ärzte', '\u{ff21}bank', '\u{1f3e6} Bank', 'ähnlich', 'zins', ''];
    apply(createdRecord(sub), viewedRecord(sub, lenders));
    for (const lender of lenders) apply(clickedRecord(sub, lender, { lender }));
    for (const filter of [{}, { subs: [sub] }]) {
      const names = query(filter).topLenders.map(({ lender }) => lender);
      assert.deepEqual(names, ['', 'Zins', 'zins', 'Ärzte', 'ähnlich', '\u{ff21}bank', '\u{1f3e6} Bank']);
    }
  });

  it('contains the figures of each device with sessions', () => {
    const [phone, desk] = [1, 2].map((serial) => subOf({ createdMs: noon, serial })) as [Buffer, Buffer];
    apply(createdRecord(phone, { device: 2 }), createdRecord(desk, { device: 1 }));
    apply(viewedRecord(phone, ['a']), clickedRecord(phone, 'a', { valueMicros: 12 }));
    for (const filter of [{}, { subs: [phone, desk] }]) {
      assert.deepEqual(query(filter).byDevice, [
        { ...noFigures, device: 1, sessions: 1 },
        { device: 2, sessions: 1, views: 1, clicks: 1, attributedMicros: 12, confirmedMicros: 0 },
      ]);
    }
  });

  it('treats a cohort as matured on the 46th day after its own day', () => {
    const sub = subOf({ createdMs: noon, serial: 1 });
    apply(createdRecord(sub));
    for (const filter of [{}, { subs: [sub] }]) {
      assert.equal(query({ ...filter, today: today + 45 }).matured.sessions, 0);
      assert.equal(query({ ...filter, today: today + 46 }).matured.sessions, 1);
    }
  });

  it('contains the time of the last projected record, or null', () => {
    assert.equal(query().asOfMs, null);
    const sub = subOf({ createdMs: noon, serial: 1 });
    apply(createdRecord(sub), viewedRecord(sub, ['a'], noon + 5));
    apply(['not a record']);
    assert.equal(query().asOfMs, noon + 5);
  });
});

describe('daily figures', () => {
  function query(filter: Partial<SummaryQuery> = {}): readonly DayMetrics[] {
    const referrerTag = filter.subs ? null : 'tag-one';
    return projected.store.listDays({ ...tagOne, referrerTag, fromDay: today - 2, toDay: today, ...filter }).days;
  }

  const none = { ...noFigures, widgetEvents: noWidgetEvents };
  const oldSub = subOf({ createdMs: noon - 2 * dayMs, serial: 1 });
  const newSub = subOf({ createdMs: noon, serial: 2 });

  it('contain every day of the window in order', () => {
    const days = [2, 1, 0].map((age) => ({ day: today - age, matured: false, ...none }));
    for (const filter of [{}, { subs: [] }]) assert.deepEqual(query(filter), days);
  });

  it('count clicks and widget events on the creation day of the session, for a tag and for sub_ids', () => {
    const otherSub = subOf({ createdMs: noon - 2 * dayMs, serial: 3 });
    apply(
      createdRecord(oldSub, { device: 1 }),
      createdRecord(newSub, { device: 2 }),
      createdRecord(otherSub, { device: 2 }),
      viewedRecord(oldSub, ['a', 'b'], noon),
      clickedRecord(oldSub, 'a', { valueMicros: 4, wallMs: noon - dayMs }),
      clickedRecord(oldSub, 'b', { valueMicros: 5, wallMs: noon - dayMs }),
      viewedRecord(newSub, ['a']),
      reportedRecord(oldSub, ['widget_loaded', 'offer_click'], { wallMs: noon }),
      reportedRecord(otherSub, ['widget_loaded']),
    );
    for (const [filter, sessions, loads] of [
      [{}, 2, 2],
      [{ subs: [newSub, oldSub] }, 1, 1],
    ] as const) {
      const figures = { ...none, sessions, views: 1, clicks: 2, attributedMicros: 9 };
      assert.deepEqual(query(filter), [
        { day: today - 2, matured: false, ...figures, widgetEvents: [loads, 0, 0, 0, 0, 1, 0] },
        { day: today - 1, matured: false, ...none },
        { day: today, matured: false, ...none, sessions: 1, views: 1 },
      ]);
      assert.deepEqual(query({ ...filter, fromDay: today - 1 }), query(filter).slice(1));
    }
  });

  it('include only sessions of the tag, account and mode', () => {
    const others = [
      createdRecord(subOf({ createdMs: noon, serial: 4, account: 2 })),
      createdRecord(subOf({ createdMs: noon, serial: 5, mode: 'test' })),
      createdRecord(subOf({ createdMs: noon, serial: 6 }), { tag: 'tag-two' }),
    ];
    apply(createdRecord(newSub), ...others);
    const subs = [newSub, ...others.map(([, , sub]) => sub)];
    for (const [filter, count] of [
      [{}, 1],
      [{ subs }, 2],
      [{ subs, referrerTag: 'tag-two' }, 1],
    ] as const) {
      const sessions = query(filter).map((day) => day.sessions);
      assert.deepEqual(sessions, [0, 0, count]);
    }
  });

  it('mark matured days', () => {
    const days = query({ fromDay: today - 47, toDay: today - 44 });
    assert.deepEqual(
      days.map(({ matured }) => matured),
      [true, true, false, false],
    );
  });
});
