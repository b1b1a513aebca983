import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type {
  CohortQuery,
  DayMetrics,
  SessionRow,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
} from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayNumberOf } from '../../src/domain/calendar.ts';
import { noFigures, noWidgetEvents } from '../support/canned-analytics.ts';
import {
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  sessionCreatedRecord,
  subIdBytes,
  widgetEventsRecord,
} from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayNumberOf(noon);

let projected: ProjectedStore;
beforeEach(() => {
  projected = new ProjectedStore();
});
afterEach(() => projected.close());

const apply = (...records: readonly unknown[]) => projected.apply(...records);
const tagOne = { account: 1, vertical: 1, mode: 'live', referrerTag: 'tag-one', subs: null, today } as const;

it('summary, daily figures and rows include only sessions of the account, vertical, mode and tag', () => {
  const window = { fromDay: today - 30, toDay: today };
  /** Returns the numbers of sessions in the summary, in the daily figures and in the rows, and of sub_ids outside the dates. */
  const count = (filter: Partial<CohortQuery>) => {
    const { store } = projected;
    const query = { ...tagOne, ...window, ...filter };
    const { sessions, subsOutsideDates } = store.getSummary(query);
    const days = store.listDays(query).days.reduce((sum, day) => sum + day.sessions, 0);
    return [sessions, days, store.listRows({ ...query, afterPosition: 0, limit: 100 }).rows.length, subsOutsideDates];
  };
  const subs = [
    { serial: 1 },
    { serial: 2, account: 2 },
    { serial: 3, account: 2 },
    { serial: 4, mode: 'test' as const },
    { serial: 5, vertical: 2 },
  ].map((wanted) => subIdBytes({ createdMs: noon, ...wanted }));
  const ofTagTwo = subIdBytes({ createdMs: noon, serial: 6 });
  const [old, oldOfTagTwo] = [7, 8].map((serial) => subIdBytes({ createdMs: noon - 40 * dayMs, serial })) as [
    Buffer,
    Buffer,
  ];
  apply(...[...subs, old].map((sub) => sessionCreatedRecord(sub)));
  apply(...[ofTagTwo, oldOfTagTwo].map((sub) => sessionCreatedRecord(sub, { tag: 'tag-two' })));
  const listed = [...subs, ofTagTwo];
  for (const [filter, sessions] of [
    [{ account: 1 }, 1],
    [{ account: 2 }, 2],
    [{ account: 3 }, 0],
    [{ mode: 'test' }, 1],
    [{ vertical: 2 }, 1],
    [{ referrerTag: 'tag-two' }, 1],
    [{ referrerTag: 'tag-none' }, 0],
  ] as const) {
    assert.deepEqual(count(filter), [sessions, sessions, sessions, 0]);
    assert.deepEqual(count({ ...filter, subs: listed }), [sessions, sessions, sessions, 0]);
  }
  assert.deepEqual(count({ referrerTag: null, subs: listed }), [2, 2, 2, 0]);
  assert.deepEqual(count({ subs: [...listed, old, oldOfTagTwo] }), [1, 1, 1, 1]);
  assert.deepEqual(count({ referrerTag: null, subs: [subIdBytes({ createdMs: noon, serial: 99 })] }), [0, 0, 0, 0]);
});

