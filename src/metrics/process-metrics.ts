import { readdir, readFile } from 'node:fs/promises';
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { bounds } from '../bounds.ts';
import { systemClock } from '../domain/clock.ts';
import { BucketHistogram, loopDelayBuckets } from './histogram.ts';
import type { MetricRegistry } from './metric-registry.ts';

/**
 * How late the event loop comes to what is due, as a tally that only ever grows. Node's own monitor of it holds extremes and
 * percentiles since its last reset: reset at every scrape, each of two scrapers would see half of what happened; never reset,
 * nothing would ever look well again. Of a tally each reader takes the difference since it last looked.
 */
export class EventLoopMonitor {
  readonly delays = new BucketHistogram(loopDelayBuckets);
  #dueMs = 0;
  #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = this.#scheduleSample();
  }

  /** Milliseconds since the start that the loop had work, and those it waited. */
  utilization(): EventLoopUtilization {
    return performance.eventLoopUtilization();
  }

  /** Idempotent. */
  close(): void {
    clearTimeout(this.#timer);
  }

  #scheduleSample(): NodeJS.Timeout {
    this.#dueMs = systemClock.monotonicMs() + bounds.loopDelaySampleIntervalMs;
    return setTimeout(() => {
      this.delays.observe(Math.max(0, Math.round((systemClock.monotonicMs() - this.#dueMs) * 1000)));
      this.#timer = this.#scheduleSample();
    }, bounds.loopDelaySampleIntervalMs);
  }
}

/**
 * The figures every process has, under the names that dashboards know them by. The library's own set is left out: each
 * registry of it starts observers that nobody can stop, and resets the event loop's delay at every scrape.
 */
export function registerProcessMetrics(figures: MetricRegistry): void {
  figures.counterFrom(
    'process_cpu_seconds_total',
    'Processor time spent by all threads, in user and in system mode.',
    [],
    () => {
      const { user, system } = process.cpuUsage();
      return [{ labels: {}, value: (user + system) / 1e6 }];
    },
  );
  figures.gaugeFrom(
    'process_start_time_seconds',
    'When the process started, as Unix time.',
    () => performance.timeOrigin / 1000,
  );
  figures.gaugeFrom('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  figures.gaugeFrom('process_open_fds', 'Open file descriptors, sockets included.', openDescriptorCount);
  figures.gaugeFrom('process_max_fds', 'File descriptors the process may open.', descriptorLimit);
  figures.gaugeFrom(
    'nodejs_heap_size_used_bytes',
    "The main thread's JavaScript heap in use.",
    () => getHeapStatistics().used_heap_size,
  );
  figures.gaugeFrom(
    'nodejs_heap_size_total_bytes',
    "The main thread's JavaScript heap.",
    () => getHeapStatistics().total_heap_size,
  );
  figures.gaugeFrom(
    'nodejs_heap_size_limit_bytes',
    "The most the main thread's JavaScript heap may take.",
    () => getHeapStatistics().heap_size_limit,
  );
  figures.gaugeFrom(
    'nodejs_external_memory_bytes',
    'Memory of buffers outside the JavaScript heap.',
    () => process.memoryUsage().external,
  );
}

/** Only Linux tells, here and below. */
async function openDescriptorCount(): Promise<number> {
  const names = await readdir('/proc/self/fd');
  // Looking takes one itself.
  return names.length - 1;
}

async function descriptorLimit(): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8');
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
