import assert from 'node:assert/strict';
import { it } from 'node:test';
import { findInvalidReason } from '../../src/experiments/find-invalid-reason.ts';

const arm = { name: 'A', units: 1_000, unitsInSeveralArms: 100 };
const valid = {
  splitLogMartingaleMax: 6.9,
  arms: [arm, { name: 'B', units: 0, unitsInSeveralArms: 0 }],
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

it('findInvalidReason ignores fewer than ten visitors in several arms, or sessions without unit_id', () => {
  for (const [all, faults, isMixed, lacksUnits] of [
    [1, 1, false, false],
    [20, 9, false, false],
    [20, 10, true, true],
    [99, 10, true, true],
    [100, 10, false, true],
    [199, 10, false, true],
    [200, 10, false, false],
    [200, 11, false, true],
  ] as const) {
    const mixed = { ...valid, arms: [{ name: 'A', units: all, unitsInSeveralArms: faults }], sessionsWithoutUnit: 0 };
    const noUnit = { ...valid, arms: [], sessions: all, sessionsWithoutUnit: faults };
    assert.equal(
      findInvalidReason(mixed)?.kind ?? null,
      isMixed ? 'several arms' : null,
      `${faults} of ${all} visitors`,
    );
    assert.equal(
      findInvalidReason(noUnit)?.kind ?? null,
      lacksUnits ? 'no unit' : null,
      `${faults} of ${all} sessions`,
    );
  }
});
