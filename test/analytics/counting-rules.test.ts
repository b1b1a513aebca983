import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { FoldedStore } from '../support/folded-store.ts';
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

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('counting rules', () => {
  let folded: FoldedStore;

  beforeEach(() => {
    folded = new FoldedStore();
  });
  afterEach(() => folded.close());

  /** Folds records, in one batch or in batches of one: no rule may depend on it, and memory is never asked for the past. */
  const fold = (...records: readonly unknown[]) => folded.fold(...records);

  function foldEachAlone(...records: readonly unknown[]): void {
    for (const record of records) {
      fold(record);
      folded.reopen();
    }
  }

  function ask(wanted: Partial<SummaryQuery> = {}): SummaryResult {
    return folded.store.getSummary({
      account: 1,
      vertical: 1,
      mode: 'live',
      referrerTag: wanted.subs ? null : 'tag-one',
      subs: null,
      fromDay: today - 30,
      toDay: today,
      today,
      ...wanted,
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
    fold(
      createdRecord(sub),
      viewedRecord(sub, ['a', 'b']),
      viewedRecord(sub, ['b', 'c']),
      clickedRecord(sub, 'a', { valueMicros: 3_500_000 }),
      clickedRecord(sub, 'c', { valueMicros: 40 }),
    );
    const { sessions, views, clicks, attributedMicros, confirmedMicros } = ask();
    assert.deepEqual(
      { sessions, views, clicks, attributedMicros, confirmedMicros },
      { sessions: 1, views: 2, clicks: 2, attributedMicros: 3_500_040, confirmedMicros: 0 },
    );
  });

  it('counts the same when every record is folded by another process', () => {
    const records = [
      createdRecord(sub),
      viewedRecord(sub, ['a', 'b']),
      viewedRecord(sub, ['b', 'c']),
      clickedRecord(sub, 'b'),
      clickedRecord(sub, 'a'),
      clickedRecord(sub, 'a'),
      clickedRecord(sub, 'z'),
    ];
    foldEachAlone(...records);
    const { sessions, views, clicks } = ask();
    assert.deepEqual({ sessions, views, clicks }, { sessions: 1, views: 2, clicks: 2 });
    const totals = folded.store.getTotals();
    assert.deepEqual([totals.records, totals.duplicateClicks, totals.unshownClicks], [7, 1, 1]);
    assert.deepEqual(ask({ subs: [sub] }).topLenders, ask().topLenders);
  });

  it('counts only the first click of a session and offer, and the rest as duplicates', () => {
    fold(
      createdRecord(sub),
      viewedRecord(sub, ['a']),
      clickedRecord(sub, 'a', { valueMicros: 5 }),
      clickedRecord(sub, 'a', { valueMicros: 7 }),
    );
    assert.equal(ask().clicks, 1);
    assert.equal(ask().attributedMicros, 5);
    assert.equal(folded.store.getTotals().duplicateClicks, 1);
  });

  it('counts the same offer once for each of two sessions', () => {
    const other = subOf({ createdMs: noon, serial: 2 });
    fold(createdRecord(sub), createdRecord(other), viewedRecord(sub, ['a']), viewedRecord(other, ['a']));
    fold(clickedRecord(sub, 'a'), clickedRecord(other, 'a'));
    assert.equal(ask().clicks, 2);
  });

  it('does not count a click on an offer shown only later, nor one shown to another session', () => {
    const other = subOf({ createdMs: noon, serial: 2 });
    fold(
      createdRecord(sub),
      createdRecord(other),
      viewedRecord(other, ['a']),
      clickedRecord(sub, 'a'),
      viewedRecord(sub, ['a']),
    );
    assert.equal(ask().clicks, 0);
    assert.equal(folded.store.getTotals().unshownClicks, 1);
    fold(clickedRecord(sub, 'a'));
    assert.equal(ask().clicks, 1);
  });

  it('counts a click 24 hours after the creation of its session, and none later', () => {
    fold(createdRecord(sub), viewedRecord(sub, ['a', 'b']));
    fold(clickedRecord(sub, 'a', { wallMs: noon + bounds.clickAttributionMs }));
    fold(clickedRecord(sub, 'b', { wallMs: noon + bounds.clickAttributionMs + 1 }));
    assert.equal(ask().clicks, 1);
    assert.equal(folded.store.getTotals().lateClicks, 1);
  });

  it('counts a test click at zero revenue, whatever its record says', () => {
    const test = subOf({ createdMs: noon, serial: 1, mode: 'test' });
    fold(createdRecord(test), viewedRecord(test, ['a']), clickedRecord(test, 'a', { valueMicros: 9_000_000 }));
    const { clicks, attributedMicros } = ask({ mode: 'test' });
    assert.deepEqual({ clicks, attributedMicros }, { clicks: 1, attributedMicros: 0 });
    assert.equal(ask({ mode: 'test', subs: [test] }).attributedMicros, 0);
  });

  it('ignores and counts views and clicks of a session the ledger never created', () => {
    fold(viewedRecord(sub, ['a']), clickedRecord(sub, 'a'));
    assert.equal(ask().views, 0);
    assert.equal(folded.store.getTotals().unknownSession, 2);
  });

  it('lets the first record of a session stand when it is created twice', () => {
    fold(createdRecord(sub));
    fold(createdRecord(sub, { tag: 'tag-two' }), createdRecord(sub));
    assert.equal(ask().sessions, 1);
    assert.equal(ask({ referrerTag: 'tag-two' }).sessions, 0);
    assert.equal(folded.store.getTotals().repeatedSession, 2);
  });

  it('finds a session whose id is older than that of one folded before', () => {
    const older = subOf({ createdMs: noon - 5_000, serial: 3 });
    fold(createdRecord(sub));
    fold(createdRecord(older));
    foldEachAlone(viewedRecord(older, ['a']), clickedRecord(older, 'a'), createdRecord(older));
    assert.deepEqual([ask().sessions, ask().views, ask().clicks], [2, 1, 1]);
  });

  it('counts everything on the UTC day of the creation, however late it happens', () => {
    const created = subOf({ createdMs: today * dayMs - 1, serial: 1 });
    const after = today * dayMs + 3_600_000;
    fold(createdRecord(created), viewedRecord(created, ['a'], after), clickedRecord(created, 'a', { wallMs: after }));
    const yesterday = ask({ fromDay: today - 1, toDay: today - 1 });
    assert.deepEqual([yesterday.sessions, yesterday.views, yesterday.clicks], [1, 1, 1]);
    assert.equal(yesterday.topLenders.length, 1);
    const day = ask({ fromDay: today, toDay: today });
    assert.deepEqual([day.sessions, day.views, day.clicks, day.topLenders.length], [0, 0, 0, 0]);
  });

  /** Of one matured session: revenue, its square in USD, and what lenders confirmed. */
  function confirmed(wanted: Partial<SummaryQuery> = {}) {
    const { confirmedMicros, matured, topLenders, byDevice } = ask({ today: today + 60, ...wanted });
    const lenders = Object.fromEntries(topLenders.map(({ lender, confirmedMicros: micros }) => [lender, micros]));
    assert.equal(matured.confirmedMicros, confirmedMicros);
    assert.equal(
      byDevice.reduce((sum, device) => sum + device.confirmedMicros, 0),
      confirmedMicros,
    );
    return { confirmedMicros, usdSquared: matured.confirmedUsdSquared, lenders };
  }

  const clickedTwice = () =>
    fold(createdRecord(sub), viewedRecord(sub, ['a', 'b', 'c']), clickedRecord(sub, 'a'), clickedRecord(sub, 'b'));

  it('adds up confirmed revenue by session, lender and device, and squares the sum of each session', () => {
    clickedTwice();
    fold(confirmedRecord(sub, 'a', { micros: 40_000_000 }), confirmedRecord(sub, 'b', { micros: 2_500_000 }));
    foldEachAlone(confirmedRecord(sub, 'a', { txid: 'tx-2', micros: 7_500_000 }));
    for (const filter of [{}, { subs: [sub] }]) {
      assert.deepEqual(confirmed(filter), {
        confirmedMicros: 50_000_000,
        usdSquared: 2_500,
        lenders: { 'Lender of a': 47_500_000, 'Lender of b': 2_500_000 },
      });
    }
  });

  it('takes a reversal back from the session, lender and square it was funded in', () => {
    clickedTwice();
    fold(confirmedRecord(sub, 'a'), confirmedRecord(sub, 'b', { micros: 10_000_000 }));
    foldEachAlone(reversedRecord(sub, 'a', { micros: 30_000_000 }));
    for (const filter of [{}, { subs: [sub] }]) {
      assert.deepEqual(confirmed(filter), {
        confirmedMicros: 20_000_000,
        usdSquared: 400,
        lenders: { 'Lender of a': 10_000_000, 'Lender of b': 10_000_000 },
      });
    }
    fold(reversedRecord(sub, 'b', { micros: 10_000_000 }));
    assert.deepEqual(confirmed().lenders, { 'Lender of a': 10_000_000, 'Lender of b': 0 });
  });

  it('adds squares up exactly, however large they are and however many come at once', () => {
    const micros = bounds.confirmedRevenueUsdMax * 1_000_000 - 10_000;
    const subs = Array.from({ length: 1_000 }, (_, serial) => subOf({ createdMs: noon, serial: serial + 10 }));
    const earned = (sub: Buffer) => [
      createdRecord(sub),
      viewedRecord(sub, ['a']),
      clickedRecord(sub, 'a'),
      confirmedRecord(sub, 'a', { micros }),
    ];
    fold(...subs.flatMap(earned));
    fold(...subs.slice(1).map((sub) => reversedRecord(sub, 'a', { micros })));
    assert.equal(confirmed().usdSquared, 9_999_999 ** 2 / 10_000);
  });

  it('counts on the day of the session, however late the lender tells', () => {
    clickedTwice();
    fold(confirmedRecord(sub, 'a', { occurredMs: noon + 44 * dayMs }));
    assert.equal(ask({ fromDay: today, toDay: today }).confirmedMicros, 40_000_000);
    assert.equal(ask({ fromDay: today + 1, toDay: today + 60 }).confirmedMicros, 0);
  });

  it('counts a click that only a confirmation tells of, and not again when its record comes', () => {
    fold(createdRecord(sub), viewedRecord(sub, ['a']));
    const click = { clickedMs: noon + 2_000, valueMicros: 3_000_000 };
    fold(confirmedRecord(sub, 'a', { click }));
    assert.deepEqual([ask().clicks, ask().attributedMicros, ask().confirmedMicros], [1, 3_000_000, 40_000_000]);
    foldEachAlone(clickedRecord(sub, 'a'), confirmedRecord(sub, 'a', { txid: 'tx-2', click }));
    assert.deepEqual([ask().clicks, ask().attributedMicros, ask().confirmedMicros], [1, 3_000_000, 80_000_000]);
    assert.equal(folded.store.getTotals().duplicateClicks, 1);
  });

  it('ignores and counts what breaks the rules of confirmations', () => {
    clickedTwice();
    const test = subOf({ createdMs: noon, serial: 2, mode: 'test' });
    fold(createdRecord(test), viewedRecord(test, ['a']), clickedRecord(test, 'a'));
    const stranger = subOf({ createdMs: noon, serial: 3 });
    foldEachAlone(
      confirmedRecord(sub, 'c'),
      confirmedRecord(sub, 'z'),
      confirmedRecord(test, 'a'),
      confirmedRecord(stranger, 'a'),
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
    const { unknownSession, repeatedConfirmations, unsoundConfirmations } = folded.store.getTotals();
    assert.deepEqual([unknownSession, repeatedConfirmations, unsoundConfirmations], [1, 2, 10]);
  });

  it('counts one view for each widget load, and clicks on all that the load has shown', () => {
    fold(
      createdRecord(sub),
      widgetViewedRecord(sub, ['a']),
      widgetViewedRecord(sub, ['b'], { again: true }),
      widgetViewedRecord(sub, ['a', 'c'], { load: 2 }),
    );
    foldEachAlone(widgetViewedRecord(sub, ['d'], { load: 2, again: true, wallMs: noon + 9_000 }));
    assert.equal(folded.store.listRows({ ...byTag, afterPosition: 0, limit: 1 }).rows[0]!.lastEventMs, noon + 9_000);
    foldEachAlone(...['a', 'b', 'c', 'd', 'e'].map((offer) => clickedRecord(sub, offer)));
    for (const wanted of [{}, { subs: [sub] }]) assert.deepEqual([ask(wanted).views, ask(wanted).clicks], [2, 4]);
    assert.equal(folded.store.getTotals().unshownClicks, 1);
  });

  it('counts what widgets told by type, on the day of the session', () => {
    const phone = subOf({ createdMs: today * dayMs - 1, serial: 2 });
    fold(createdRecord(sub), createdRecord(phone, { device: 2 }));
    fold(
      reportedRecord(sub, ['widget_loaded', 'offers_rendered', 'offer_impression', 'offer_impression']),
      reportedRecord(phone, ['widget_loaded', 'widget_error']),
    );
    foldEachAlone(
      reportedRecord(sub, ['offer_details_opened', 'disclosure_opened', 'offer_click'], { firstEvent: 5 }),
      reportedRecord(phone, ['widget_error'], { load: 2, firstEvent: 3, wallMs: noon }),
    );
    assert.deepEqual(ask().widgetEvents, [2, 1, 2, 1, 1, 1, 2]);
    assert.deepEqual(ask({ subs: [sub, phone] }).widgetEvents, [2, 1, 2, 1, 1, 1, 2]);
    const yesterday = { fromDay: today - 1, toDay: today - 1 };
    for (const wanted of [yesterday, { ...yesterday, subs: [sub, phone] }]) {
      assert.deepEqual(ask(wanted).widgetEvents, [1, 0, 0, 0, 0, 0, 2]);
    }
    const others = [{ referrerTag: 'tag-two' }, { mode: 'test' }, { account: 2 }, { subs: [] }] as const;
    for (const wanted of others) assert.deepEqual(ask(wanted).widgetEvents, [0, 0, 0, 0, 0, 0, 0]);
  });

  it('books nothing for a click that only a widget tells of, and no view', () => {
    fold(createdRecord(sub), widgetViewedRecord(sub, ['a']));
    fold(reportedRecord(sub, ['offers_rendered', 'offer_click'], { offerId: 'a' }));
    const { views, clicks, attributedMicros, topLenders } = ask();
    assert.deepEqual([views, clicks, attributedMicros, topLenders], [1, 0, 0, []]);
  });

  it('moves the last event of a session by what its widgets told, and never back', () => {
    const lastEvent = () => folded.store.listRows({ ...byTag, afterPosition: 0, limit: 1 }).rows[0]!.lastEventMs;
    fold(createdRecord(sub));
    fold(reportedRecord(sub, ['widget_loaded'], { wallMs: noon + 5_000 }));
    assert.equal(lastEvent(), noon + 5_000);
    foldEachAlone(reportedRecord(sub, ['offer_impression'], { wallMs: noon + 4_000 }));
    assert.equal(lastEvent(), noon + 5_000);
  });

  it('ignores and counts a report of a session the ledger never created, and what is shown again to it', () => {
    fold(reportedRecord(sub, ['widget_loaded']), widgetViewedRecord(sub, ['a'], { again: true }));
    assert.deepEqual(ask().widgetEvents, [0, 0, 0, 0, 0, 0, 0]);
    assert.equal(folded.store.getTotals().unknownSession, 2);
  });

  it('leaves out events of a type of a later version, and counts the others of their record', () => {
    fold(createdRecord(sub), reportedRecord(sub, [7, 'offer_click', 4_000]), reportedRecord(sub, [7]));
    assert.deepEqual(ask().widgetEvents, [0, 0, 0, 0, 0, 1, 0]);
    assert.equal(folded.store.getTotals().malformed, 0);
  });

  it('skips and counts whatever is not a record', () => {
    const eight = Buffer.alloc(8);
    const many = bounds.logRecordItemsMax + 1;
    const wrong: unknown[] = [
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
    fold(...wrong, createdRecord(sub), viewedRecord(sub, ['a']));
    assert.deepEqual(
      { ...folded.store.getTotals() },
      {
        records: wrong.length + 2,
        sealedSession: 0,
        malformed: wrong.length,
        unknownSession: 0,
        repeatedSession: 0,
        unshownClicks: 0,
        duplicateClicks: 0,
        lateClicks: 0,
        repeatedConfirmations: 0,
        unsoundConfirmations: 0,
      },
    );
    assert.deepEqual([ask().sessions, ask().views], [1, 1]);
  });

  it('counts a record of a later version that has more members', () => {
    fold([...createdRecord(sub), 'more'], [...widgetViewedRecord(sub, ['a']), 1], [...clickedRecord(sub, 'a'), null]);
    fold([...reportedRecord(sub, ['widget_loaded']), 'more']);
    assert.deepEqual([ask().sessions, ask().views, ask().clicks], [1, 1, 1]);
    assert.equal(ask().widgetEvents[0], 1);
  });

  it('leaves the store as it was when a batch fails', () => {
    fold(createdRecord(sub));
    assert.throws(
      () =>
        folded.store.applyBatch((batch) => {
          batch.apply(2, viewedRecord(sub, ['a']), 1);
          throw new Error('cut off');
        }),
      /cut off/,
    );
    folded.reopen();
    assert.equal(folded.store.cursor?.position, 1);
    assert.deepEqual([ask().sessions, ask().views], [1, 0]);
    assert.equal(ask({ subs: [sub] }).views, 0);
  });
});
