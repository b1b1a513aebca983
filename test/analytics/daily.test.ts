import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { DayMetrics, SummaryQuery } from '../../src/analytics/analytics.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { noFigures, noWidgetEvents } from '../support/canned-analytics.ts';
import { FoldedStore } from '../support/folded-store.ts';
import { clickedRecord, createdRecord, reportedRecord, subOf, viewedRecord } from '../support/ledger-records.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('daily', () => {
  let folded: FoldedStore;

  beforeEach(() => {
    folded = new FoldedStore();
  });
  afterEach(() => folded.close());

  const fold = (...records: readonly unknown[]) => folded.fold(...records);

  function ask(wanted: Partial<SummaryQuery> = {}): readonly DayMetrics[] {
    const { days } = folded.store.listDays({
      account: 1,
      vertical: 1,
      mode: 'live',
      referrerTag: wanted.subs ? null : 'tag-one',
      subs: null,
      fromDay: today - 2,
      toDay: today,
      today,
      ...wanted,
    });
    return days;
  }

  const sessionsOf = (days: readonly DayMetrics[]) => days.map(({ sessions }) => sessions);
  const none = { ...noFigures, widgetEvents: noWidgetEvents };
  const oldSub = subOf({ createdMs: noon - 2 * dayMs, serial: 1 });
  const newSub = subOf({ createdMs: noon, serial: 2 });

  it('has every day of the window in order, those without a session too', () => {
    assert.deepEqual(
      ask(),
      [2, 1, 0].map((age) => ({ day: today - age, matured: false, ...none })),
    );
    assert.deepEqual(ask({ subs: [] }), ask());
  });

  it('counts on the day a session was created, for a tag and for ids alike', () => {
    fold(
      createdRecord(oldSub, { device: 1 }),
      createdRecord(newSub, { device: 2 }),
      createdRecord(subOf({ createdMs: noon - 2 * dayMs, serial: 3 }), { device: 2 }),
      viewedRecord(oldSub, ['a', 'b'], noon),
      clickedRecord(oldSub, 'a', { valueMicros: 4, wallMs: noon - dayMs }),
      clickedRecord(oldSub, 'b', { valueMicros: 5, wallMs: noon - dayMs }),
      viewedRecord(newSub, ['a']),
    );
    assert.deepEqual(ask(), [
      { day: today - 2, matured: false, ...none, sessions: 2, views: 1, clicks: 2, attributedMicros: 9 },
      { day: today - 1, matured: false, ...none },
      { day: today, matured: false, ...none, sessions: 1, views: 1 },
    ]);
    assert.deepEqual(ask({ subs: [newSub, oldSub] }), [
      { day: today - 2, matured: false, ...none, sessions: 1, views: 1, clicks: 2, attributedMicros: 9 },
      { day: today - 1, matured: false, ...none },
      { day: today, matured: false, ...none, sessions: 1, views: 1 },
    ]);
  });

  it('has what widgets told on the day of their session', () => {
    fold(createdRecord(oldSub, { device: 1 }), createdRecord(newSub));
    fold(createdRecord(subOf({ createdMs: noon - 2 * dayMs, serial: 3 }), { device: 2 }));
    fold(reportedRecord(oldSub, ['widget_loaded', 'offer_click'], { wallMs: noon }));
    fold(reportedRecord(subOf({ createdMs: noon - 2 * dayMs, serial: 3 }), ['widget_loaded']));
    const events = (days: readonly DayMetrics[]) => days.map(({ widgetEvents }) => widgetEvents);
    const [nothing, both] = [noWidgetEvents, [2, 0, 0, 0, 0, 1, 0]];
    assert.deepEqual(events(ask()), [both, nothing, nothing]);
    assert.deepEqual(events(ask({ subs: [oldSub, newSub] })), [[1, 0, 0, 0, 0, 1, 0], nothing, nothing]);
    assert.deepEqual(events(ask({ fromDay: today - 1 })), [nothing, nothing]);
  });

  it('leaves out what is before and after its window', () => {
    fold(createdRecord(oldSub), createdRecord(newSub));
    const window = { fromDay: today - 1, toDay: today - 1 };
    assert.deepEqual(sessionsOf(ask(window)), [0]);
    assert.deepEqual(sessionsOf(ask({ ...window, subs: [oldSub, newSub] })), [0]);
  });

  it('has the sessions of the tag, the account and the mode only', () => {
    const others = [
      createdRecord(subOf({ createdMs: noon, serial: 4, account: 2 })),
      createdRecord(subOf({ createdMs: noon, serial: 5, mode: 'test' })),
      createdRecord(subOf({ createdMs: noon, serial: 6 }), { tag: 'tag-two' }),
    ];
    fold(createdRecord(newSub), ...others);
    assert.deepEqual(sessionsOf(ask()), [0, 0, 1]);
    const subs = [newSub, ...others.map(([, , sub]) => sub)];
    assert.deepEqual(sessionsOf(ask({ subs })), [0, 0, 2]);
    assert.deepEqual(sessionsOf(ask({ subs, referrerTag: 'tag-two' })), [0, 0, 1]);
  });

  it('says which days are matured', () => {
    const days = ask({ fromDay: today - 47, toDay: today - 44 });
    assert.deepEqual(
      days.map(({ matured }) => matured),
      [true, true, false, false],
    );
  });
});
