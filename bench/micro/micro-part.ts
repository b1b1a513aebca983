import type { BenchPart } from '../part.ts';
import { runMicros } from './run.ts';

export const microPart: BenchPart = {
  name: 'micro',
  about: 'the hot functions alone',
  measure: async ({ quick, folder, scale, progress }) => ({
    micro: await runMicros({
      quick,
      folder,
      liveSessions: scale.liveSessions,
      onBegin: (name) => progress.step(`micro: ${name}`),
    }),
  }),
};
