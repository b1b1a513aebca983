/**
 * Module that Node.js preloads (`--import`) into a measured server. Reports event loop delay, garbage collection and
 * memory over the IPC channel, and is inactive between measurements.
 */
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';
import type { ServerResourceUsage } from '../result/bench-result.ts';
import { type ProbeRequest, type ProbeResponse, probeProcessTitle } from './process-probe.ts';

/** Interval of the timer with which the event loop delay is measured. */
const timerMs = 5;

// Worker threads and child processes also preload this module, but only the main thread is measured.
if (isMainThread && process.channel !== undefined) listenForRequests(process.channel);

function listenForRequests(channel: NonNullable<typeof process.channel>): void {
  let measuring: ProcessMeasurement | null = null;
  process.on('message', (request: ProbeRequest) => {
    if (request?.probe !== probeProcessTitle) return;
    let figures: ServerResourceUsage | null = null;
    if (request.command === 'start') {
      measuring?.stop();
      measuring = new ProcessMeasurement();
    } else if (request.command === 'collect-garbage') {
      collectGarbage();
    } else {
      figures = measuring?.stop() ?? null;
      measuring = null;
    }
    const answer: ProbeResponse = { probe: probeProcessTitle, id: request.id, figures };
    // Waits until the first timer has run, because event loop delays are measured only after the first timer.
    if (request.command === 'start') setTimeout(() => process.send!(answer), 2 * timerMs);
    else process.send!(answer);
  });
  // The IPC channel must not keep the server alive.
  channel.unref();
}

/** Runs the garbage collector twice, because objects finalized by the first collection are freed by the second collection. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  collect();
}

class ProcessMeasurement {
  readonly #eventLoopDelay = monitorEventLoopDelay({ resolution: timerMs });
  readonly #gcPausesMs: number[] = [];
  readonly #gcObserver = new PerformanceObserver((list) => this.#recordGcPauses(list.getEntries()));

  constructor() {
    this.#gcObserver.observe({ entryTypes: ['gc'] });
    this.#eventLoopDelay.enable();
  }

  stop(): ServerResourceUsage {
    const delay = this.#eventLoopDelay;
    delay.disable();
    this.#recordGcPauses(this.#gcObserver.takeRecords());
    this.#gcObserver.disconnect();
    const { rss, heapUsed } = process.memoryUsage();
    const delayMs = (ns: number) => (delay.count === 0 ? 0 : Math.max(0, ns / 1e6 - timerMs));
    return {
      eventLoopDelayMs: {
        p50: delayMs(delay.percentile(50)),
        p99: delayMs(delay.percentile(99)),
        max: delayMs(delay.max),
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

  #recordGcPauses(entries: readonly { readonly duration: number }[]): void {
    for (const { duration } of entries) this.#gcPausesMs.push(duration);
  }
}
