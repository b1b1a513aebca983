import { hash } from 'node:crypto';
import { bounds } from '../bounds.ts';

/**
 * Returns the arm of a visitor in an experiment with `assignment: "hash"` (docs/contract.md#assignment-by-hash). The same arguments always
 * return the same arm. Throws a RangeError if a weight is not positive, or if the weights do not add up to 1.
 *
 * @param name name of the experiment, so that the arms of a visitor in different experiments are independent
 * @param unitId the partner's own ID of the visitor, as in POST /session
 * @param arms arms in the order of the definition
 */
export function assignArm<Arm extends { readonly weight: number }>(
  name: string,
  unitId: string,
  arms: readonly Arm[],
): Arm {
  const total = arms.reduce((sum, { weight }) => sum + weight, 0);
  if (!(Math.abs(total - 1) <= bounds.weightSumTolerance) || arms.some(({ weight }) => weight <= 0)) {
    throw new RangeError('weights of arms must be positive and add up to 1');
  }
  return findAssignedArm(name, unitId, arms);
}

/** Returns the arm that `assignArm` returns. The weights must be valid, as those of a stored definition are. */
export function findAssignedArm<Arm extends { readonly weight: number }>(
  name: string,
  unitId: string,
  arms: readonly Arm[],
): Arm {
  const fraction = unitFraction(name, unitId);
  let cumulativeWeight = 0;
  for (const arm of arms) {
    cumulativeWeight += arm.weight;
    if (fraction < cumulativeWeight) return arm;
  }
  // The weights may add up to slightly less than 1.
  return arms.at(-1)!;
}

/** Returns the first 48 bits of the hash as a number from 0 to less than 1. Each step of the computation is exact. */
function unitFraction(name: string, unitId: string): number {
  // A hash as a string takes half as long as a hash as a buffer.
  const digest = hash('sha256', `${name}.${unitId}`, 'binary');
  let fraction = 0;
  for (let index = 5; index >= 0; index--) fraction = (fraction + digest.charCodeAt(index)) / 256;
  return fraction;
}
