import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findInvalidReason } from '../../src/experiments/find-invalid-reason.ts';

const arm = { name: 'A', units: 1_000, unitsInSeveralArms: 100 };
const valid = {
  splitLogMartingaleMax: 6.9,
  arms: [arm, { ...arm, name: 'B', units: 0 }],
  sessions: 2_000,
  sessionsWithoutUnit: 100,
};

it('findInvalidReason returns the first reason why figures must not be used', () => {
  assert.equal(findInvalidReason({ ...valid, arms: [arm, { name: 'B', units: 0, unitsInSeveralArms: 0 }] }), null);
  assert.equal(findInvalidReason({ ...valid, arms: [], sessions: 0, sessionsWithoutUnit: 0 }), null);
  assert.deepEqual(findInvalidReason({ ...valid, splitLogMartingaleMax: Math.log(1_000) }), { kind: 'split' });
  const mixed = { name: 'C', units: 1_000, unitsInSeveralArms: 101 };
  const noUnit = { ...valid, sessionsWithoutUnit: 101 };
  assert.deepEqual(findInvalidReason({ ...noUnit, arms: [arm, mixed] }), {
    kind: 'several arms',
    arm: 'C',
    share: 0.101,
  });
  assert.deepEqual(findInvalidReason(noUnit), { kind: 'no unit', share: 0.0505 });
});
