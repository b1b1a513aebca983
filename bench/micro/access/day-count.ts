import { DailyCounter } from '../../../src/access/day-count.ts';
import type { MicroBenchmark } from '../micro.ts';

const dayCountCalls = 1_000;
/** So that the days change too. */
const sessionsPerDay = 5;

export const dayCountBenchmark: MicroBenchmark = {
  name: 'access/day-count: count, reserve, and give back every fourth',
  call: 'one session asked for',
  prepare: () => {
    let today = 20_000;
    return {
      calls: dayCountCalls,
      run: () => {
        const sessions = new DailyCounter();
        let counted = 0;
        for (let i = 0; i < dayCountCalls; i++) {
          if (i % sessionsPerDay === 0) today++;
          counted += sessions.count(today);
          const slot = sessions.reserve(today);
          if (i % 4 === 3) slot.release();
        }
        return counted;
      },
    };
  },
};
