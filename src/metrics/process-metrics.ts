import { readdir, readFile } from 'node:fs/promises';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { bounds } from '../bounds.ts';
import { systemClock } from '../domain/clock.ts';
import { BucketHistogram, eventLoopDelayBuckets } from './histogram.ts';
import type { MetricRegistry } from './metric-registry.ts';

/**
 * Measures the delay of timers in a cumulative histogram. `monitorEventLoopDelay` of Node.js is unsuitable, because every scrape would have
 * to reset its percentiles. A scrape by one Prometheus server would shorten the period that a second server sees.
 */
export class EventLoopMonitor {
  readonly delays = new BucketHistogram(eventLoopDelayBuckets);
  #dueMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = this.#startTimer();
  }

  /** Stops the measurement. Idempotent. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #startTimer(): NodeJS.Timeout {
    this.#dueMs = systemClock.monotonicMs() + bounds.loopDelaySampleIntervalMs;
    return setTimeout(() => {
      this.delays.observe(Math.max(0, Math.round((systemClock.monotonicMs() - this.#dueMs) * 1000)));
      this.#timer = this.#startTimer();
    }, bounds.loopDelaySampleIntervalMs);
  }
}

/** Time of the process start, in Unix milliseconds, with fractions. */
export const processStartMs = performance.timeOrigin;

/**
 * Registers the standard `process_*` and `nodejs_*` metrics. `collectDefaultMetrics` of prom-client is unsuitable,
 * because it starts observers that cannot be stopped, and resets the event loop delay at every scrape.
 */
export function registerProcessMetrics(registry: MetricRegistry): void {
  registry.registerCounter('process_cpu_seconds_total', 'CPU time of all threads in user and system mode.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  for (const [name, help, read] of [
    ['process_start_time_seconds', 'Unix time of the process start.', () => processStartMs / 1000],
    ['process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss()],
    ['process_open_fds', 'Open file descriptors, sockets included.', openDescriptorCount],
    ['process_max_fds', 'Limit of open file descriptors.', descriptorLimit],
    ['nodejs_heap_size_used_bytes', 'Used heap of the main thread.', () => getHeapStatistics().used_heap_size],
    ['nodejs_heap_size_total_bytes', 'Allocated heap of the main thread.', () => getHeapStatistics().total_heap_size],
    ['nodejs_heap_size_limit_bytes', 'Heap size limit of the main thread.', () => getHeapStatistics().heap_size_limit],
    ['nodejs_external_memory_bytes', 'Memory of buffers outside the heap.', () => process.memoryUsage().external],
  ] as const) {
    registry.registerGauge(name, help, read);
  }
}

/** Returns the number of open file descriptors. On systems without `/proc`, `openDescriptorCount` and `descriptorLimit` reject. */
async function openDescriptorCount(): Promise<number> {
  const names = await readdir('/proc/self/fd');
  // `readdir` opens one file descriptor itself, which is not counted.
  return names.length - 1;
}

async function descriptorLimit(): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
