import { DayCount } from '../../../src/access/day-count.ts';
import type { Micro } from '../micro.ts';

const calls = 1_000;
/** So that the days change too. */
const sessionsPerDay = 5;

export const dayCountMicro: Micro = {
  name: 'access/day-count: count, reserve, and give back every fourth',
  call: 'one session asked for',
  prepare: () => {
    let today = 20_000;
    return {
      calls,
      run: () => {
        const sessions = new DayCount();
        let counted = 0;
        for (let i = 0; i < calls; i++) {
          if (i % sessionsPerDay === 0) today++;
          counted += sessions.count(today);
          const slot = sessions.reserve(today);
          if (i % 4 === 3) slot.giveBack();
        }
        return counted;
      },
    };
  },
};
