import { SlidingWindow } from '../../../src/access/sliding-window.ts';
import { bounds } from '../../../src/bounds.ts';
import type { MicroBenchmark } from '../micro.ts';

const slidingWindowCalls = 1_000;
const slidingWindowLimit = bounds.requestsPerMinuteDefault;
/** The evenest rate a window admits: each request comes as the oldest leaves. */
const slidingWindowStepMs = bounds.rateLimitWindowMs / slidingWindowLimit;

export const slidingWindowBenchmarks: readonly MicroBenchmark[] = [
  {
    name: 'access/sliding-window: admit at the limit',
    call: 'one request of 500 a minute: forget the oldest, look, take',
    prepare: () => {
      const window = new SlidingWindow(slidingWindowLimit);
      let nowMs = 0;
      return {
        calls: slidingWindowCalls,
        run: () => {
          let admitted = 0;
          for (let i = 0; i < slidingWindowCalls; i++) {
            nowMs += slidingWindowStepMs;
            if (window.remaining(nowMs) === 0) continue;
            window.admit(nowMs);
            admitted++;
          }
          if (admitted !== slidingWindowCalls) throw new Error('requests within the limit were refused');
          return admitted;
        },
      };
    },
  },
  {
    name: 'access/sliding-window: refuse at the limit',
    call: 'one request too many: look, and how long to wait',
    prepare: () => {
      const window = new SlidingWindow(slidingWindowLimit);
      for (let taken = 0; taken < slidingWindowLimit; taken++) window.admit(taken);
      return {
        calls: slidingWindowCalls,
        run: () => {
          let waitMs = 0;
          for (let i = 0; i < slidingWindowCalls; i++) {
            const nowMs = slidingWindowLimit + i;
            if (window.remaining(nowMs) > 0) throw new Error('a request over the limit was admitted');
            waitMs += window.retryAfterMs(nowMs);
          }
          return waitMs;
        },
      };
    },
  },
];
