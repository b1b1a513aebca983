import type { ConsoleMeasurement } from '../consoles/console-part.ts';
import type { LedgerMeasurement } from '../history/history-part.ts';
import type { MicroBenchmarkResult } from '../micro/micro-benchmark.ts';
import type { BenchResult, LimitResult, SessionMemoryUsage } from '../result/bench-result.ts';
import { summarizeMeasurements } from '../statistics.ts';
import { curvesSection } from './curves-section.ts';
import { formatNumber, formatSummary, type ReportSection } from './markdown.ts';
import { routesSection } from './routes-section.ts';
import { medianCpuMicros, stackSection } from './stack-section.ts';

/** Returns the report sections of all benchmark parts that ran. */
export function createReportSections({
  stack,
  routes,
  limits,
  curves,
  memory,
  micro,
  history,
  consoles,
}: BenchResult): ReportSection[] {
  return [
    ...(stack.length === 0 ? [] : [stackSection(stack)]),
    ...(routes.length === 0 ? [] : [routesSection(routes)]),
    ...(limits.length === 0 ? [] : [limitsSection(limits)]),
    ...(curves.length === 0 ? [] : [curvesSection(curves)]),
    ...(memory === null ? [] : [memorySection(memory)]),
    ...(micro.length === 0 ? [] : [microSection(micro)]),
    ...(history.length === 0 ? [] : [historySection(history)]),
    ...(consoles.length === 0 ? [] : [consolesSection(consoles)]),
  ];
}

function limitsSection(limits: readonly LimitResult[]): ReportSection {
  return {
    title: 'Limits of a key',
    text: [
      'Concurrent requests with one key. Each load was admitted exactly as many requests as the limit allowed, and the limit headers of all ' +
        'replies were right; otherwise the benchmark fails. A window of a minute ends when the first half of its requests is a minute old, ' +
        'and a window of a day ends at midnight UTC.',
      'The CPU time is that of all threads of the service, in alternating rounds with a key below its limits and a key at its limit.',
    ],
    tables: [
      {
        head: ['Limit', 'Window', 'Connections', 'Requests', 'Admitted', 'Refused'],
        rows: limits.flatMap(({ name, limit, loads }) =>
          loads.map(({ window, connections, sent, admitted }) => [
            `${name}, ${formatNumber(limit)}`,
            window,
            ...[connections, sent, admitted, sent - admitted].map((count) => formatNumber(count)),
          ]),
        ),
      },
      {
        head: ['Limit', 'Route', 'Served, CPU us', 'Refused, CPU us'],
        rows: limits.map(({ name, route, served, refused }) => [
          name,
          route,
          ...[served, refused].map((rounds) => formatNumber(medianCpuMicros(rounds), 1)),
        ]),
      },
    ],
  };
}

function memorySection({ fields, heapBytes, residentBytes, points, sessionsMax }: SessionMemoryUsage): ReportSection {
  return {
    title: 'Memory of live sessions',
    text: [
      `A live session with ${fields} fields takes ${formatNumber(residentBytes)} bytes of resident memory, including ${formatNumber(Math.max(0, heapBytes))} bytes of the JavaScript heap.`,
      `On this machine, the default of \`SVC_MAX_SESSIONS\` is ${formatNumber(sessionsMax)} live sessions. The service answers further sessions with 503.`,
    ],
    tables: [
      {
        head: ['Live sessions', 'Heap MiB', 'Resident MiB'],
        rows: points.map(({ sessions, heapUsedMiB, rssMiB }) =>
          [sessions, heapUsedMiB, rssMiB].map((each) => formatNumber(each)),
        ),
      },
    ],
  };
}

function microSection(results: readonly MicroBenchmarkResult[]): ReportSection {
  return {
    title: 'Single functions',
    text: ['Each function runs alone, in the process of the benchmark.'],
    tables: [
      {
        head: ['Function', 'Median ns', 'p99 ns'],
        rows: results.map(({ name, medianNs, p99Ns }) => [name, formatNumber(medianNs), formatNumber(p99Ns)]),
      },
    ],
  };
}

function historySection(figures: readonly LedgerMeasurement[]): ReportSection {
  return {
    title: 'Restart and analytics',
    text: [
      'The start of a service with live sessions, the projection of the ledger into the analytics store, and queries while a day is archived.',
    ],
    tables: [
      {
        head: ['Measurement', 'Result', 'Target'],
        rows: figures.map(({ name, value, target }) => [name, value, target ?? '-']),
      },
    ],
  };
}

/** Decimals of the values by unit. */
const consoleDecimals = { ms: 0, us: 0, ratio: 2 } as const;

function consolesSection(measurements: readonly ConsoleMeasurement[]): ReportSection {
  return {
    title: 'Consoles',
    text: ['The consoles with the demo history, in Chromium on the same machine, without cached files.'],
    tables: [
      {
        head: ['Measurement', 'Unit', 'Result'],
        rows: measurements.map(({ name, unit, rounds }) => [
          name,
          unit,
          formatSummary(summarizeMeasurements(rounds), consoleDecimals[unit]),
        ]),
      },
    ],
  };
}
