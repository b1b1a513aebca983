import type { ExperimentResultsResponse } from '../../../src/index.ts';

export type Results = ExperimentResultsResponse;
export type Arm = Results['arms'][number];

/** Returns the name of an arm: its label, or its tag. */
export function nameArm({ arms }: Pick<Results, 'arms'>, tag: string): string {
  return arms.find(({ referrer_tag: each }) => each === tag)?.label ?? tag;
}
