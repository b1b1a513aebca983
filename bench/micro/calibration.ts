import { hash } from 'node:crypto';
import type { MicroBenchmark } from './micro.ts';

/** What the regression gate divides the others by: it has nothing of ours in it, so it tells how fast the machine is. */
export const calibrationName = 'calibration';

const calibrationEntries = 1_000;
const calibrationCalls = 1_000;

export const calibrationBenchmark: MicroBenchmark = {
  name: calibrationName,
  call: 'a fixed piece of work without anything of ours: a map, JSON, a hash',
  prepare: () => {
    const values = new Map(Array.from({ length: calibrationEntries }, (_, at) => [`entry-${at}`, { at, text: 'x'.repeat(40) }]));
    const keys = [...values.keys()];
    return {
      calls: calibrationCalls,
      run: () => {
        let total = 0;
        for (let call = 0; call < calibrationCalls; call++) {
          const text = JSON.stringify(values.get(keys[(call * 7) % calibrationEntries]!));
          total += text.length + hash('sha256', text, 'buffer')[0]!;
        }
        return total;
      },
    };
  },
};
