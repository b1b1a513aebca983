import type { BenchPart } from '../part.ts';
import { crossoverSizes, measureCrossover, quickCrossoverSizes } from './crossover.ts';

export const crossoverPart: BenchPart = {
  name: 'crossover',
  description: 'ranking in the thread that asks beside ranking in a worker',
  measure: async ({ quick, scale, folder, progress, catalog }) => {
    progress.step('crossover: ranking in the thread and in a worker');
    const { rounds, seconds } = scale;
    const sizes = quick ? quickCrossoverSizes : crossoverSizes;
    return { crossover: await measureCrossover({ sizes, rounds, seconds: seconds / 10, folder, catalog }) };
  },
};
