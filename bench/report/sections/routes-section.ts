import type { ProcessFigures } from '../../result/measurement.ts';
import type { RouteResult } from '../../result/route-result.ts';
import { fixed, list, whole, withSpread } from '../numbers.ts';
import type { BarGroup } from '../plot.ts';
import { baselinesOf, cpuRatios, middleOf, roundsOf, throughputRatios } from '../ratios.ts';
import type { Cell, ReportSection, ReportTable } from '../section.ts';
import { serverNames } from '../server-names.ts';
import { judgedRoutes } from '../targets.ts';

const looks = { bare: 0, synced: 3, 'node-http': 1, fastify: 2 } as const;

/** Every route beside the servers that do nothing else. */
export function routesSection(routes: readonly RouteResult[]): ReportSection[] {
  if (routes.length === 0) return [];
  const text = [
    'Service over baseline, middle round (lowest to highest). The CPU ratio is baseline over service, CPU time of the thread ' +
      'that serves the sockets, so more is better in both.',
  ];
  const synced = routes.flatMap(({ name, client, servers }) => {
    const ratio = throughputRatios({ servers }, 'bare', 'synced');
    return ratio === null ? [] : [`${fixed(ratio.median, 2)} in \`${name}\` (${client})`];
  });
  if (synced.length > 0) {
    text.push(
      'The server called synced is the bare one with a few bytes on disk before each answer: what that costs here, whatever else a ' +
        `server does. Of the bare one's requests a second it has ${list(synced)}.`,
    );
  }
  const saturated = routes
    .filter(({ clientSaturated }) => clientSaturated)
    .map(({ name, client }) => `\`${name}\` (${client})`);
  if (saturated.length > 0) {
    text.push(
      `The client gave first against the fastest server in ${list(saturated)}: that server could have answered more, and the ` +
        'throughput ratio to it is too high. Read the ratio of CPU time.',
    );
  }
  const tables = [ratioTable(routes), absoluteTable(routes), processTable(routes)];
  return [{ id: 'routes', title: 'Routes', text, tables: tables.filter(({ rows }) => rows.length > 0) }];
}

function ratioTable(routes: readonly RouteResult[]): ReportTable {
  const rows = routes.flatMap((route) =>
    baselinesOf(route).map((over): Cell[] => {
      const throughput = throughputRatios(route, over);
      const cpu = cpuRatios(route, over);
      const target = route.targets.find((each) => each.over === over);
      return [
        route.title,
        route.client,
        serverNames[over],
        throughput === null ? '-' : withSpread(throughput, 2),
        cpu === null ? '-' : withSpread(cpu, 2),
        target === undefined ? '-' : fixed(target.ratio, 2),
        target === undefined || throughput === null ? '-' : outcome(throughput.median >= target.ratio),
      ];
    }),
  );
  return {
    caption: 'Ratios to servers that only read the request and write an answer of the same size',
    head: ['Route', 'Client', 'Over', 'Throughput ratio', 'CPU ratio (socket thread)', 'Target', 'Target is'],
    rows,
    plots: [
      {
        kind: 'bars',
        title: 'Throughput over each baseline',
        logarithmic: false,
        reference: 1,
        unit: '',
        groups: judgedRoutes(routes).map(throughputBars),
      },
    ],
  };
}

function outcome(reached: boolean): Cell {
  return reached ? { text: 'reached', mark: 'good' } : { text: 'missed', mark: 'bad' };
}

function throughputBars(route: RouteResult): BarGroup {
  const bars = baselinesOf(route).flatMap((over) => {
    const ratios = throughputRatios(route, over);
    if (ratios === null) return [];
    return [
      {
        label: serverNames[over],
        look: looks[over],
        value: ratios.median,
        low: ratios.lowest,
        high: ratios.highest,
        target: route.targets.find((each) => each.over === over)?.ratio ?? null,
        text: fixed(ratios.median, 2),
      },
    ];
  });
  return { label: labelled(route.title, route.client), bars };
}

function absoluteTable(routes: readonly RouteResult[]): ReportTable {
  const rows = routes.flatMap(({ name, client, bodyBytes, servers }) =>
    servers.map(({ kind, rounds }) => {
      const latency = [
        middleOf(rounds, ({ latencyMs }) => latencyMs.p50),
        middleOf(rounds, ({ latencyMs }) => latencyMs.p99),
        middleOf(rounds, ({ latencyMs }) => latencyMs.p999),
      ];
      const clientShare = middleOf(rounds, ({ clientCpuSeconds, clientThreads, seconds }) =>
        seconds > 0 ? clientCpuSeconds / (clientThreads * seconds) : null,
      );
      return [
        labelled(name, client),
        serverNames[kind],
        whole(bodyBytes),
        whole(middleOf(rounds, ({ perSecond }) => perSecond)),
        fixed(
          middleOf(rounds, ({ cpuMicros }) => cpuMicros),
          1,
        ),
        fixed(
          middleOf(rounds, ({ mainThreadCpuMicros }) => mainThreadCpuMicros),
          1,
        ),
        latency.map((ms) => fixed(ms, 2)).join(' / '),
        clientShare === null ? '-' : `${whole(100 * clientShare)} %`,
      ];
    }),
  );
  return {
    caption: 'Absolute figures, of the middle round',
    head: [
      'Route',
      'Server',
      'Body bytes',
      'Requests/s',
      'CPU us/request, all threads',
      'socket thread',
      'Latency ms p50 / p99 / p99.9',
      'Client CPU, of its threads',
    ],
    rows,
    plots: [],
  };
}

function processTable(routes: readonly RouteResult[]): ReportTable {
  const rows = routes.flatMap((route) => {
    const rounds = roundsOf(route, 'service');
    if (rounds.every(({ process }) => process === null)) return [];
    const figure = (of: (process: ProcessFigures) => number, decimals: number) =>
      fixed(
        middleOf(rounds, ({ process }) => (process === null ? null : of(process))),
        decimals,
      );
    return [
      [
        labelled(route.name, route.client),
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
    caption: 'What the service saw meanwhile: how late its event loop was, memory at the end, garbage collection',
    head: [
      'Route',
      'Loop delay ms p50 / p99 / max',
      'Resident MiB',
      'Heap MiB',
      'Collections',
      'Collecting ms',
      'Longest ms',
    ],
    rows,
    plots: [],
  };
}

function labelled(text: string, client: RouteResult['client']): string {
  return `${text} (${client})`;
}
