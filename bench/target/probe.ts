/**
 * Preloaded (`--import`) into a server that is measured, without the server knowing: tells, when the harness asks over the
 * IPC channel, how late its event loop came to a timer, what its garbage collector did, and what memory it holds. Until
 * then, and from then on, it does nothing: nothing is sampled between two measurements.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { ProcessFigures } from '../result/bench-result.ts';
import { type ProbeRequest, type ProbeResponse, probeName } from './probe-protocol.ts';

/** How often the loop is to come by. What it takes longer is its delay. */
const timerMs = 5;

// Worker threads preload the same modules; theirs is not the loop that serves sockets. So do processes that the server starts.
if (isMainThread && process.channel !== undefined) listenForRequests(process.channel);

function listenForRequests(channel: NonNullable<typeof process.channel>): void {
  let measuring: ProcessMeasurement | null = null;
  process.on('message', (question: ProbeRequest) => {
    if (question?.probe !== probeName) return;
    let figures: ProcessFigures | null = null;
    if (question.command === 'begin') {
      measuring?.stop();
      measuring = new ProcessMeasurement();
    } else if (question.command === 'collect') {
      collectGarbage();
    } else {
      figures = measuring?.stop() ?? null;
      measuring = null;
    }
    const answer: ProbeResponse = { probe: probeName, id: question.id, figures };
    // Its first timer is what delays are counted from: a load may begin once that has come.
    if (question.command === 'begin') setTimeout(() => process.send!(answer), 2 * timerMs);
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

class ProcessMeasurement {
  readonly #eventLoopDelay = monitorEventLoopDelay({ resolution: timerMs });
  readonly #gcPausesMs: number[] = [];
  readonly #gcObserver = new PerformanceObserver((list) => this.#addGcPauses(list.getEntries()));

  constructor() {
    this.#gcObserver.observe({ entryTypes: ['gc'] });
    this.#eventLoopDelay.enable();
  }

  stop(): ProcessFigures {
    this.#eventLoopDelay.disable();
    this.#addGcPauses(this.#gcObserver.takeRecords());
    this.#gcObserver.disconnect();
    const { rss, heapUsed } = process.memoryUsage();
    const lateMs = (ns: number) => Math.max(0, ns / 1e6 - timerMs);
    const measured = this.#eventLoopDelay.count > 0;
    return {
      eventLoopDelayMs: {
        p50: measured ? lateMs(this.#eventLoopDelay.percentile(50)) : 0,
        p99: measured ? lateMs(this.#eventLoopDelay.percentile(99)) : 0,
        max: measured ? lateMs(this.#eventLoopDelay.max) : 0,
      },
      rssMiB: rss / 2 ** 20,
      heapUsedMiB: heapUsed / 2 ** 20,
      gc: {
        count: this.#gcPausesMs.length,
        totalMs: this.#gcPausesMs.reduce((sum, ms) => sum + ms, 0),
        longestMs: this.#gcPausesMs.reduce((longest, ms) => Math.max(longest, ms), 0),
      },
    };
  }

  #addGcPauses(entries: readonly { readonly duration: number }[]): void {
    for (const { duration } of entries) this.#gcPausesMs.push(duration);
  }
}
