import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { msPerDay } from '../../src/domain/calendar.ts';
import { assembleResults } from '../../src/experiments/assemble-results.ts';
import { measureConcentration } from '../../src/experiments/concentration.ts';
import type { ExperimentDefinition } from '../../src/experiments/experiment.ts';
import type { ExperimentResults } from '../../src/experiments/experiment-results.ts';
import type { LedgerRecord } from '../../src/ledger/ledger-record.ts';
import {
  experimentDefinedRecord,
  offerClickedRecord,
  offersViewedRecord,
  revenueConfirmedRecord,
  sessionCreatedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';
import { ProjectedStore } from './projected-store.ts';
import { noon, today } from './sample-query.ts';

const tenant = { account: 1, vertical: 1, mode: 'live' as const };
const days = 16;
const define = (changes: Partial<ExperimentDefinition> = {}) =>
  experimentDefinedRecord(subIdBytes({ createdMs: noon, serial: 0 }), 'hero', { startsOn: today, ...changes });

/** 14 sessions of each arm on each of 16 days. Half of them have revenue, which is larger in the second arm. */
function* sessionRecords(): Generator<LedgerRecord> {
  let serial = 0;
  for (let day = 0; day < days; day++) {
    for (const [arm, tag] of ['tag-one', 'tag-two'].entries()) {
      for (let index = 0; index < 14; index++) {
        const sub = subIdBytes({ createdMs: noon + day * msPerDay + ++serial, serial });
        yield sessionCreatedRecord(sub, { tag });
        yield offersViewedRecord(sub, ['a']);
        yield offerClickedRecord(sub, 'a');
        const micros = (10 + 10 * (index % 3) + 40 * arm) * 1_000_000;
        if (index % 2 === 0) yield revenueConfirmedRecord(sub, 'a', { micros });
      }
    }
  }
}

/** First day on whose results all sessions are mature, and the next day, on which these results are read. */
const lastLook = today + days - 1 + 53;

describe('results of an experiment in the analytics store', () => {
  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
    projected.apply(define());
    projected.apply(...sessionRecords());
  });
  afterEach(() => projected.close());

  const read = (day: number, query: object = {}): ExperimentResults | null =>
    projected.store.getExperimentResults({
      ...tenant,
      name: 'hero',
      today: day,
      withSeries: false,
      isLast: false,
      groupBy: null,
      ...query,
    });
  const assemble = (asOf: number) => {
    const { experiment, figures } = projected.store.readExperimentFigures({ ...tenant, name: 'hero', asOf })!;
    return assembleResults(experiment, figures);
  };

  it('are those of the day before, with the series only on request', () => {
    const { results, series } = assemble(lastLook);
    assert.deepEqual(read(lastLook + 1), results);
    assert.deepEqual(read(lastLook + 1, { withSeries: true }), { ...results, series });
    assert.equal(results.decision, 'better');
    assert.notEqual(results.comparisons[0]!.capped_difference, null);
    assert.equal(series.length, days);
  });

  it('are the same when they are read again, and those of another day when that is read', () => {
    for (const day of [lastLook - 1, lastLook, lastLook - 1, lastLook - 9, lastLook]) {
      assert.deepEqual(read(day + 1), assemble(day).results);
    }
  });

  it('follow a new definition, also on the same day and while earlier sessions are still being counted', () => {
    projected.rebuild();
    projected.apply(...sessionRecords());
    const names = ['tag-one', 'tag-two'];
    for (const tags of [names, names.toReversed(), names]) {
      // The experiment starts before its definition, so that its definition can change although it has sessions.
      const sub = subIdBytes({ createdMs: noon + 70 * msPerDay, serial: 0 });
      const arms = tags.map((referrerTag) => ({ referrerTag, weight: 0.5, label: null }));
      projected.apply(experimentDefinedRecord(sub, 'hero', { startsOn: today, arms }));
      assert.equal(read(lastLook + 1)!.fill_progress, 0);
      while (projected.store.fill.isRunning) projected.store.fill.countSlice();
      const found = read(lastLook + 1)!;
      assert.deepEqual(found, assemble(lastLook).results);
      assert.equal(found.decision, 'exploratory');
    }
  });

  it('are those of the closing after it, with the series up to it', () => {
    const { results, series } = assemble(lastLook);
    const outcome = { outcome: 'ship', arm: 'tag-two', note: null, results };
    const closedMs = (lastLook + 1) * msPerDay + 5;
    projected.apply([8, closedMs, subIdBytes({ createdMs: closedMs, serial: 0 }), 'hero', 1, JSON.stringify(outcome)]);
    const found = read(lastLook + 30, { withSeries: true })!;
    assert.match(
      found.sentence,
      /^Closed on .* to ship tag-two\. The results up to .*: tag-two earns more than tag-one/,
    );
    assert.deepEqual(found, { ...results, state: 'closed', sentence: found.sentence, series });
  });

  it('are null for an unknown name and for another tenant', () => {
    assert.equal(read(lastLook, { name: 'other' }), null);
    for (const other of [{ account: 2 }, { vertical: 2 }, { mode: 'test' }]) assert.equal(read(lastLook, other), null);
  });
});

describe('the largest units that are read for the concentration', () => {
  const tags = ['tag-one', 'tag-two', 'tag-three'];
  const arms = tags.map((referrerTag) => ({ referrerTag, weight: 1 / 3, label: null }));
  /** Each session has another revenue, and the third arm has none of the largest. Some visitors come on two days. */
  function* concentratedRecords(): Generator<LedgerRecord> {
    for (let index = 0; index < 900; index++) {
      const day = index % days;
      const sub = subIdBytes({ createdMs: noon + day * msPerDay + index, serial: index });
      yield sessionCreatedRecord(sub, { tag: tags[index % 3]!, unit: `visitor-${index % 600}` });
      yield offersViewedRecord(sub, ['a']);
      yield offerClickedRecord(sub, 'a');
      const micros = (((index * 7_919) % 907) + 1) * (index % 3 === 2 ? 1_000 : 1_000_000);
      yield revenueConfirmedRecord(sub, 'a', { micros });
    }
  }

  let projected: ProjectedStore;

  beforeEach(() => {
    projected = new ProjectedStore();
  });
  afterEach(() => projected.close());

  for (const unit of ['session', 'visitor'] as const) {
    for (const [name, asOf] of [
      ['all', lastLook],
      ['most', lastLook - 3],
      ['some', lastLook - days + 1],
      ['none', today],
    ] as const) {
      it(`give the same as all units if ${name} of the days are mature and the unit is the ${unit}`, () => {
        projected.apply(define({ unit, arms }));
        projected.apply(...concentratedRecords());
        const [complete, partial] = (['all', 'largest'] as const).map((units) => {
          const query = { ...tenant, name: 'hero', asOf, units };
          const { experiment, figures } = projected.store.readExperimentFigures(query)!;
          const count = figures.unitsWithRevenue.length;
          return { count, concentration: measureConcentration(experiment.definition, figures) };
        });
        assert.deepEqual(partial!.concentration, complete!.concentration);
        assert.equal(complete!.concentration.capped !== null, name === 'all' || name === 'most');
        assert.ok(name === 'none' ? complete!.count === 0 : partial!.count < complete!.count / 10);
      });
    }
  }
});
