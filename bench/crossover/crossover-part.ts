import type { BenchPart } from '../part.ts';
import { measureCrossover } from './crossover.ts';

export const crossoverPart: BenchPart = {
  name: 'crossover',
  about: 'ranking in the thread that asks beside ranking in a worker',
  measure: async ({ scale, folder, progress, catalog }) => {
    progress.step('crossover: ranking in the thread and in a worker');
    const { rounds, seconds } = scale;
    return { crossover: await measureCrossover({ rounds, seconds: seconds / 10, folder, catalog }) };
  },
};
