import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { SessionRowsQuery, SummaryQuery } from '../../src/analytics/analytics.ts';
import { AnalyticsStore } from '../../src/analytics/analytics-store.ts';
import { CounterArchive } from '../../src/analytics/counter-archive.ts';
import { bounds } from '../../src/bounds.ts';
import { daysSinceEpoch, msPerDay } from '../../src/domain/calendar.ts';
import {
  type ClickDecision,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
} from '../support/ledger-records.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { archiveCounters, archiveDays } from './archive-days.ts';
import { ProjectedStore } from './projected-store.ts';
import { byTag, noon, today } from './sample-query.ts';

const old = noon - 10 * msPerDay;
const retainedFrom = today - 9;

describe('retention of sessions in the analytics store', () => {
  let projected: ProjectedStore;
  let archive: CounterArchive;

  beforeEach(() => {
    projected = new ProjectedStore();
    archive = projected.archive;
  });
  afterEach(() => projected.close());

  const applyRetention = (clockDay = today) =>
    archiveDays(projected.store, { today: clockDay, retentionDays: 0, wallMs: noon });
  const window = { ...byTag, fromDay: today - 30 };
  const summary = (filter: Partial<SummaryQuery> = {}) => projected.store.getSummary({ ...window, ...filter });
  const created = (serial: number, createdMs: number) => sessionCreatedRecord(subIdBytes({ createdMs, serial }));
  const rows: SessionRowsQuery = { ...window, order: 'oldest', afterPosition: 0, limit: 100 };

  it('excludes expired sessions from results while their deletion is in progress', () => {
    const count = 2 * bounds.sessionsPrunedPerTransaction + 10;
    const oldSubs = Array.from({ length: count }, (_, serial) => subIdBytes({ createdMs: old, serial }));
    const young = subIdBytes({ createdMs: noon, serial: count });
    for (const sub of [...oldSubs, young]) {
      projected.apply(
        sessionCreatedRecord(sub, { metadata: '{"page":1}' }),
        offersViewedRecord(sub, ['a', 'b']),
        offerClickedRecord(sub, 'a'),
        revenueConfirmedRecord(sub, 'a'),
      );
    }
    const before = summary();
    assert.deepEqual([before.sessions, before.confirmedMicros], [count + 1, (count + 1) * 40e6]);
    applyRetention();
    const assertDeleted = () => {
      assert.deepEqual(summary(), { ...before, retainedFromDay: retainedFrom });
      assert.deepEqual(
        projected.store.listSessions(rows).rows.map(({ sub }) => Buffer.from(sub)),
        [young],
      );
      assert.equal(summary({ referrerTag: null, subs: [...oldSubs.slice(-400), young] }).sessions, 1);
      const keys = [oldSubs.at(-1)!, young].map((sub) => ({ sub, offerId: 'a', txid: 'tx-1' }));
      const states = projected.store.findPayoutStates(keys);
      assert.deepEqual(
        states.map(({ offerShown, payout }) => [offerShown, payout !== null]),
        [
          [false, false],
          [true, true],
        ],
      );
    };
    let transactions = 0;
    for (; projected.store.retention.hasRowsToPrune; transactions++) {
      assertDeleted();
      projected.store.retention.pruneRows();
      // After the store is reopened, it continues the deletion.
      if (transactions === 0) projected.reopen();
    }
    assertDeleted();
    assert.ok(transactions > 2);
  });

  it('archives widget events by device', () => {
    const [one, other] = [1, 2].map((serial) => subIdBytes({ createdMs: old, serial }));
    projected.apply(
      sessionCreatedRecord(one!, { device: 1 }),
      sessionCreatedRecord(other!, { device: 2 }),
      widgetEventsRecord(one!, ['widget_loaded', 'offer_impression', 'offer_impression']),
      widgetEventsRecord(other!, ['widget_error']),
      created(3, noon),
      sessionCreatedRecord(subIdBytes({ createdMs: old, serial: 4 }), { device: 3 }),
    );
    applyRetention();
    assert.deepEqual(
      [...archive.readAll()].filter(([kind]) => kind === 13),
      [
        [13, [daysSinceEpoch(old), 1, 1, 0, 0, 0, 0, '0', 0, old, old], [1, 0, 2, 0, 0, 0, 0]],
        [13, [daysSinceEpoch(old), 2, 1, 0, 0, 0, 0, '0', 0, old, old], [0, 0, 0, 0, 0, 0, 1]],
        [13, [daysSinceEpoch(old), 3, 1, 0, 0, 0, 0, '0', 0, old, old]],
      ],
    );
  });

  const offersOf = () =>
    projected.store.listOffers({ ...window, referrerTag: 'tag-one', subs: null, afterOfferId: '', limit: 100 });

  it('archives the figures of offers, and restores them', () => {
    const sub = subIdBytes({ createdMs: old, serial: 1 });
    projected.apply(
      created(2, noon),
      offersViewedRecord(subIdBytes({ createdMs: noon, serial: 2 }), ['b', 'c']),
      sessionCreatedRecord(sub),
      offersViewedRecord(sub, ['a', 'b']),
      offersViewedRecord(sub, ['b', 'c', 'a']),
      offerClickedRecord(sub, 'a', { valueMicros: 2_000_000 }),
      revenueConfirmedRecord(sub, 'a', { micros: 5_000_000 }),
    );
    const before = offersOf();
    assert.deepEqual(
      before.offers.map(({ offerId, lender, clicks, shownByPosition }) => [
        offerId,
        lender,
        clicks,
        ...shownByPosition.slice(0, 4),
      ]),
      [
        ['a', 'Lender of a', 1, 1, 0, 1, 0],
        ['b', null, 0, 2, 1, 0, 0],
        ['c', null, 0, 0, 2, 0, 0],
      ],
    );
    applyRetention();
    const day = daysSinceEpoch(old);
    assert.deepEqual(
      [...archive.readAll()].filter(([kind]) => kind === 14 || kind === 21),
      [
        [14, [day, 'Lender of a', 1, 5_000_000, 'a', 2_000_000]],
        [21, [day, 'b', 0, 1, 1]],
        [21, [day, 'c', 1, 1]],
        [21, [day, 'a', 0, 1, 0, 1]],
      ],
    );
    projected.rebuild();
    projected.apply(created(2, noon), offersViewedRecord(subIdBytes({ createdMs: noon, serial: 2 }), ['b', 'c']));
    assert.deepEqual(offersOf(), { ...before, retainedFromDay: retainedFrom });
  });

  it('reports from which day offers are counted if an earlier release archived days without offers', () => {
    const range = { wallMs: 1, ledgerStartPosition: 1 };
    const archived = (day: number) => [
      [12, [1, 1, 0, 'tag-one']] as const,
      [13, [day, 0, 5, 4, 3, 2_000_000, 1, '1']] as const,
      [14, [day, 'Lender of a', 3, 1]] as const,
    ];
    archiveCounters(archive, { ...range, untilDay: today - 20, hasOffers: false }, archived(today - 21));
    const offers = [
      [14, [today - 16, 'Lender of a', 2, 0, 'a', 7]],
      // A later release may count more positions.
      [21, [today - 16, 'a', 18, 1, 2, 3, 0]],
      [21, [today - 16, 'z', 3, 0]],
    ] as const;
    archiveCounters(archive, { ...range, untilDay: today - 15, hasOffers: true }, [...archived(today - 16), ...offers]);
    projected.reopen();
    const { offers: found, offersFromDay } = offersOf();
    assert.equal(offersFromDay, today - 20);
    const shownByPosition = [...Array<number>(18).fill(0), 1, 5];
    const revenue = { attributedMicros: 7, confirmedMicros: 0 };
    assert.deepEqual(found, [{ offerId: 'a', lender: 'Lender of a', clicks: 2, ...revenue, shownByPosition }]);
    assert.deepEqual(summary().topLenders, [{ lender: 'Lender of a', clicks: 8, confirmedMicros: 2 }]);

    // If archive segments are lost, the days are archived again, without offers of the days that never had them.
    projected.apply(created(1, noon - msPerDay), created(2, noon));
    projected.store.close();
    const emptyArchive = new CounterArchive(temporaryFolder());
    const store = new AnalyticsStore(projected.file, emptyArchive);
    assert.ok(archiveDays(store, { today, retentionDays: 0, wallMs: noon }).archived);
    assert.deepEqual([...emptyArchive.readAll()][0]!.slice(2), [0, today, 1, false]);
    const archivedDays = [...emptyArchive.readAll()].flatMap((record) => (record[0] === 13 ? [record[1][0]] : []));
    assert.deepEqual(archivedDays, [today - 21, today - 16, today - 1]);
    store.close();
  });

  it('archives clicks without revenue by reason, and restores them', () => {
    const sub = subIdBytes({ createdMs: old, serial: 1 });
    const click = (offer: string, ...decision: ClickDecision) => offerClickedRecord(sub, offer, { decision });
    projected.apply(
      sessionCreatedRecord(sub, { device: 2 }),
      offersViewedRecord(sub, ['a', 'b', 'c']),
      click('a', false),
      click('b', false, 2, true),
      click('c', false, 3, true),
      click('b', true, null, true),
      created(2, noon),
    );
    const before = summary();
    assert.deepEqual(before.unbookedClicks, [1, 0, 1, 1]);
    applyRetention();
    assert.deepEqual(
      [...archive.readAll()].filter(([kind]) => kind === 13),
      [[13, [daysSinceEpoch(old), 2, 1, 1, 3, 1_000_000, 1_000_000, '10000', 1, old, old], [], [1, 0, 1, 1]]],
    );
    projected.rebuild();
    const { unbookedClicks, clicks, confirmedMicros, widgetEvents } = summary();
    assert.deepEqual([unbookedClicks, clicks, confirmedMicros], [[1, 0, 1, 1], 3, 1_000_000]);
    assert.deepEqual(widgetEvents, before.widgetEvents);
  });

  it('restores archives of other service versions with fewer, more or no widget event types or reasons', () => {
    const archiveRange = { wallMs: 1, untilDay: retainedFrom, ledgerStartPosition: 1, hasOffers: true };
    const [day, figures] = [retainedFrom - 1, [5, 4, 3, 2, 1, '1'] as const];
    archiveCounters(archive, archiveRange, [
      [12, [1, 1, 0, 'tag-one']],
      [13, [day, 0, ...figures]],
      [13, [day, 1, ...figures], [1, 2]],
      [13, [day, 2, ...figures], [1, 1, 1, 1, 1, 1, 1, 99], [1, 2, 3, 4, 99]],
      [13, [day, 3, ...figures], [], [1]],
      [12, [1, 1, 0, 'tag-two']],
      [13, [day, 0, ...figures]],
    ]);
    projected.reopen();
    const { sessions, widgetEvents, unbookedClicks } = summary();
    assert.deepEqual([sessions, widgetEvents, unbookedClicks], [20, [2, 3, 1, 1, 1, 1, 1], [2, 2, 3, 4]]);
    const old = summary({ referrerTag: 'tag-two' });
    assert.deepEqual([old.sessions, old.widgetEvents, old.unbookedClicks], [5, [0, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0]]);
  });

  it('a rebuild starts at the first ledger segment that contains a retained session', () => {
    let position = 0;
    const applyIn = (segment: number, ...records: readonly unknown[]) =>
      projected.store.applyBatch((projection) => {
        for (const record of records) projection.applyRecord(++position, record, segment);
        return { position, segment, offset: position, crc: 0 };
      });
    applyIn(1, created(1, old));
    // One record of this batch has a later creation time, because the clock was briefly ahead.
    applyIn(20, created(2, old), created(3, noon), created(4, old));
    applyIn(20, created(5, old));
    applyIn(40, created(6, old));
    projected.reopen();
    applyRetention();
    assert.equal(archive.ledgerStartPosition, 20);
    applyIn(60, created(7, noon + msPerDay));
    applyRetention(today + 1);
    assert.equal(archive.ledgerStartPosition, 60);
    // The clock has advanced, but no sessions were created on a later day.
    applyRetention(today + 2);
    assert.equal(archive.firstRetainedDay, today + 1);
    applyIn(80, created(8, noon + 2 * msPerDay));
    applyRetention(today + 2);
    assert.equal(archive.ledgerStartPosition, 80);
    assert.deepEqual([...archive.readAll()].filter(([kind]) => kind === 11).length, 3);
  });

  describe('in small parts', () => {
    const clickOf = (serial: number) => {
      const sub = subIdBytes({ createdMs: old, serial });
      return [sessionCreatedRecord(sub, { tag: `tag-${serial}` }), offersViewedRecord(sub, ['a', 'b'])];
    };
    const firstRecords = [...Array.from({ length: 8 }, (_, serial) => clickOf(serial)).flat(), created(100, noon)];
    const request = { today, retentionDays: 0, wallMs: noon, recordsMax: 3 };
    /** Archives the days of other records at once. */
    const archiveAtOnce = (...records: readonly unknown[]) => {
      const other = new ProjectedStore();
      other.apply(...records);
      archiveDays(other.store, { ...request, recordsMax: 10_000 });
      const all = [...other.archive.readAll()];
      other.close();
      return all;
    };

    it('archives the same records as at once, while batches for other days are applied', () => {
      projected.apply(...firstRecords);
      let calls = 0;
      archiveDays(projected.store, request, () => {
        assert.equal(archive.firstRetainedDay, 0);
        projected.apply(created(1_000 + ++calls, noon));
      });
      assert.ok(calls > 5);
      assert.deepEqual([...archive.readAll()], archiveAtOnce(...firstRecords));
    });

    for (const changedAt of [1, 7, 12]) {
      it(`archives a record of an archived day that is applied after call ${changedAt}`, () => {
        projected.apply(...firstRecords);
        const late = [...clickOf(50), offersViewedRecord(subIdBytes({ createdMs: old, serial: 0 }), ['c'])];
        let calls = 0;
        archiveDays(projected.store, request, () => {
          if (++calls === changedAt) projected.apply(...late);
        });
        assert.ok(calls > 15, `${calls}`);
        assert.deepEqual([...archive.readAll()], archiveAtOnce(...firstRecords, ...late));
      });
    }

    it('archives a day that changes again and again', () => {
      projected.apply(...firstRecords);
      const late: unknown[] = [];
      archiveDays(projected.store, request, () => {
        const records = clickOf(1_000 + late.length);
        late.push(...records);
        projected.apply(...records);
      });
      assert.equal(late.length / 2, bounds.archiveRestartsMax + 1);
      assert.deepEqual([...archive.readAll()], archiveAtOnce(...firstRecords, ...late));
    });

    it('archives one day with sessions after the other', () => {
      const days = [5, 4, 2].map((age) => today - age);
      projected.apply(...days.map((day, serial) => created(serial, noon - (today - day) * msPerDay)), created(9, noon));
      const result = archiveDays(projected.store, { ...request, recordsMax: 100 });
      assert.ok(result.archived && result.isNew && result.retainedFromDay === today - 1);
      const ranges = [...archive.readAll()].filter(([kind]) => kind === 11).map((header) => header.slice(2, 4));
      assert.deepEqual(ranges, [
        [0, today - 4],
        [today - 4, today - 2],
        [today - 2, today - 1],
      ]);
    });

    it('starts again after a crash', () => {
      projected.apply(...firstRecords);
      for (let call = 0; call < 14; call++) assert.equal(projected.store.applyRetention(request).archived, false);
      // The process ends without closing the store, so the temporary file remains.
      const folder = dirname(projected.file);
      const store = new AnalyticsStore(projected.file, new CounterArchive(join(folder, 'archive')));
      assert.ok(archiveDays(store, request).archived);
      assert.deepEqual([...new CounterArchive(join(folder, 'archive')).readAll()], archiveAtOnce(...firstRecords));
      store.close();
    });
  });

  it('deletes sessions only after the counters of their day are archived, and never restores deleted sessions', () => {
    const days = () => [projected.store.listSessions(rows).retainedFromDay, archive.firstRetainedDay];
    applyRetention();
    assert.deepEqual(days(), [0, 0]);
    projected.apply(created(1, old));
    assert.equal(projected.store.retention.hasRowsToPrune, false);
    applyRetention();
    projected.apply(created(2, noon));
    applyRetention(retainedFrom - 1);
    assert.deepEqual([projected.store.listSessions(rows).rows.length, ...days()], [2, 0, 0]);
    applyRetention();
    applyRetention(retainedFrom - 1);
    assert.deepEqual([projected.store.listSessions(rows).rows.length, ...days()], [1, retainedFrom, retainedFrom]);
    // The remaining session is too new, so retention writes no second archive segment.
    applyRetention(today + 5);
    assert.equal([...archive.readAll()].filter(([kind]) => kind === 11).length, 1);
  });

  it('after the clock jumps far ahead, retention deletes nothing until sessions exist on two days after the jump', () => {
    const year = 365;
    projected.apply(created(1, old), created(2, noon));
    const retain = () => archiveDays(projected.store, { today: today + year, retentionDays: 140, wallMs: noon });
    retain();
    projected.apply(created(3, noon + year * msPerDay));
    retain();
    assert.equal(projected.store.listSessions(rows).retainedFromDay, 0);
    projected.apply(created(4, noon + (year - 1) * msPerDay));
    retain();
    assert.equal(projected.store.listSessions(rows).retainedFromDay, today + year - 140);
  });

  it('reads a new ledger from its start, and ignores the position that the archive stored for the old ledger', () => {
    const archiveRange = { wallMs: 1, untilDay: retainedFrom, ledgerStartPosition: 5_000, hasOffers: true };
    archiveCounters(archive, archiveRange, []);
    projected.reopen();
    const outcome = { archived: true, retainedFromDay: retainedFrom, isNew: false, archiveEnd: archive.end };
    assert.deepEqual(applyRetention(), { ...outcome, ledgerStartPosition: 0 });
    projected.apply(created(1, noon));
    assert.deepEqual(applyRetention(), { ...outcome, ledgerStartPosition: 1 });
  });
});
