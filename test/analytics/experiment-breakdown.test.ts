import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { msPerDay } from '../../src/domain/calendar.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  experimentDefinedRecord,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { archiveDays } from './archive-days.ts';
import { ExperimentModel } from './experiment-model.ts';
import { ProjectedStore } from './projected-store.ts';
import { noon, today } from './sample-query.ts';

const tenant = { account: 1, vertical: 1, mode: 'live' as const, name: 'hero' };
const ages = 4;
const firstDay = today - ages;
const sub = subIdBytes({ createdMs: noon, serial: 0 });
const define = (changes: Partial<ExperimentDefinition> = {}) =>
  experimentDefinedRecord(sub, 'hero', { startsOn: firstDay, revenueDays: 7, dimensions: ['page', 'ad'], ...changes });

const metadataOf = (page: unknown) => (page === undefined ? null : JSON.stringify({ page, other: 1 }));

interface SessionOptions {
  readonly serial: number;
  readonly age?: number;
  readonly page?: unknown;
  readonly tag?: string;
  readonly device?: number;
  readonly unit?: string | null;
}

function subOf({ serial, age = 0 }: SessionOptions): Buffer {
  return subIdBytes({ createdMs: noon - age * msPerDay, serial });
}

function created(options: SessionOptions): LedgerRecord {
  const { tag = 'tag-one', device = 0, unit = null, page } = options;
  return sessionCreatedRecord(subOf(options), { tag, device: device as 0, unit, metadata: metadataOf(page) });
}

/** Sessions of few visitors with more values than the maximum. The order of their days is not the order of their records. */
const arbitrarySession = fc.record({
  serial: fc.nat({ max: 1_000 }),
  age: fc.nat({ max: ages - 1 }),
  page: fc.oneof(
    fc.nat({ max: 90 }),
    fc.nat({ max: 90 }).map((page) => `page ${page}`),
    fc.constantFrom(undefined, null, true, '1', 1, 'none', 'other', '__proto__'),
  ),
  tag: fc.constantFrom('tag-one', 'tag-one', 'tag-two'),
  device: fc.nat({ max: 4 }),
  unit: fc.option(
    fc.nat({ max: 90 }).map((visitor) => `visitor-${visitor}`),
    { freq: 9 },
  ),
});

const arbitraryEvents = fc.tuple(arbitrarySession, fc.nat({ max: 4 })).map(([session, events]): LedgerRecord[] => {
  const id = subOf(session);
  const micros = 1_000_000 * (1 + (session.serial % 7));
  return [
    created(session),
    offersViewedRecord(id, ['a']),
    offerClickedRecord(id, 'a'),
    revenueConfirmedRecord(id, 'a', { micros }),
    revenueReversedRecord(id, 'a', { micros: 500_000 }),
  ].slice(0, 1 + events);
});

