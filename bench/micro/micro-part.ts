import type { BenchPart } from '../part.ts';
import { runMicros } from './run.ts';

export const microPart: BenchPart = {
  name: 'micro',
  about: 'the hot functions alone',
  measure: async ({ quick, progress }) => {
    progress.step('micro: timing the hot functions alone');
    return { micro: await runMicros(quick) };
  },
};
