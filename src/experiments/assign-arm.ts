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
  const fraction = hash('sha256', `${name}.${unitId}`, 'buffer').readUIntBE(0, 6) / 2 ** 48;
  let cumulativeWeight = 0;
  const arm = arms.find(({ weight }) => {
    cumulativeWeight += weight;
    return fraction < cumulativeWeight;
  });
  // The weights may add up to slightly less than 1.
  return arm ?? arms.at(-1)!;
}
