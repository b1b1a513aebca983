/**
 * Preloaded (`--import`) into a server that is measured, without the server knowing: tells, when the harness asks over the
 * IPC channel, how late its event loop came to a timer, what its garbage collector did, and what memory it holds. Until
 * then, and from then on, it does nothing: nothing is sampled between two measurements.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { ProcessFigures } from '../result/measurement.ts';
import { type ProbeAnswer, type ProbeQuestion, probeName } from './probe-protocol.ts';

/** How often the loop is to come by. What it takes longer is its delay. */
const timerMs = 5;

// Worker threads preload the same modules; theirs is not the loop that serves sockets. So do processes that the server starts.
if (isMainThread && process.channel !== undefined) listen(process.channel);

function listen(channel: NonNullable<typeof process.channel>): void {
  let measuring: Measuring | null = null;
  process.on('message', (question: ProbeQuestion) => {
    if (question?.probe !== probeName) return;
    let figures: ProcessFigures | null = null;
    if (question.ask === 'begin') {
      measuring?.end();
      measuring = new Measuring();
    } else if (question.ask === 'collect') {
      collectGarbage();
    } else {
      figures = measuring?.end() ?? null;
      measuring = null;
    }
    const answer: ProbeAnswer = { probe: probeName, number: question.number, figures };
    // Its first timer is what delays are counted from: a load may begin once that has come.
    if (question.ask === 'begin') setTimeout(() => process.send!(answer), 2 * timerMs);
    else process.send!(answer);
  });
  // A server that has nothing else to do must be able to end.
  channel.unref();
}

/** Twice: what the first time has finalized is freed by the second. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
}

class Measuring {
  readonly #loop = monitorEventLoopDelay({ resolution: timerMs });
  readonly #pausesMs: number[] = [];
  readonly #collections = new PerformanceObserver((list) => this.#add(list.getEntries()));

  constructor() {
    this.#collections.observe({ entryTypes: ['gc'] });
    this.#loop.enable();
  }

  end(): ProcessFigures {
    this.#loop.disable();
    this.#add(this.#collections.takeRecords());
    this.#collections.disconnect();
    const { rss, heapUsed } = process.memoryUsage();
    const lateMs = (ns: number) => Math.max(0, ns / 1e6 - timerMs);
    const measured = this.#loop.count > 0;
    return {
      eventLoopDelayMs: {
        p50: measured ? lateMs(this.#loop.percentile(50)) : 0,
        p99: measured ? lateMs(this.#loop.percentile(99)) : 0,
        max: measured ? lateMs(this.#loop.max) : 0,
      },
      rssMiB: rss / 2 ** 20,
      heapUsedMiB: heapUsed / 2 ** 20,
      gc: {
        count: this.#pausesMs.length,
        totalMs: this.#pausesMs.reduce((sum, ms) => sum + ms, 0),
        longestMs: this.#pausesMs.reduce((longest, ms) => Math.max(longest, ms), 0),
      },
    };
  }

  #add(entries: readonly { readonly duration: number }[]): void {
    for (const { duration } of entries) this.#pausesMs.push(duration);
  }
}
