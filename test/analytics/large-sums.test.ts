import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { groupSumColumns, unitSumColumns } from '../../src/analytics/analytics-database.ts';
import { SqlDatabase } from '../../src/analytics/sql-database.ts';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { microsPerUsd } from '../../src/domain/money.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import { computeMeanInterval } from '../../src/statistics/mean-interval.ts';
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
import { ProjectedStore } from './projected-store.ts';
import { byTag, noon, today } from './sample-query.ts';

const micros = bounds.confirmedRevenueUsdMax * microsPerUsd;
const largestInteger = 2n ** 63n - 1n;
const firstMs = noon - 20 * msPerDay;

const define = (changes: Partial<ExperimentDefinition> = {}) =>
  experimentDefinedRecord(subIdBytes({ createdMs: firstMs, serial: 0 }), 'hero', {
    revenueDays: 7,
    graceDays: 1,
    ...changes,
  });

/** Returns the records of a session with the highest revenue of one session, and the record of its reversal. */
function session(serial: number, createdMs: number, unit: string | null = null) {
  const sub = subIdBytes({ createdMs, serial });
  const created = [
    sessionCreatedRecord(sub, { unit }),
    offersViewedRecord(sub, ['a']),
    offerClickedRecord(sub, 'a'),
    revenueConfirmedRecord(sub, 'a', { micros }),
  ];
  return { created, reversed: revenueReversedRecord(sub, 'a', { micros }) };
}

function fill({ store }: ProjectedStore): void {
  while (store.fill.isRunning) store.fill.countSlice();
}

const window = { ...byTag, fromDay: today - 30, today: today + 100 };

/** Reads everything that the store reports about the sums. Fails if a figure is not a number that JSON can contain. */
function readAll({ store }: ProjectedStore) {
  const summary = store.getSummary(window);
  const { matured } = summary;
  const experiment = { account: 1, vertical: 1, mode: 'live', name: 'hero' } as const;
  const answers = {
    summary,
    interval: computeMeanInterval({
      units: matured.sessions,
      unitsWithRevenue: matured.sessionsWithRevenue,
      revenue: matured.confirmedMicros / microsPerUsd,
      revenueSquared: matured.confirmedUsdSquared,
    }),
    daily: store.listDailyAnalytics(window),
    offers: store.listOffers({ ...window, referrerTag: 'tag-one', subs: null, afterOfferId: '', limit: 10 }),
    tags: store.listTags({ account: 1, vertical: 1, mode: 'live', afterTag: '', limit: 10 }),
    figures: store.readExperimentFigures({ ...experiment, asOf: today + 60 })!.figures,
    results: store.getExperimentResults({
      ...experiment,
      today: today + 60,
      withSeries: true,
      isLast: false,
      groupBy: 'device',
    }),
  };
  const assertNumbers = (value: unknown, path: string): void => {
    if (typeof value === 'number') assert.ok(Number.isFinite(value), `${path} is ${value}`);
    if (typeof value !== 'object' || value === null) return;
    for (const [name, item] of Object.entries(value)) assertNumbers(item, `${path}.${name}`);
  };
  assertNumbers(answers, 'answers');
  return answers;
}

const cases = [
  ...['attributed_micros', 'confirmed_micros', 'confirmed_cents_squared'].map((column) => ['day_counter', column]),
  ...['attributed_micros', 'confirmed_micros'].map((column) => ['offer_counter', column]),
  ...['attributed_micros', 'confirmed_micros'].map((column) => ['offer_total', column]),
  ...unitSumColumns.map((column) => ['experiment_day', column]),
  ...groupSumColumns.map((column) => ['experiment_group', column]),
  ['experiment_age', 'revenue_micros'],
] as const;

