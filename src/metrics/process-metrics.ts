import { readdir, readFile } from 'node:fs/promises';
import process from 'node:process';
import { getHeapStatistics } from 'node:v8';
import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * The figures every process has, under the names that dashboards know them by. The library's own set is left out: each
 * registry of it starts observers that nobody can stop, and resets the event loop's delay at every scrape.
 */
export function addProcessMetrics(registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number | null | Promise<number | null>): void => {
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const value = await read();
        // What a system does not tell has no sample.
        if (value === null) this.remove();
        else this.set(value);
      },
    });
  };
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Processor time spent by all threads, in user and in system mode.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  gauge('process_start_time_seconds', 'When the process started, as Unix time.', () => startedSeconds);
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  gauge('process_open_fds', 'Open file descriptors, sockets included.', openDescriptors);
  gauge('process_max_fds', 'File descriptors the process may open.', descriptorLimit);
  gauge('nodejs_heap_size_used_bytes', "The main thread's JavaScript heap in use.", () => heap().used_heap_size);
  gauge('nodejs_heap_size_total_bytes', "The main thread's JavaScript heap.", () => heap().total_heap_size);
  gauge('nodejs_heap_size_limit_bytes', "The most the main thread's JavaScript heap may take.", () => {
    return heap().heap_size_limit;
  });
  gauge('nodejs_external_memory_bytes', 'Memory of buffers outside the JavaScript heap.', () => {
    return process.memoryUsage().external;
  });
}

const startedSeconds = performance.timeOrigin / 1000;
const heap = getHeapStatistics;

async function openDescriptors(): Promise<number | null> {
  const names = await readdir('/proc/self/fd').catch(() => null);
  // Looking takes one itself.
  return names === null ? null : names.length - 1;
}

async function descriptorLimit(): Promise<number | null> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => '');
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
