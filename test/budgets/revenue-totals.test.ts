import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RevenueTotals, revenueKinds } from '../../src/budgets/revenue-totals.ts';
import {
  type ClickDecision,
  offerClickedRecord,
  revenueConfirmedRecord,
  revenueReversedRecord,
  subIdBytes,
} from '../support/ledger-records.ts';

const sub = subIdBytes({ createdMs: 0, serial: 1 });
const click = (...decision: ClickDecision) => offerClickedRecord(sub, 'offer', { valueMicros: 5, decision });
const restored = { click: { clickedMs: 1, valueMicros: 4 }, micros: 7 };

test('adds the revenue of each kind of record', () => {
  const cases = [
    { record: click(), changes: true, booked: 5 },
    { record: click(), changes: false },
    { record: click(true, null, true), changes: true, booked: 5, confirmed: 5 },
    { record: click(false, 0), changes: true },
    { record: revenueConfirmedRecord(sub, 'offer', { micros: 7 }), changes: false, confirmed: 7 },
    { record: revenueConfirmedRecord(sub, 'offer', restored), changes: true, booked: 4, confirmed: 7 },
    { record: revenueReversedRecord(sub, 'offer', { micros: 3 }), changes: false, reversed: 3 },
  ];
  for (const { record, changes, ...added } of cases) {
    const totals = new RevenueTotals();
    totals.addRecord(record, changes);
    const zeros = Object.fromEntries(revenueKinds.map((kind) => [kind, 0]));
    assert.deepEqual(totals.micros, { ...zeros, ...added }, JSON.stringify(record));
  }
});
