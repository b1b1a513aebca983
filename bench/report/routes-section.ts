import type { BenchServerKind, RouteResult, ServerMeasurement, ServerResourceUsage } from '../result/bench-result.ts';
import { formatNumber, formatSummary, joinWords, type ReportSection, type ReportTable } from './markdown.ts';
import {
  cpuTimeRatios,
  measuredBaselineServers,
  measurementsOfServer,
  medianOverRounds,
  throughputRatios,
} from './ratios.ts';

/** Names of the servers in the report. */
const serverNames: Readonly<Record<BenchServerKind, string>> = {
  service: 'service',
  bare: 'bare uWebSockets.js',
  synced: 'bare uWebSockets.js, synced',
  'node-http': 'bare node:http',
  fastify: 'bare Fastify',
};

/** Section that compares every route with the baselines. */
export function routesSection(routes: readonly RouteResult[]): ReportSection {
  const text = [
    'Each ratio is the median of the rounds, with the lowest and the highest value in brackets. The CPU ratio is the CPU time of ' +
      "the baseline's socket thread, divided by that of the service. Higher is better in both columns.",
  ];
  const synced = routes.flatMap(({ name, client, servers }) => {
    const ratio = throughputRatios({ servers }, 'bare', 'synced');
    return ratio === null ? [] : [`${formatNumber(ratio.median, 2)} in \`${name}\` (${client})`];
  });
  if (synced.length > 0) {
    text.push(
      'The baseline "synced" is bare uWebSockets.js with a disk write before each answer. Its throughput ratio to bare uWebSockets.js, ' +
        `which shows the cost of durability on this machine, was ${joinWords(synced)}.`,
    );
  }
  const saturated = routes
    .filter(({ clientSaturated }) => clientSaturated)
    .map(({ name, client }) => `\`${name}\` (${client})`);
  if (saturated.length > 0) {
    text.push(
      `In these measurements, the client was slower than the fastest server: ${joinWords(saturated)}. That server could have answered more ` +
        'requests, so its throughput is too low, and the throughput ratio of the service to it is too high. Use the CPU ratio.',
    );
  }
  const tables = [ratioTable(routes), absoluteTable(routes), processTable(routes)];
  return { title: 'Routes', text, tables: tables.filter(({ rows }) => rows.length > 0) };
}

function ratioTable(routes: readonly RouteResult[]): ReportTable {
  const rows = routes.flatMap((route) =>
    measuredBaselineServers(route).map((over) => {
      const throughput = throughputRatios(route, over);
      const cpu = cpuTimeRatios(route, over);
      const target = route.targets[over] ?? null;
      return [
        route.title,
        route.client,
        serverNames[over],
        throughput === null ? '-' : formatSummary(throughput, 2),
        cpu === null ? '-' : formatSummary(cpu, 2),
        formatNumber(target, 2),
        target === null || throughput === null ? '-' : throughput.median >= target ? 'reached' : 'missed',
      ];
    }),
  );
  return {
    caption: 'Ratios to the baselines',
    head: ['Route', 'Client', 'Baseline', 'Throughput ratio', 'CPU ratio', 'Target', 'Result'],
    rows,
  };
}

function absoluteTable(routes: readonly RouteResult[]): ReportTable {
  const rows = routes.flatMap(({ name, client, bodyBytes, servers }) =>
    servers.map(({ kind, rounds }) => {
      const figure = (of: (round: ServerMeasurement) => number | null, decimals = 0) =>
        formatNumber(medianOverRounds(rounds, of), decimals);
      const clientShare = figure(({ clientCpuSeconds, seconds }) =>
        seconds > 0 ? (100 * clientCpuSeconds) / seconds : null,
      );
      return [
        `${name} (${client})`,
        serverNames[kind],
        formatNumber(bodyBytes),
        figure(({ perSecond }) => perSecond),
        figure(({ cpuMicros }) => cpuMicros, 1),
        figure(({ mainThreadCpuMicros }) => mainThreadCpuMicros, 1),
        (['p50', 'p99', 'p999'] as const)
          .map((quantile) => figure(({ latencyMs }) => latencyMs[quantile], 2))
          .join(' / '),
        clientShare === '-' ? '-' : `${clientShare} %`,
      ];
    }),
  );
  return {
    caption: 'Absolute figures, median of the rounds',
    head: [
      'Route',
      'Server',
      'Body bytes',
      'Requests/s',
      'CPU us/request, all threads',
      'CPU us/request, socket thread',
      'Latency ms p50 / p99 / p99.9',
      'Client CPU',
    ],
    rows,
  };
}

function processTable(routes: readonly RouteResult[]): ReportTable {
  const rows = routes.flatMap((route) => {
    const rounds = measurementsOfServer(route, 'service');
    if (rounds.every(({ process }) => process === null)) return [];
    const figure = (of: (process: ServerResourceUsage) => number, decimals: number) =>
      formatNumber(
        medianOverRounds(rounds, ({ process }) => (process === null ? null : of(process))),
        decimals,
      );
    return [
      [
        `${route.name} (${route.client})`,
        [
          figure(({ eventLoopDelayMs }) => eventLoopDelayMs.p50, 2),
          figure(({ eventLoopDelayMs }) => eventLoopDelayMs.p99, 2),
          figure(({ eventLoopDelayMs }) => eventLoopDelayMs.max, 1),
        ].join(' / '),
        figure(({ rssMiB }) => rssMiB, 0),
        figure(({ heapUsedMiB }) => heapUsedMiB, 0),
        figure(({ gc }) => gc.count, 0),
        figure(({ gc }) => gc.totalMs, 0),
        figure(({ gc }) => gc.longestMs, 1),
      ],
    ];
  });
  return {
    caption: 'Event loop delay, memory and garbage collection of the service',
    head: ['Route', 'Loop delay ms p50 / p99 / max', 'Resident MiB', 'Heap MiB', 'GC count', 'GC ms', 'Longest GC ms'],
    rows,
  };
}
