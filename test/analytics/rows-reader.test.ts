import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import type { RowsQuery, SessionRow } from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { dayMs, dayOf } from '../../src/domain/calendar.ts';
import { clickedRecord, createdRecord, subOf, viewedRecord } from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';

const noon = Date.UTC(2026, 4, 20, 12);
const today = dayOf(noon);

describe('rows', () => {
  let projected: ProjectedStore;

  const open = () => {
    projected = new ProjectedStore();
  };
  const close = () => projected.close();
  beforeEach(open);
  afterEach(close);

  const apply = (...records: readonly unknown[]) => projected.apply(...records);

  function query(wanted: Partial<RowsQuery> = {}) {
    return projected.store.listRows({
      account: 1,
      vertical: 1,
      mode: 'live',
      referrerTag: wanted.subs ? null : 'tag-one',
      subs: null,
      fromDay: today - 30,
      toDay: today,
      afterPosition: 0,
      limit: 100,
      ...wanted,
    });
  }

  /** All pages, one after the other. */
  function queryAll(wanted: Partial<RowsQuery>): SessionRow[] {
    const rows: SessionRow[] = [];
    for (let afterPosition: number | null = 0; afterPosition !== null; ) {
      const page: ReturnType<typeof query> = query({ ...wanted, afterPosition });
      assert(page.nextAfterPosition === null || page.nextAfterPosition > afterPosition);
      rows.push(...page.rows);
      afterPosition = page.nextAfterPosition;
    }
    return rows;
  }

  const serials = (rows: readonly SessionRow[]) => rows.map(({ sub }) => Buffer.from(sub).readUInt32BE(14));
  const sub = subOf({ createdMs: noon, serial: 1 });

  it('contain the figures of a session', () => {
    apply(
      createdRecord(sub, { device: 3, metadata: '{"page":"b"}' }),
      viewedRecord(sub, ['a', 'b', 'c'], noon + 5_000),
      clickedRecord(sub, 'a', { lender: 'Beta', valueMicros: 3_000_000, wallMs: noon + 6_000 }),
      clickedRecord(sub, 'b', { lender: 'Alpha', valueMicros: 50, wallMs: noon + 7_000 }),
      clickedRecord(sub, 'c', { lender: 'Beta', valueMicros: 7, wallMs: noon + 8_000 }),
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

  it('contain the metadata of each session, or null', () => {
    const texts = [null, '{"a":1}', null, '{"b":2}', '{}'];
    for (const [serial, metadata] of texts.entries()) {
      apply(createdRecord(subOf({ createdMs: noon, serial }), { metadata }));
    }
    assert.deepEqual(
      query().rows.map(({ metadata }) => metadata),
      texts,
    );
  });

  it('contain the largest metadata for every session of a batch', () => {
    const metadata = JSON.stringify({
      text: '\u{1F600}'.repeat(bounds.metadataKeysMax * bounds.metadataCharactersMax),
    });
    const subs = Array.from({ length: 50 }, (_, serial) => subOf({ createdMs: noon, serial }));
    apply(...subs.map((each) => createdRecord(each, { metadata })));
    assert(query().rows.every((row) => row.metadata === metadata));
  });

  it('contain the time of the latest record that counted', () => {
    const lastEvent = () => query().rows[0]?.lastEventMs;
    apply(createdRecord(sub));
    assert.equal(lastEvent(), noon);
    apply(viewedRecord(sub, ['a'], noon + 9_000));
    assert.equal(lastEvent(), noon + 9_000);
    apply(viewedRecord(sub, ['a'], noon + 4_000));
    assert.equal(lastEvent(), noon + 9_000);
    apply(clickedRecord(sub, 'a', { wallMs: noon + 10_000 }));
    apply(clickedRecord(sub, 'a', { wallMs: noon + 20_000 }), clickedRecord(sub, 'z', { wallMs: noon + 30_000 }));
    assert.equal(lastEvent(), noon + 10_000);
  });

  it('are in ledger order if the clock was set back', () => {
    const ages = [1, 0, 2, 1, 0, 30, 1, 31, 2, 0];
    for (const [serial, age] of ages.entries()) apply(createdRecord(subOf({ createdMs: noon - age * dayMs, serial })));
    for (const limit of [1, 2, 3, 100]) {
      assert.deepEqual(serials(queryAll({ limit })), [0, 1, 2, 3, 4, 5, 6, 8, 9]);
      assert.deepEqual(serials(queryAll({ limit, fromDay: today - 2, toDay: today - 1 })), [0, 2, 3, 6, 8]);
    }
  });

  it('include only sessions of the tag, account and mode', () => {
    const wanted = [
      { account: 1, mode: 'live', tag: 'tag-one' },
      { account: 2, mode: 'live', tag: 'tag-one' },
      { account: 1, mode: 'test', tag: 'tag-one' },
      { account: 1, mode: 'live', tag: 'tag-two' },
    ] as const;
    const subs = wanted.map(({ account, mode }, serial) => subOf({ createdMs: noon, serial, account, mode }));
    apply(...subs.map((each, index) => createdRecord(each, { tag: wanted[index]!.tag })));
    for (const [serial, { account, mode, tag }] of wanted.entries()) {
      assert.deepEqual(serials(query({ account, mode, referrerTag: tag }).rows), [serial]);
      assert.deepEqual(serials(query({ account, mode, referrerTag: tag, subs }).rows), [serial]);
    }
    assert.deepEqual(serials(query({ subs }).rows), [0, 3]);
    assert.deepEqual(query({ vertical: 2 }), { rows: [], retainedFromDay: 0, nextAfterPosition: null });
    assert.deepEqual(query({ referrerTag: 'tag-none' }), { rows: [], retainedFromDay: 0, nextAfterPosition: null });
  });

  it('have a next position only if there are more rows', () => {
    const subs = [0, 1, 2, 3].map((serial) => subOf({ createdMs: noon, serial }));
    apply(...subs.map((each) => createdRecord(each)));
    for (const filter of [{}, { subs }]) {
      assert.equal(query({ ...filter, limit: 4 }).nextAfterPosition, null);
      assert.equal(query({ ...filter, limit: 3 }).nextAfterPosition, 3);
      assert.equal(query({ ...filter, limit: 3, afterPosition: 1 }).nextAfterPosition, null);
      assert.deepEqual(query({ ...filter, afterPosition: 4 }), {
        rows: [],
        retainedFromDay: 0,
        nextAfterPosition: null,
      });
    }
  });

  it('occur on exactly one page for any page size, while sessions are added', () => {
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
              // Over several days, now and then out of their order.
              const createdMs = noon - 3 * dayMs + serial * 600_000 - ((serial * 7) % (jitter + 1)) * 3_600_000;
              records.push(createdRecord(subOf({ createdMs, serial })));
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
            close();
            open();
          }
        },
      ),
      { numRuns: 40 },
    );
  });
});