describe('sums in the analytics store beyond 64 bits', () => {
  for (const [table, column] of cases) {
    it(`counts, reports, archives and restores ${table}.${column}`, () => {
      const projected = new ProjectedStore();
      const reads = `SELECT sum(abs(${column} + 0.0)) FROM ${table}`;
      const change = <Result>(run: (database: SqlDatabase) => Result) => {
        projected.store.close();
        const database = new SqlDatabase(projected.file);
        const result = run(database);
        database.close();
        projected.reopen();
        return result;
      };
      const days = [firstMs, firstMs + msPerDay].map((createdMs) =>
        Array.from({ length: 30 }, (_, index) => session(1 + index, createdMs)),
      );
      const batches = [
        [define(), ...days.flatMap(([first]) => first!.created)],
        days.flatMap(([, ...more]) => more.flatMap(({ created }) => created)),
        days.flatMap(([first]) => first!.reversed),
        // Sessions of later days, so that retention deletes the first days.
        [...session(99, noon).created, ...session(99, noon + msPerDay).created],
      ] as const;
      projected.apply(...batches[0]);
      fill(projected);
      // The sums of both days together exceed 64 bits too.
      change((database) => database.run(`UPDATE ${table} SET ${column} = ?`, [largestInteger]));
      const sizes = [change((database) => database.value<number>(reads)!)];
      projected.apply(...batches[1]);
      sizes.push(change((database) => database.value<number>(reads)!));
      assert.ok(sizes[1]! >= sizes[0]! && sizes[0]! >= 2 ** 64, `${sizes}`);
      readAll(projected);
      projected.apply(...batches[2]);
      projected.apply(...batches[3]);
      const before = readAll(projected);

      assert.equal(archiveDays(projected.store, { today, retentionDays: 2, wallMs: noon }).archived, true);
      assert.ok(projected.archive.firstRetainedDay > today - 19);
      const restored = (): unknown => {
        const { summary, interval, daily, offers, tags, figures, results } = readAll(projected);
        const strip = ({ retainedFromDay: _, asOfMs: __, ...rest }: Record<string, unknown>) => rest;
        return [strip({ ...summary }), interval, daily.days, offers.offers, tags, figures, results];
      };
      const { summary, daily, offers, ...rest } = before;
      assert.deepEqual(
        [summary.sessions, daily.days.length, offers.offers.length, rest.tags.tags.length],
        [61, 31, 1, 1],
      );
      const archived = restored();
      projected.rebuild(0);
      projected.apply(...batches.flat());
      fill(projected);
      assert.deepEqual(restored(), archived);
      projected.close();
    });
  }

  it('counts 1,000 sessions of one visitor with the highest revenue, and their reversals', () => {
    const projected = new ProjectedStore();
    const sessions = Array.from({ length: 1_000 }, (_, index) =>
      session(1 + index, firstMs + (index % 2) * msPerDay, 'visitor'),
    );
    const definition = define({ unit: 'visitor' });
    const sumsOf = () => {
      const { days } = readAll(projected).figures;
      return ['revenueMicros', 'revenueCentsSquared', 'revenueMicrosTimesSessions'].map((name) =>
        days.reduce((sum, day) => sum + day.sums[name as keyof typeof day.sums], 0),
      );
    };
    const expected = [1_000 * micros, (1_000 * micros) ** 2 / 1e8, 1_000 * micros * 1_000];
    projected.apply(definition, ...sessions.flatMap(({ created }) => created));
    fill(projected);
    assert.deepEqual(sumsOf(), expected);
    projected.rebuild(0);
    // The sum is beyond 64 bits from the fourth batch on.
    for (let start = 0; start < 1_000; start += 100) {
      const batch = sessions.slice(start, start + 100).flatMap(({ created }) => created);
      projected.apply(...(start === 0 ? [definition] : []), ...batch);
    }
    fill(projected);
    assert.deepEqual(sumsOf(), expected);
    projected.apply(...sessions.map(({ reversed }) => reversed));
    assert.deepEqual(sumsOf(), [0, 0, 0]);
    projected.close();
  });
});
