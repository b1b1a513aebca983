import { hash } from 'node:crypto';
import type { Micro } from './micro.ts';

/** What the regression gate divides the others by: it has nothing of ours in it, so it tells how fast the machine is. */
export const calibration = 'calibration';

const entries = 1_000;
const calls = 1_000;

export const calibrationMicro: Micro = {
  name: calibration,
  call: 'a fixed piece of work without anything of ours: a map, JSON, a hash',
  prepare: () => {
    const values = new Map(Array.from({ length: entries }, (_, at) => [`entry-${at}`, { at, text: 'x'.repeat(40) }]));
    const keys = [...values.keys()];
    return {
      calls,
      run: () => {
        let total = 0;
        for (let call = 0; call < calls; call++) {
          const text = JSON.stringify(values.get(keys[(call * 7) % entries]!));
          total += text.length + hash('sha256', text, 'buffer')[0]!;
        }
        return total;
      },
    };
  },
};