describe('summary', () => {
  function query(filter: Partial<SummaryQuery> = {}): SummaryResult {
    const referrerTag = filter.subs ? null : 'tag-one';
    return projected.store.getSummary({ ...tagOne, referrerTag, fromDay: today - 30, toDay: today, ...filter });
  }

  it('a summary includes the first and the last day of the window', () => {
    const subs = [-1, 0, 1, 2, 3].map((day) => subIdBytes({ createdMs: (today + day) * dayMs, serial: day + 1 }));
    apply(...subs.map((sub) => sessionCreatedRecord(sub)));
    const window = { fromDay: today, toDay: today + 2 };
    assert.equal(query(window).sessions, 3);
    const bySubs = query({ ...window, subs });
    assert.deepEqual([bySubs.sessions, bySubs.subsOutsideDates], [3, 2]);
  });

  it('a summary is the same for a tag and for its sub_ids', () => {
    const subs = Array.from({ length: 40 }, (_, serial) => subIdBytes({ createdMs: noon - serial * dayMs, serial }));
    for (const [serial, sub] of subs.entries()) {
      apply(sessionCreatedRecord(sub, { device: (serial % 5) as 0 }), offersViewedRecord(sub, ['a', 'b']));
      if (serial % 2 === 0)
        apply(offerClickedRecord(sub, 'a', { valueMicros: 1_000 + serial }), revenueConfirmedRecord(sub, 'a'));
      if (serial % 3 === 0) apply(offerClickedRecord(sub, 'b', { lender: 'Lender of a', valueMicros: 7 }));
      if (serial % 4 === 0) apply(widgetEventsRecord(sub, ['widget_loaded', 'offer_impression']));
    }
    const window = { fromDay: today - 35, toDay: today - 3, maturedFromDay: today - 38, today: today + 30 };
    const byTag = query(window);
    const { sessions, confirmedMicros, matured, topLenders } = byTag;
    assert.deepEqual([sessions, matured.sessions, topLenders[0]?.clicks], [33, 23, 27]);
    assert.deepEqual([confirmedMicros, matured.confirmedMicros], [16 * 40_000_000, 12 * 40_000_000]);
    assert.deepEqual(query({ ...window, subs }), { ...byTag, subsOutsideDates: 7 });
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

  it('sorts non-ASCII lender names in the same order for a tag and for sub_ids', () => {
    const sub = subIdBytes({ createdMs: noon, serial: 1 });
    const lenders = ['Zins', 'Ärzte', '\u{ff21}bank', '\u{1f3e6} Bank', 'ähnlich', 'zins', ''];
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, lenders));
    for (const lender of lenders) apply(offerClickedRecord(sub, lender, { lender }));
    for (const filter of [{}, { subs: [sub] }]) {
      const names = query(filter).topLenders.map(({ lender }) => lender);
      assert.deepEqual(names, ['', 'Zins', 'zins', 'Ärzte', 'ähnlich', '\u{ff21}bank', '\u{1f3e6} Bank']);
    }
  });

  it('a summary contains the figures of each device type that has sessions', () => {
    const [phone, desk] = [1, 2].map((serial) => subIdBytes({ createdMs: noon, serial })) as [Buffer, Buffer];
    apply(sessionCreatedRecord(phone, { device: 2 }), sessionCreatedRecord(desk, { device: 1 }));
    apply(offersViewedRecord(phone, ['a']), offerClickedRecord(phone, 'a', { valueMicros: 12 }));
    for (const filter of [{}, { subs: [phone, desk] }]) {
      assert.deepEqual(query(filter).byDevice, [
        { ...noFigures, device: 1, sessions: 1 },
        { device: 2, sessions: 1, views: 1, clicks: 1, attributedMicros: 12, confirmedMicros: 0 },
      ]);
    }
  });

  it('a summary includes sessions in the matured figures from the 46th day after their creation', () => {
    const sub = subIdBytes({ createdMs: noon, serial: 1 });
    apply(sessionCreatedRecord(sub));
    for (const filter of [{}, { subs: [sub] }]) {
      assert.equal(query({ ...filter, today: today + 45 }).matured.sessions, 0);
      assert.equal(query({ ...filter, today: today + 46 }).matured.sessions, 1);
    }
  });

  it('asOfMs of a summary is the time of the last projected record, or null before the first record', () => {
    assert.equal(query().asOfMs, null);
    const sub = subIdBytes({ createdMs: noon, serial: 1 });
    apply(sessionCreatedRecord(sub), offersViewedRecord(sub, ['a'], noon + 5));
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
  const oldSub = subIdBytes({ createdMs: noon - 2 * dayMs, serial: 1 });
  const newSub = subIdBytes({ createdMs: noon, serial: 2 });

  it('daily figures contain every day of the window in order', () => {
    const days = [2, 1, 0].map((age) => ({ day: today - age, matured: false, ...none }));
    for (const filter of [{}, { subs: [] }]) assert.deepEqual(query(filter), days);
  });

  it('daily figures count clicks and widget events on the creation day of the session, for a tag and for sub_ids', () => {
    const otherSub = subIdBytes({ createdMs: noon - 2 * dayMs, serial: 3 });
    apply(
      sessionCreatedRecord(oldSub, { device: 1 }),
      sessionCreatedRecord(newSub, { device: 2 }),
      sessionCreatedRecord(otherSub, { device: 2 }),
      offersViewedRecord(oldSub, ['a', 'b'], noon),
      offerClickedRecord(oldSub, 'a', { valueMicros: 4, wallMs: noon - dayMs }),
      offerClickedRecord(oldSub, 'b', { valueMicros: 5, wallMs: noon - dayMs }),
      offersViewedRecord(newSub, ['a']),
      widgetEventsRecord(oldSub, ['widget_loaded', 'offer_click'], { wallMs: noon }),
      widgetEventsRecord(otherSub, ['widget_loaded']),
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

  it('daily figures flag a day as matured from the 46th day on', () => {
    const days = query({ fromDay: today - 47, toDay: today - 44 });
    assert.deepEqual(
      days.map(({ matured }) => matured),
      [true, true, false, false],
    );
  });
});

describe('rows', () => {
  function query(filter: Partial<SessionRowsQuery> = {}): SessionRowsPage {
    const referrerTag = filter.subs ? null : 'tag-one';
    const page = { fromDay: today - 30, toDay: today, afterPosition: 0, limit: 100 };
    return projected.store.listRows({ ...tagOne, referrerTag, ...page, ...filter });
  }

  /** Returns the rows of all pages. */
  function queryAll(wanted: Partial<SessionRowsQuery>): SessionRow[] {
    const rows: SessionRow[] = [];
    for (let afterPosition: number | null = 0; afterPosition !== null; ) {
      const page = query({ ...wanted, afterPosition });
      assert(page.nextAfterPosition === null || page.nextAfterPosition > afterPosition);
      rows.push(...page.rows);
      afterPosition = page.nextAfterPosition;
    }
    return rows;
  }

  const noRows: SessionRowsPage = { rows: [], retainedFromDay: 0, nextAfterPosition: null };
  const serials = (rows: readonly SessionRow[]) => rows.map(({ sub }) => Buffer.from(sub).readUInt32BE(14));
  const sub = subIdBytes({ createdMs: noon, serial: 1 });

  it('each row contains the figures of its session', () => {
    apply(
      sessionCreatedRecord(sub, { device: 3, metadata: '{"page":"b"}' }),
      offersViewedRecord(sub, ['a', 'b', 'c'], noon + 5_000),
      offerClickedRecord(sub, 'a', { lender: 'Beta', valueMicros: 3_000_000, wallMs: noon + 6_000 }),
      offerClickedRecord(sub, 'b', { lender: 'Alpha', valueMicros: 50, wallMs: noon + 7_000 }),
      offerClickedRecord(sub, 'c', { lender: 'Beta', valueMicros: 7, wallMs: noon + 8_000 }),
    );
    assert.deepEqual(query(), {
      rows: [
        {
          sub: Uint8Array.from(sub),
          referrerTag: 'tag-one',
          device: 3,
          metadata: '{"page":"b"}',
          views: 1,
          clicks: 3,
          attributedMicros: 3_000_057,
          confirmedMicros: 0,
          lastEventMs: noon + 8_000,
          lenders: [
            { lender: 'Beta', clicks: 2, confirmedMicros: 0 },
            { lender: 'Alpha', clicks: 1, confirmedMicros: 0 },
          ],
        },
      ],
      retainedFromDay: 0,
      nextAfterPosition: null,
    });
  });

  it('rows contain metadata of the maximum size, or null without metadata', () => {
    const metadata = JSON.stringify({
      text: '\u{1F600}'.repeat(bounds.metadataKeysMax * bounds.metadataCharactersMax),
    });
    const subs = Array.from({ length: 50 }, (_, serial) => subIdBytes({ createdMs: noon, serial }));
    apply(...subs.map((each) => sessionCreatedRecord(each, { metadata })));
    apply(sessionCreatedRecord(subIdBytes({ createdMs: noon, serial: 50 })));
    assert(
      query()
        .rows.slice(0, 50)
        .every((row) => row.metadata === metadata),
    );
    assert.equal(query().rows[50]!.metadata, null);
  });

  it('lastEventMs of a row is the time of the latest counted record', () => {
    const lastEvent = () => query().rows[0]?.lastEventMs;
    apply(sessionCreatedRecord(sub));
    assert.equal(lastEvent(), noon);
    apply(offersViewedRecord(sub, ['a'], noon + 9_000));
    assert.equal(lastEvent(), noon + 9_000);
    apply(offersViewedRecord(sub, ['a'], noon + 4_000));
    assert.equal(lastEvent(), noon + 9_000);
    apply(offerClickedRecord(sub, 'a', { wallMs: noon + 10_000 }));
    apply(
      offerClickedRecord(sub, 'a', { wallMs: noon + 20_000 }),
      offerClickedRecord(sub, 'z', { wallMs: noon + 30_000 }),
    );
    assert.equal(lastEvent(), noon + 10_000);
    apply(widgetEventsRecord(sub, ['widget_loaded'], { wallMs: noon + 11_000 }));
    apply(widgetEventsRecord(sub, ['widget_loaded'], { wallMs: noon + 4_000, load: 2 }));
    assert.equal(lastEvent(), noon + 11_000);
  });

  it('rows are in ledger order even if the clock was set back', () => {
    const ages = [1, 0, 2, 1, 0, 30, 1, 31, 2, 0];
    for (const [serial, age] of ages.entries())
      apply(sessionCreatedRecord(subIdBytes({ createdMs: noon - age * dayMs, serial })));
    for (const limit of [1, 2, 3, 100]) {
      assert.deepEqual(serials(queryAll({ limit })), [0, 1, 2, 3, 4, 5, 6, 8, 9]);
      assert.deepEqual(serials(queryAll({ limit, fromDay: today - 2, toDay: today - 1 })), [0, 2, 3, 6, 8]);
    }
  });

  it('a page has a next position only if there are more rows', () => {
    const subs = [0, 1, 2, 3].map((serial) => subIdBytes({ createdMs: noon, serial }));
    apply(...subs.map((each) => sessionCreatedRecord(each)));
    for (const filter of [{}, { subs }]) {
      assert.equal(query({ ...filter, limit: 4 }).nextAfterPosition, null);
      assert.equal(query({ ...filter, limit: 3 }).nextAfterPosition, 3);
      assert.equal(query({ ...filter, limit: 3, afterPosition: 1 }).nextAfterPosition, null);
      assert.deepEqual(query({ ...filter, afterPosition: 4 }), noRows);
    }
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
          let serial = 0;
          const arrive = (count: number) => {
            const records: unknown[] = [];
            for (let each = 0; each < count; each++, serial++) {
              // Creation times span several days. Some are out of order.
              const createdMs = noon - 3 * dayMs + serial * 600_000 - ((serial * 7) % (jitter + 1)) * 3_600_000;
              records.push(sessionCreatedRecord(subIdBytes({ createdMs, serial })));
            }
            apply(...records);
          };
          try {
            for (const count of before) arrive(count);
            const seen: number[] = [];
            const late = during.values();
            for (let afterPosition: number | null = 0; afterPosition !== null; ) {
              const { rows, nextAfterPosition } = query({ afterPosition, limit, toDay: today + 30 });
              assert(rows.length === limit || nextAfterPosition === null);
              assert(nextAfterPosition === null || nextAfterPosition > afterPosition);
              seen.push(...serials(rows));
              afterPosition = nextAfterPosition;
              const count = late.next().value;
              if (count !== undefined && nextAfterPosition !== null) arrive(count);
            }
            assert.deepEqual(
              seen,
              Array.from({ length: seen.length }, (_, each) => each),
            );
            assert(seen.length >= before.reduce((sum, count) => sum + count, 0));
          } finally {
            projected.close();
            projected = new ProjectedStore();
          }
        },
      ),
      { numRuns: 12 },
    );
  });
});
