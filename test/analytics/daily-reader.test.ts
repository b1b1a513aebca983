import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { DayMetrics, SummaryQuery } from '../../src/analytics/analytics.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { noFigures, noWidgetEvents } from '../support/canned-analytics.ts';
import { clickedRecord, createdRecord, reportedRecord, subOf, viewedRecord } from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('daily figures', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const apply = (...records: readonly unknown[]) => projected.apply(...records);

  function query(filter: Partial<SummaryQuery> = {}): readonly DayMetrics[] {
    const { days } = projected.store.listDays({
      account: 1,
      vertical: 1,
      mode: 'live',
      referrerTag: filter.subs ? null : 'tag-one',
      subs: null,
      fromDay: today - 2,
      toDay: today,
      today,
      ...filter,
    });
    return days;
  }

  const sessionsOf = (days: readonly DayMetrics[]) => days.map(({ sessions }) => sessions);
  const none = { ...noFigures, widgetEvents: noWidgetEvents };
  const oldSub = subOf({ createdMs: noon - 2 * dayMs, serial: 1 });
  const newSub = subOf({ createdMs: noon, serial: 2 });

  it('contain every day of the window in order', () => {
    assert.deepEqual(
      query(),
      [2, 1, 0].map((age) => ({ day: today - age, matured: false, ...none })),
    );
    assert.deepEqual(query({ subs: [] }), query());
  });

  it('count on the creation day of the session, for a tag and for sub_ids', () => {
    apply(
      createdRecord(oldSub, { device: 1 }),
      createdRecord(newSub, { device: 2 }),
      createdRecord(subOf({ createdMs: noon - 2 * dayMs, serial: 3 }), { device: 2 }),
      viewedRecord(oldSub, ['a', 'b'], noon),
      clickedRecord(oldSub, 'a', { valueMicros: 4, wallMs: noon - dayMs }),
      clickedRecord(oldSub, 'b', { valueMicros: 5, wallMs: noon - dayMs }),
      viewedRecord(newSub, ['a']),
    );
    assert.deepEqual(query(), [
      { day: today - 2, matured: false, ...none, sessions: 2, views: 1, clicks: 2, attributedMicros: 9 },
      { day: today - 1, matured: false, ...none },
      { day: today, matured: false, ...none, sessions: 1, views: 1 },
    ]);
    assert.deepEqual(query({ subs: [newSub, oldSub] }), [
      { day: today - 2, matured: false, ...none, sessions: 1, views: 1, clicks: 2, attributedMicros: 9 },
      { day: today - 1, matured: false, ...none },
      { day: today, matured: false, ...none, sessions: 1, views: 1 },
    ]);
  });

  it('count widget events on the creation day of the session', () => {
    apply(createdRecord(oldSub, { device: 1 }), createdRecord(newSub));
    apply(createdRecord(subOf({ createdMs: noon - 2 * dayMs, serial: 3 }), { device: 2 }));
    apply(reportedRecord(oldSub, ['widget_loaded', 'offer_click'], { wallMs: noon }));
    apply(reportedRecord(subOf({ createdMs: noon - 2 * dayMs, serial: 3 }), ['widget_loaded']));
    const events = (days: readonly DayMetrics[]) => days.map(({ widgetEvents }) => widgetEvents);
    const [nothing, both] = [noWidgetEvents, [2, 0, 0, 0, 0, 1, 0]];
    assert.deepEqual(events(query()), [both, nothing, nothing]);
    assert.deepEqual(events(query({ subs: [oldSub, newSub] })), [[1, 0, 0, 0, 0, 1, 0], nothing, nothing]);
    assert.deepEqual(events(query({ fromDay: today - 1 })), [nothing, nothing]);
  });

  it('include only sessions of the tag, account and mode', () => {
    const others = [
      createdRecord(subOf({ createdMs: noon, serial: 4, account: 2 })),
      createdRecord(subOf({ createdMs: noon, serial: 5, mode: 'test' })),
      createdRecord(subOf({ createdMs: noon, serial: 6 }), { tag: 'tag-two' }),
    ];
    apply(createdRecord(newSub), ...others);
    assert.deepEqual(sessionsOf(query()), [0, 0, 1]);
    const subs = [newSub, ...others.map(([, , sub]) => sub)];
    assert.deepEqual(sessionsOf(query({ subs })), [0, 0, 2]);
    assert.deepEqual(sessionsOf(query({ subs, referrerTag: 'tag-two' })), [0, 0, 1]);
  });

  it('mark matured days', () => {
    const days = query({ fromDay: today - 47, toDay: today - 44 });
    assert.deepEqual(
      days.map(({ matured }) => matured),
      [true, true, false, false],
    );
  });
});
