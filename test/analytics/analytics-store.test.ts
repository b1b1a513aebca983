import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { SessionOrder, SessionRowsQuery, SummaryQuery, SummaryResult } from '../../src/analytics/analytics.ts';
import { emptyRecordCounts } from '../../src/analytics/projection-state.ts';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import {
  type ClickDecision,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
  widgetViewedRecord,
} from '../support/ledger-records.ts';
import { AnalyticsModel } from './analytics-model.ts';
import { arbitraryRecords, everyQuery } from './arbitrary-ledger.ts';
import { archiveDays } from './archive-days.ts';
import { ProjectedStore } from './projected-store.ts';
import { byTag, noon, today } from './sample-query.ts';

const sub = subIdBytes({ createdMs: noon, serial: 1 });

describe('AnalyticsStore', () => {
  let projected: ProjectedStore;
  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const apply = (...records: readonly unknown[]) => projected.apply(...records);
  const window = { ...byTag, fromDay: today - 30, toDay: today + 30 };
  const query = (filter: Partial<SummaryQuery> = {}): SummaryResult =>
    projected.store.getSummary({ ...window, referrerTag: filter.subs ? null : 'tag-one', ...filter });
  const listSessions = (page: Partial<SessionRowsQuery> = {}) =>
    projected.store.listSessions({ ...window, order: 'oldest', afterPosition: 0, limit: 100, ...page });

  const listed = { ...window, referrerTag: 'tag-one', subs: null, afterOfferId: '' };

  /** Applies records in one batch, and then in a new store in one batch for each record. */
  const assertInAnyBatches = (records: readonly unknown[], assertFigures: () => void) => {
    apply(...records);
    assertFigures();
    projected.close();
    projected = new ProjectedStore();
    for (const record of records) {
      apply(record);
      projected.reopen();
    }
    assertFigures();
  };

  it('analytics queries return the same results as a reference model for random records and random retention runs', () => {
    const step = fc.record({
      records: arbitraryRecords,
      next: fc.constantFrom('nothing', 'nothing', 'nothing', 'reopen', 'reopen', 'retain', 'prune'),
      retentionDays: fc.constantFrom(0, 1, 46, 46, 47),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 25, size: 'max' }), (steps) => {
        const compared = new ProjectedStore();
        const model = new AnalyticsModel();
        try {
          for (const { records, next, retentionDays } of steps) {
            compared.apply(...records);
            for (const record of records) model.record(record);
            if (next === 'reopen') compared.reopen();
            if (next === 'prune' && compared.store.retention.hasRowsToPrune) compared.store.retention.pruneRows();
            if (next !== 'retain') continue;
            const request = { today, retentionDays, wallMs: noon };
            const retention = archiveDays(compared.store, request);
            assert(retention.archived);
            model.retainFrom(retention.retainedFromDay);
          }
          model.assertFigures(compared.store, everyQuery(steps.flatMap(({ records }) => records)));
          assert.deepEqual({ ...compared.store.getTotals() }, model.totals);
        } finally {
          compared.close();
        }
      }),
      { numRuns: 40 },
    );
  });

  it('payouts, reversals and clicks that payouts restore match a reference model, in one batch or in many batches', () => {
    const recordsOf = (sub: Buffer) => {
      const clickedMs = sub.readUIntBE(0, 6) + 2_000;
      const click = { clickedMs, valueMicros: 3_000_000 };
      const micros = 30_000_000;
      return [
        sessionCreatedRecord(sub, { device: 2 }),
        offersViewedRecord(sub, ['a', 'b', 'c']),
        ...['a', 'b'].map((offer) => offerClickedRecord(sub, offer)),
        revenueConfirmedRecord(sub, 'a'),
        revenueConfirmedRecord(sub, 'a', { txid: 'tx-2', micros: 7_500_000 }),
        revenueConfirmedRecord(sub, 'b', { micros: 2_500_000 }),
        // Of the reversals of a payout, only the first one counts, and only up to the amount of the payout.
        revenueReversedRecord(sub, 'a', { micros: 40_000_001 }),
        ...[micros, micros, 1_000_000].map((amount) => revenueReversedRecord(sub, 'a', { micros: amount })),
        revenueReversedRecord(sub, 'b', { micros: 2_500_000 }),
        // The first payout restores the unrecorded click.
        revenueConfirmedRecord(sub, 'c'),
        revenueConfirmedRecord(sub, 'c', { click, micros }),
        offerClickedRecord(sub, 'c'),
        revenueConfirmedRecord(sub, 'c', { click, txid: 'tx-2' }),
      ];
    };
    const matured = subIdBytes({ createdMs: noon - 46 * msPerDay, serial: 2 });
    const records = [sub, matured].flatMap(recordsOf);
    const model = new AnalyticsModel();
    for (const record of records) model.record(record);
    assertInAnyBatches(records, () => {
      model.assertFigures(projected.store, everyQuery(records));
      assert.deepEqual({ ...projected.store.getTotals() }, model.totals);
      const { clicks, attributedMicros, confirmedMicros } = query({ subs: [sub] });
      assert.deepEqual([clicks, attributedMicros, confirmedMicros], [3, 5_000_000, 87_500_000]);
    });
  });

  /** Returns clicks, attributed and confirmed revenue, and clicks without revenue, of the whole tag. */
  const clickFigures = () => {
    const { clicks, attributedMicros, confirmedMicros, unbookedClicks } = query();
    assert.deepEqual(query({ subs: [sub] }), query());
    return [clicks, attributedMicros, confirmedMicros, ...unbookedClicks];
  };
  const shown = [sessionCreatedRecord(sub), offersViewedRecord(sub, ['a', 'b', 'c', 'd', 'e'])];
  const clickOn = (offer: string, ...decision: ClickDecision) =>
    offerClickedRecord(sub, offer, { valueMicros: 2_000_000, decision });

  it('counts a click without booked revenue by its reason, and adds no revenue', () => {
    apply(
      ...shown,
      clickOn('a', false),
      clickOn('b', false, 1, true),
      clickOn('c', false, 2, true),
      clickOn('d', false, 3, true),
    );
    assert.deepEqual(clickFigures(), [4, 0, 0, 1, 1, 1, 1]);
    // A repeated record, or a reason of a later release, changes nothing.
    apply(clickOn('a', false), clickOn('b', false, 1, true), clickOn('e', false, 4, true));
    assert.deepEqual(clickFigures(), [5, 0, 0, 1, 1, 1, 1]);
  });

  it('after a click that was too fast, later clicks on the offer book the revenue once and are not counted again', () => {
    const late = offerClickedRecord(sub, 'a', { wallMs: noon + msPerDay + 1, decision: [true, null, true] });
    apply(...shown, clickOn('a', false, 2, true), clickOn('a', false, 2, true), late);
    assert.deepEqual(clickFigures(), [1, 0, 0, 0, 0, 1, 0]);
    projected.reopen();
    apply(clickOn('a', true, null, true), clickOn('a', true, null, true), clickOn('a', false, 1, true));
    assert.deepEqual(clickFigures(), [1, 2_000_000, 2_000_000, 0, 0, 1, 0]);
    projected.reopen();
    apply(clickOn('a', true, null, true), clickOn('a', null, null, true), clickOn('b', null, null, true));
    assert.deepEqual(clickFigures(), [1, 2_000_000, 2_000_000, 0, 0, 1, 0]);
    assert.deepEqual(query().topLenders, [{ lender: 'Lender of a', clicks: 1, confirmedMicros: 2_000_000 }]);
    assert.equal(projected.store.getTotals().duplicateClicks, 7);
  });

  it('adds the revenue that a click confirms to the confirmed revenue and to the sum of its squares, as for a payout', () => {
    apply(...shown, clickOn('a', true, null, true), clickOn('b', true, null, true), clickOn('c', true, null, false));
    const matured = () => query({ today: today + 60 }).matured;
    const one = { sessions: 1, sessionsWithRevenue: 1 };
    assert.deepEqual(matured(), { ...one, confirmedMicros: 4_000_000, confirmedUsdSquared: 16 });
    apply(revenueReversedRecord(sub, 'a', { reason: 0, micros: 1_500_000 }));
    assert.deepEqual(matured(), { ...one, confirmedMicros: 2_500_000, confirmedUsdSquared: 6.25 });
    assert.deepEqual(clickFigures(), [3, 6_000_000, 2_500_000, 0, 0, 0, 0]);
    // Payouts and excessive, repeated or conflicting reversals change nothing.
    apply(
      revenueReversedRecord(sub, 'a', { reason: 0, micros: 1_500_000 }),
      revenueReversedRecord(sub, 'a', { reason: 1, micros: 1_500_000 }),
      revenueReversedRecord(sub, 'a', { reason: 0, micros: 500_001, txid: 'tx-2' }),
      revenueReversedRecord(sub, 'a', { micros: 500_000, txid: 'tx-3' }),
      revenueReversedRecord(sub, 'c', { reason: 0, micros: 1 }),
      revenueConfirmedRecord(sub, 'a', { micros: 1, txid: 'tx-4' }),
    );
    assert.equal(query().confirmedMicros, 2_500_000);
    assert.equal(projected.store.getTotals().unsoundConfirmations, 5);
    projected.reopen();
    apply(revenueReversedRecord(sub, 'a', { reason: 3, micros: 500_000, txid: 'tx-2' }));
    assert.deepEqual(clickFigures(), [3, 6_000_000, 2_000_000, 0, 0, 0, 0]);
  });

  it('counts one payout of a click with a flat payout, of this amount, in one batch or in many batches', () => {
    const flat = { flatPayout: null, micros: 85_000_000 };
    const lost = { click: { clickedMs: noon + 2_000, valueMicros: 1_000_000 }, flatPayout: 85_000_000 };
    const records = [
      ...[sessionCreatedRecord(sub), offersViewedRecord(sub, ['a', 'b', 'c'])],
      offerClickedRecord(sub, 'a', { payoutMicros: 85_000_000 }),
      offerClickedRecord(sub, 'b'),
      revenueConfirmedRecord(sub, 'a', { ...flat, micros: 40_000_000 }),
      revenueConfirmedRecord(sub, 'a', flat),
      revenueConfirmedRecord(sub, 'a', { ...flat, txid: 'tx-2' }),
      // The record of the click is enough; the record of the payout needs no mark.
      revenueConfirmedRecord(sub, 'a', { txid: 'tx-3', micros: 85_000_000 }),
      revenueReversedRecord(sub, 'a', { micros: 85_000_000 }),
      revenueConfirmedRecord(sub, 'a', { ...flat, txid: 'tx-4' }),
      // Any amount counts for a click of an earlier release, once.
      revenueConfirmedRecord(sub, 'b', { ...flat, micros: 7_000_000 }),
      revenueConfirmedRecord(sub, 'b', { ...flat, txid: 'tx-2', micros: 7_000_000 }),
      revenueConfirmedRecord(sub, 'c', { ...lost, micros: 1_000_000 }),
      revenueConfirmedRecord(sub, 'c', { ...lost, micros: 85_000_000 }),
      revenueConfirmedRecord(sub, 'c', { ...flat, txid: 'tx-2' }),
    ];
    assertInAnyBatches(records, () => {
      const { clicks, confirmedMicros } = query();
      assert.deepEqual([clicks, confirmedMicros], [3, 92_000_000]);
      assert.equal(projected.store.getTotals().unsoundConfirmations, 7);
    });
  });

  it('counts every payout that an earlier release accepted for a click of a vertical with flat payouts', () => {
    apply(
      ...[sessionCreatedRecord(sub), offersViewedRecord(sub, ['a']), offerClickedRecord(sub, 'a')],
      ...[85, 5_000, 85].map((usd, n) =>
        revenueConfirmedRecord(sub, 'a', { txid: `tx-${n}`, micros: usd * 1_000_000 }),
      ),
    );
    assert.equal(query().confirmedMicros, 5_170_000_000);
    assert.equal(projected.store.getTotals().unsoundConfirmations, 0);
  });

  it('a click does not confirm revenue if a payout has already confirmed it, so reversals never make the revenue negative', () => {
    const micros = 3_000_000;
    apply(
      ...shown,
      clickOn('a', false, 2, true),
      revenueConfirmedRecord(sub, 'a', { micros }),
      clickOn('a', true, null, true),
    );
    assert.deepEqual(clickFigures(), [1, 2_000_000, micros, 0, 0, 1, 0]);
    apply(
      revenueReversedRecord(sub, 'a', { micros: 2_000_000, reason: 0, txid: 'tx-2' }),
      revenueReversedRecord(sub, 'a', { micros }),
    );
    assert.deepEqual(clickFigures(), [1, 2_000_000, 0, 0, 0, 1, 0]);
  });

  it('confirms at most the maximum revenue of a session', () => {
    const valueMicros = 60_000_000_000;
    const clicks = ['a', 'b'].map((offer) =>
      offerClickedRecord(sub, offer, { valueMicros, decision: [true, null, true] }),
    );
    apply(...shown, ...clicks);
    assert.deepEqual(clickFigures(), [2, 120_000_000_000, 100_000_000_000, 0, 0, 0, 0]);
  });

  it('sums the squares of large revenues exactly', () => {
    const micros = bounds.confirmedRevenueUsdMax * 1_000_000 - 10_000;
    const subs = Array.from({ length: 1_000 }, (_, serial) => subIdBytes({ createdMs: noon, serial }));
    const recordsOf = (sub: Buffer) => [
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['a']),
      offerClickedRecord(sub, 'a'),
      revenueConfirmedRecord(sub, 'a', { micros }),
    ];
    apply(...subs.flatMap(recordsOf));
    apply(...subs.slice(1).map((sub) => revenueReversedRecord(sub, 'a', { micros })));
    assert.equal(query({ today: today + 60 }).matured.confirmedUsdSquared, 9_999_999 ** 2 / 10_000);
  });

  it('ignores malformed ledger records', () => {
    assert.equal(query().asOfMs, null);
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
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, ['a'], noon + 5), ...malformed);
    const counted = { records: malformed.length + 2, malformed: malformed.length };
    assert.deepEqual({ ...projected.store.getTotals() }, { ...emptyRecordCounts, ...counted });
    const { sessions, views, asOfMs } = query();
    assert.deepEqual([sessions, views, asOfMs], [1, 1, noon + 5]);
  });

  it('counts a record to which a later version of the service has added values', () => {
    apply(
      [...sessionCreatedRecord(sub), 'more'],
      [...widgetViewedRecord(sub, ['a']), 1],
      [...offerClickedRecord(sub, 'a'), null],
      [...widgetEventsRecord(sub, ['widget_loaded']), 'more'],
    );
    const { sessions, views, clicks, widgetEvents } = query();
    assert.deepEqual([sessions, views, clicks, widgetEvents[0]], [1, 1, 1, 1]);
  });

  it('counts an offer as shown once for each view, and in a refresh only if the session has not seen it', () => {
    const other = subIdBytes({ createdMs: noon, serial: 2 });
    const records = [
      sessionCreatedRecord(sub),
      sessionCreatedRecord(other),
      widgetViewedRecord(sub, ['a', 'b'], { load: 1 }),
      widgetViewedRecord(sub, ['b', 'c', 'a'], { load: 1, again: true }),
      offersViewedRecord(sub, ['a']),
      widgetViewedRecord(other, ['c'], { load: 2, again: true }),
      offersViewedRecord(other, []),
      offerClickedRecord(sub, 'c'),
    ];
    assertInAnyBatches(records, () => {
      const { offers } = projected.store.listOffers({ ...listed, limit: 100 });
      assert.deepEqual(
        offers.map(({ offerId, shownByPosition, clicks }) => [offerId, ...shownByPosition.slice(0, 3), clicks]),
        [
          ['a', 2, 0, 0, 0],
          ['b', 0, 1, 0, 0],
          ['c', 1, 1, 0, 1],
        ],
      );
    });
  });

  it('counts all positions after the last counted position together', () => {
    const ids = Array.from({ length: 24 }, (_, index) => `offer-${String(index).padStart(2, '0')}`);
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, ids), offersViewedRecord(sub, ids.slice(4)));
    const { offers } = projected.store.listOffers({ ...listed, limit: 100 });
    assert.deepEqual(
      offers.map(({ shownByPosition }) => shownByPosition.flatMap((count, index) => Array(count).fill(index))),
      ids.map((_, index) => [...(index < 4 ? [] : [index - 4]), Math.min(index, 19)]),
    );
  });

  it('does not change the store if a batch fails', () => {
    apply(sessionCreatedRecord(sub));
    const failing = () =>
      projected.store.applyBatch((projection) => {
        projection.applyRecord(2, offersViewedRecord(sub, ['a']), 1);
        throw new Error('failed');
      });
    assert.throws(failing, /failed/);
    projected.reopen();
    assert.equal(projected.store.cursor?.position, 1);
    for (const filter of [{}, { subs: [sub] }]) assert.deepEqual([query(filter).sessions, query(filter).views], [1, 0]);
  });

  it('a summary lists up to 20 lenders, sorted by clicks, then by name', () => {
    const lenders = Array.from({ length: 25 }, (_, i) => `Lender ${String.fromCharCode(97 + i)}`);
    const subs = [1, 2].map((serial) => subIdBytes({ createdMs: noon, serial }));
    const offers = lenders.map((_, i) => `offer-${i}`);
    for (const sub of subs) apply(sessionCreatedRecord(sub), offersViewedRecord(sub, offers));
    for (const [i, lender] of lenders.toReversed().entries())
      apply(offerClickedRecord(subs[0]!, `offer-${i}`, { lender }));
    apply(offerClickedRecord(subs[1]!, 'offer-3', { lender: 'Lender x' }));
    const expected = ['Lender x', ...lenders.filter((lender) => lender !== 'Lender x')].slice(0, 20);
    for (const filter of [{}, { subs }]) {
      assert.deepEqual(
        query(filter).topLenders,
        expected.map((lender) => ({ lender, clicks: lender === 'Lender x' ? 2 : 1, confirmedMicros: 0 })),
      );
    }
  });

  it('queries by referrer_tag and by sub_ids sort non-ASCII lender names in the same order', () => {
    const lenders = ['Zins', 'Ärzte', '\u{ff21}bank', '\u{1f3e6} Bank', 'ähnlich', 'zins', ''];
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, lenders));
    for (const lender of lenders) apply(offerClickedRecord(sub, lender, { lender }));
    for (const filter of [{}, { subs: [sub] }]) {
      const names = query(filter).topLenders.map(({ lender }) => lender);
      assert.deepEqual(names, ['', 'Zins', 'zins', 'Ärzte', 'ähnlich', '\u{ff21}bank', '\u{1f3e6} Bank']);
    }
  });

  it('each row can contain metadata of the maximum size', () => {
    const text = '\u{1F600}'.repeat(bounds.metadataKeysMax * bounds.metadataCharactersMax);
    const metadata = JSON.stringify({ text });
    const subs = Array.from({ length: 50 }, (_, serial) => subIdBytes({ createdMs: noon, serial }));
    apply(...subs.map((each) => sessionCreatedRecord(each, { metadata })));
    const { rows } = listSessions();
    assert.equal(rows.length, 50);
    assert(rows.every((row) => row.metadata === metadata));
  });

  it('each row occurs on exactly one page for any page size, while sessions are added', () => {
    const batches = fc.array(fc.integer({ min: 1, max: 3 * bounds.cohortRowSessionsMax }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(
        batches,
        batches,
        fc.integer({ min: 1, max: 70 }),
        fc.nat({ max: 20 }),
        (before, during, limit, jitter) => {
          const first = projected.store.getTotals().records;
          let serial = first;
          const arrive = (count: number) => {
            // Creation times span several days. Some are out of order.
            const createdAt = (each: number) =>
              noon - 3 * msPerDay + (each - first) * 600_000 - ((each * 7) % (jitter + 1)) * 3_600_000;
            const created = Array.from({ length: count }, () =>
              sessionCreatedRecord(subIdBytes({ createdMs: createdAt(serial), serial: serial++ })),
            );
            apply(...created);
          };
          for (const count of before) arrive(count);
          /** Returns the serial numbers of the sessions of this run on all pages. */
          const readPages = (order: SessionOrder): number[] => {
            const late = during.values();
            const seen: number[] = [];
            const start = order === 'oldest' ? first : 0;
            for (let afterPosition: number | null = start; afterPosition !== null; ) {
              const { rows, nextAfterPosition } = listSessions({ order, afterPosition, limit });
              assert(rows.length === limit || nextAfterPosition === null);
              seen.push(...rows.map(({ sub }) => Buffer.from(sub).readUInt32BE(14)).filter((each) => each >= first));
              afterPosition = nextAfterPosition;
              const count = late.next().value;
              if (count !== undefined && nextAfterPosition !== null) arrive(count);
            }
            return seen;
          };
          // Sessions that are added while the newest are read do not occur on later pages.
          const newest = Array.from({ length: serial - first }, (_, each) => serial - 1 - each);
          assert.deepEqual(readPages('newest'), newest);
          const oldest = readPages('oldest');
          assert.deepEqual(
            oldest,
            Array.from({ length: oldest.length }, (_, each) => first + each),
          );
          assert(oldest.length >= newest.length);
        },
      ),
      { numRuns: 12 },
    );
  });
});
