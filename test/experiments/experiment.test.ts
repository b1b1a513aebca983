import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRetrospective, lastMatureCohortDay, matureDayOf, plannedDayOf } from '../../src/experiments/experiment.ts';
import { experimentDefinedRecord, subIdBytes } from '../support/ledger-records.ts';

const createdMs = Date.UTC(2026, 0, 10, 12);
const day = Math.floor(createdMs / 86_400_000);

function define(change: object) {
  return JSON.parse(experimentDefinedRecord(subIdBytes({ createdMs, serial: 0 }), 'hero', change)[5]);
}

test('a cohort day is mature after the days for revenue and for late confirmations, and one more day', () => {
  for (const [revenueDays, graceDays] of [
    [45, 7],
    [45, 0],
    [7, 7],
  ] as const) {
    const definition = define({ revenueDays, graceDays, startsOn: day, endsOn: day + 20 });
    const matureDay = day + revenueDays + graceDays + 1;
    assert.equal(matureDayOf(definition, day), matureDay);
    assert.equal(lastMatureCohortDay(definition, matureDay), day);
    assert.equal(plannedDayOf(definition), matureDay + 20);
  }
  assert.equal(plannedDayOf(define({})), null);
});

test('an experiment is retrospective if it was created after its first day', () => {
  for (const [startsOn, expected] of [
    [day - 1, true],
    [day, false],
    [day + 1, false],
  ] as const) {
    assert.equal(isRetrospective({ definition: define({ startsOn }), createdMs }), expected);
  }
});
