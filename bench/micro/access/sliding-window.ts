import { SlidingWindow } from '../../../src/access/sliding-window.ts';
import { bounds } from '../../../src/bounds.ts';
import type { Micro } from '../micro.ts';

const calls = 1_000;
const limit = bounds.requestsPerMinute;
/** The evenest rate a window admits: each request comes as the oldest leaves. */
const stepMs = bounds.minuteWindowMs / limit;

export const slidingWindowMicros: readonly Micro[] = [
  {
    name: 'access/sliding-window: admit at the limit',
    call: 'one request of 500 a minute: forget the oldest, look, take',
    prepare: () => {
      const window = new SlidingWindow(limit);
      let nowMs = 0;
      return {
        calls,
        run: () => {
          let admitted = 0;
          for (let i = 0; i < calls; i++) {
            nowMs += stepMs;
            if (window.remaining(nowMs) === 0) continue;
            window.take(nowMs);
            admitted++;
          }
          if (admitted !== calls) throw new Error('requests within the limit were refused');
          return admitted;
        },
      };
    },
  },
  {
    name: 'access/sliding-window: refuse at the limit',
    call: 'one request too many: look, and how long to wait',
    prepare: () => {
      const window = new SlidingWindow(limit);
      for (let taken = 0; taken < limit; taken++) window.take(taken);
      return {
        calls,
        run: () => {
          let waitMs = 0;
          for (let i = 0; i < calls; i++) {
            const nowMs = limit + i;
            if (window.remaining(nowMs) > 0) throw new Error('a request over the limit was admitted');
            waitMs += window.nextFreeMs(nowMs);
          }
          return waitMs;
        },
      };
    },
  },
];