describe('breakdown of an experiment', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  const fill = () => {
    while (projected.store.fill.isRunning) projected.store.fill.countSlice();
  };
  const readAll = () =>
    [today, today + 13, today + 60].map((asOf) => [
      projected.store.readExperimentFigures({ ...tenant, asOf })?.figures.days,
      ...['device', 'page', 'ad'].map((groupBy) => projected.store.readBreakdown({ ...tenant, groupBy, asOf })),
    ]);
  const archive = (day: number) => {
    const request = { today, retentionDays: today - day, wallMs: noon };
    assert.deepEqual(archiveDays(projected.store, request).archived, true);
    while (projected.store.retention.hasRowsToPrune) projected.store.retention.pruneRows();
  };
  const retainFrom = (day: number) => {
    archive(day);
    assert.equal(projected.archive.firstRetainedDay, day);
  };
  const pages = (asOf = today + 60) =>
    projected.store
      .readBreakdown({ ...tenant, groupBy: 'page', asOf })
      ?.map(({ kind, value, arms }) => [value ?? `(${kind})`, arms[0]!.sessions, arms[1]!.sessions]);

  for (const unit of ['session', 'visitor'] as const) {
    it(`has the figures of the model before and after retention and a rebuild, with ${unit}s as units`, () => {
      fc.assert(
        fc.property(
          fc.array(arbitraryEvents, { minLength: 20, maxLength: 160, size: 'max' }),
          fc.record({ defined: fc.nat({ max: 100 }), batch: fc.integer({ min: 1, max: 90 }), retained: fc.boolean() }),
          (events, { defined, batch, retained }) => {
            projected.close();
            projected = new ProjectedStore();
            const records = events.flat();
            records.splice(defined, 0, define({ unit }));
            const model = new ExperimentModel();
            for (const record of records) model.record(record);
            const experiment = model.experiments[0]!;
            for (let at = 0; at < records.length; at += batch) {
              projected.apply(...records.slice(at, at + batch));
              projected.store.fill.countSlice();
              if (at % 4 === 0) projected.reopen();
            }
            fill();
            const expected = [today, today + 13, today + 60].map((asOf) => [
              model.figures(experiment, asOf).days,
              ...['device', 'page', 'ad'].map((groupBy) => model.breakdown(experiment, groupBy, asOf)),
            ]);
            assert.deepEqual(readAll(), expected);
            if (retained) {
              archive(today - 2);
              archive(today - 1);
              assert.deepEqual(readAll(), expected);
            }
            projected.rebuild(0);
            for (let at = 0; at < records.length; at += batch) projected.apply(...records.slice(at, at + batch));
            fill();
            assert.deepEqual(readAll(), expected);
          },
        ),
        { numRuns: 12, endOnFailure: true },
      );
    });

    it(`counts earlier sessions again for a new dimension, with ${unit}s as units`, () => {
      projected.apply(define({ unit, dimensions: [] }));
      fill();
      projected.apply(
        ...[1, 2].map((serial) => created({ serial, unit: `v${serial}`, page: `page ${serial}`, age: serial })),
      );
      assert.equal(pages(), undefined);
      projected.apply(define({ unit }));
      fill();
      assert.deepEqual(pages(), [
        ['page 1', 1, 0],
        ['page 2', 1, 0],
      ]);
    });

    it(`counts later sessions for a new dimension after sessions were archived, with ${unit}s as units`, () => {
      const early: LedgerRecord[] = [define({ unit, dimensions: [] })];
      for (const serial of [1, 2, 3, 4]) {
        early.push(created({ serial, unit: `v${serial}`, page: `page ${serial}`, age: 4 - serial }));
      }
      const late = [
        define({ unit }),
        created({ serial: 5, unit: 'v5', page: 'page 1', tag: 'tag-two' }),
        created({ serial: 6, unit: 'v1', page: 'page 2' }),
      ];
      projected.apply(...early);
      fill();
      retainFrom(today - 2);
      const before = projected.store.readExperimentFigures({ ...tenant, asOf: today - 1 })!.figures;
      projected.apply(...late);
      fill();
      // The visitor of the last session had its first session before.
      const expected = [
        ['page 1', 0, 1],
        ...(unit === 'session' ? [['page 2', 1, 0]] : []),
        ['(other)', unit === 'session' ? 4 : 5, 0],
      ];
      assert.deepEqual(projected.store.readExperimentFigures({ ...tenant, asOf: today - 1 })!.figures, before);
      assert.deepEqual(pages(), expected);
      retainFrom(today - 1);
      assert.deepEqual(pages(), expected);
      projected.rebuild(0);
      projected.apply(...early);
      projected.apply(...late);
      fill();
      assert.deepEqual(pages(), expected);
    });
  }

  it('removes the figures of a dimension that the definition does not have any more', () => {
    projected.apply(define());
    fill();
    projected.apply(...[3, 1, 0].map((age) => created({ serial: age + 1, page: 'a', age })));
    retainFrom(today - 2);
    projected.apply(define({ dimensions: ['ad'] }));
    assert.equal(pages(), undefined);
    projected.apply(define(), created({ serial: 5, page: 'a' }));
    assert.deepEqual(pages(), [
      ['a', 1, 0],
      ['(other)', 3, 0],
    ]);
  });

  it('ignores metadata that is no JSON object', () => {
    projected.apply(define());
    fill();
    for (const [index, metadata] of ['x', '[]', 'null', '7'].entries()) {
      projected.apply(sessionCreatedRecord(subOf({ serial: index + 1 }), { metadata }));
    }
    assert.deepEqual(pages(), [['(none)', 4, 0]]);
  });
});
