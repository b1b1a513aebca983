import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ExperimentUnit, ExperimentUnitsPage, ExperimentUnitsQuery } from '../../src/analytics/analytics.ts';
import { bounds } from '../../src/bounds.ts';
import { msPerDay } from '../../src/domain/calendar.ts';
import { type ExperimentDefinition, lastMatureCohortDay } from '../../src/experiments/experiment.ts';
import type { ArmDay } from '../../src/experiments/experiment-figures.ts';
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
import { arbitraryHistory } from './arbitrary-experiments.ts';
import { ExperimentModel } from './experiment-model.ts';
import { ProjectedStore } from './projected-store.ts';
import { noon, today } from './sample-query.ts';

type Query = Omit<ExperimentUnitsQuery, 'position'>;

/** Reads all pages of units. Each page has the same last day, and up to `limit` units. */
function readPages({ store }: ProjectedStore, query: Query): Omit<ExperimentUnitsPage, 'next' | 'retainedFromDay'> {
  const units: ExperimentUnit[] = [];
  let position: ExperimentUnitsQuery['position'] = null;
  for (;;) {
    // A later day does not change the figures of later pages.
    const page: ExperimentUnitsPage = store.listExperimentUnits({
      ...query,
      today: query.today + (position === null ? 0 : 1),
      position,
    })!;
    assert.ok(page.units.length <= query.limit);
    assert.ok((page.next?.after.length ?? 0) <= 16);
    units.push(...page.units);
    if (page.next === null) return { arms: page.arms, asOf: page.asOf, units };
    position = page.next;
  }
}

/** Returns the sums over the units of one arm, in the order of `sumDays`. */
function sumUnits(units: readonly ExperimentUnit[]): number[] {
  const sum = (figure: (unit: ExperimentUnit) => number) => units.reduce((total, unit) => total + figure(unit), 0);
  const mature = units.filter(({ matureSessions }) => matureSessions > 0);
  return [
    units.length,
    sum(({ sessions }) => sessions),
    sum(({ clicks }) => clicks),
    mature.length,
    sum(({ matureSessions }) => matureSessions),
    sum(({ revenueMicros }) => revenueMicros),
    mature.filter(({ revenueMicros }) => revenueMicros > 0).length,
    sum((unit) => unit.matureSessions ** 2),
  ];
}

function sumDays(days: readonly ArmDay[], matureDay: number): number[] {
  const sum = (figure: (day: ArmDay) => number, last = Number.POSITIVE_INFINITY) =>
    days.reduce((total, row) => total + (row.day <= last ? figure(row) : 0), 0);
  return [
    sum(({ sums }) => sums.units),
    sum(({ sums }) => sums.sessions),
    sum(({ clicks }) => clicks.count),
    sum(({ sums }) => sums.units, matureDay),
    sum(({ sums }) => sums.sessions, matureDay),
    sum(({ sums }) => sums.revenueMicros, matureDay),
    sum(({ sums }) => sums.unitsWithRevenue, matureDay),
    sum(({ sums }) => sums.sessionsSquared, matureDay),
  ];
}

/** Asserts that the units of an experiment add up to the figures of its arms. Returns the number of units. */
function assertAddUp(store: ProjectedStore, query: Query, definition: ExperimentDefinition): number {
  const { arms, asOf, units } = readPages(store, query);
  assert.deepEqual(
    arms,
    definition.arms.map(({ referrerTag }) => referrerTag),
  );
  const { figures } = store.store.readExperimentFigures({ ...query, asOf })!;
  const matureDay = lastMatureCohortDay(definition, asOf);
  for (const arm of arms.keys()) {
    const ofArm = units.filter((unit) => unit.arm === arm);
    const days = figures.days.filter((day) => day.arm === arm);
    assert.deepEqual(sumUnits(ofArm), sumDays(days, matureDay));
  }
  return units.length;
}

const owner = { account: 1, vertical: 1, mode: 'live' } as const;
const query = { ...owner, name: 'hero', today: today + 1, limit: bounds.experimentUnitsPageMax };

/** Yields the records of sessions of three days and 40 visitors: some are bots, have no visitor, or have another tag, and some earn money. */
function* sessionRecords(): Generator<LedgerRecord> {
  for (let serial = 1; serial <= 150; serial++) {
    const sub = subIdBytes({ createdMs: noon - (serial % 3) * msPerDay, serial });
    yield sessionCreatedRecord(sub, {
      tag: ['tag-one', 'tag-two', 'tag-three'][serial % 11 === 0 ? 2 : serial % 2]!,
      unit: serial % 13 === 0 ? null : `visitor-${serial % 40}`,
      device: serial % 17 === 0 ? 4 : 0,
    });
    if (serial % 4 > 0) continue;
    yield offersViewedRecord(sub, ['a']);
    yield offerClickedRecord(sub, 'a');
    yield revenueConfirmedRecord(sub, 'a', { micros: serial * 1_000_000 });
    if (serial % 3 === 0) yield revenueReversedRecord(sub, 'a', { micros: 500_000 });
  }
}

