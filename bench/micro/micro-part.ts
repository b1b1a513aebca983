import type { BenchPart } from '../part.ts';
import { runMicroBenchmarks } from './run.ts';

export const microPart: BenchPart = {
  name: 'micro',
  description: 'the hot functions alone',
  measure: async ({ quick, folder, scale, progress }) => ({
    micro: await runMicroBenchmarks({
      quick,
      folder,
      liveSessions: scale.liveSessions,
      onStart: (name) => progress.step(`micro: ${name}`),
    }),
  }),
};