/** Often the first day on whose results the sessions of `today` are mature, for each number of days until the freeze. */
const daysLater = fc.oneof(fc.nat({ max: 110 }), fc.constantFrom(9, 16, 47, 54, 54, 92));

describe('units of an experiment', () => {
  it('add up to the figures of their arms in random histories', () => {
    let unitsRead = 0;
    fc.assert(
      fc.property(arbitraryHistory, fc.integer({ min: 1, max: 4 }), daysLater, (records, limit, later) => {
        const store = new ProjectedStore();
        try {
          store.apply(...records);
          while (store.store.fill.isRunning) store.store.fill.countSlice();
          const model = new ExperimentModel();
          for (const record of records) model.record(record);
          for (const { name, tenant, definition } of model.experiments) {
            const { account, vertical, mode } = tenant;
            unitsRead += assertAddUp(store, { account, vertical, mode, name, today: today + later, limit }, definition);
          }
        } finally {
          store.close();
        }
      }),
      { numRuns: 60 },
    );
    assert.ok(unitsRead > 30, `${unitsRead}`);
  });

  for (const unit of ['session', 'visitor'] as const) {
    it(`add up to the figures of their arms, on pages of any size (${unit})`, () => {
      const store = new ProjectedStore();
      try {
        const sub = subIdBytes({ createdMs: noon, serial: 0 });
        store.apply(experimentDefinedRecord(sub, 'hero', { unit, startsOn: today - 2, capMicros: 60_000_000 }));
        store.apply(...sessionRecords());
        while (store.store.fill.isRunning) store.store.fill.countSlice();
        const { definition } = store.store.findExperiment({ ...owner, name: 'hero' })!;
        const { revenueDays, graceDays } = definition;
        const firstMature = today + revenueDays + graceDays;
        // On these days, results include no session, some sessions, all sessions, and sessions of each number of mature days.
        for (const day of [today - 2, today - 1, today, today + 1, ...[0, 1, 2, 3].map((more) => firstMature + more)]) {
          for (const limit of [1, 7, bounds.experimentUnitsPageMax]) {
            assertAddUp(store, { ...query, today: day, limit }, definition);
          }
        }
      } finally {
        store.close();
      }
    });
  }

  for (const unit of ['session', 'visitor'] as const) {
    it(`are those that are counted, while the earlier sessions are counted (${unit})`, () => {
      const store = new ProjectedStore();
      try {
        const sessions = 3 * bounds.sessionsFilledPerTransaction;
        for (let serial = 1; serial <= sessions; serial++) {
          const sub = subIdBytes({ createdMs: noon - (serial % 3) * msPerDay, serial });
          const tag = ['tag-one', 'tag-two'][serial % 2]!;
          store.apply(sessionCreatedRecord(sub, { tag, unit: `visitor-${serial % 400}` }));
        }
        const defined = experimentDefinedRecord(subIdBytes({ createdMs: noon, serial: 0 }), 'hero', {
          unit,
          startsOn: today - 2,
        });
        store.apply(defined);
        const { definition } = store.store.findExperiment({ ...owner, name: 'hero' })!;
        const counts: number[] = [];
        do {
          store.store.fill.countSlice();
          counts.push(assertAddUp(store, query, definition));
        } while (store.store.fill.isRunning);
        assert.equal(counts.at(-1), unit === 'session' ? sessions : 400);
        assert.ok(counts[0]! < counts.at(-1)!, `${counts}`);
      } finally {
        store.close();
      }
    });
  }

  it('come on a later page after many sessions that are in no arm', () => {
    const store = new ProjectedStore();
    try {
      store.apply(experimentDefinedRecord(subIdBytes({ createdMs: noon, serial: 0 }), 'hero', { startsOn: today }));
      const bot = 4;
      const last = bounds.unitRecordsReadMax + 1;
      const records = Array.from({ length: last }, (_, index) =>
        sessionCreatedRecord(subIdBytes({ createdMs: noon, serial: index + 1 }), {
          device: index + 1 < last ? bot : 0,
        }),
      );
      store.apply(...records);
      const first = store.store.listExperimentUnits({ ...query, position: null })!;
      assert.deepEqual(first.units, []);
      const { units, next } = store.store.listExperimentUnits({ ...query, position: first.next })!;
      assert.deepEqual([units.length, next], [1, null]);
    } finally {
      store.close();
    }
  });
});
