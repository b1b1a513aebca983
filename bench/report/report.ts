import type { HistoryFigure } from '../history/history.ts';
import type { MicroResult } from '../micro/micro.ts';
import type { BenchResult } from '../result/bench-result.ts';
import type { BaselineKind, Measurement, ServerKind } from '../result/measurement.ts';
import type { RouteResult } from '../result/route-result.ts';
import { median, type Summary, summarize } from '../statistics.ts';
import { crossoverReport } from './crossover-report.ts';
import { table } from './table.ts';

/** The report as the Markdown that stands in `bench/README.md`. */
export function toMarkdown(report: BenchResult): string {
  const { machine, scale } = report;
  const parts = [
    `${report.startedAt.slice(0, 10)}, ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, ` +
      `Node.js ${machine.node}, data on ${machine.disk}, load average ${machine.loadAverage.toFixed(1)} before the run. ${scale.connections} connections, ${scale.rounds} rounds of ` +
      `about ${scale.seconds} s${report.quick ? ' (quick run: indicative only)' : ''}.`,
  ];
  if (report.routes.length > 0) parts.push(ratioTable(report.routes), detailTable(report.routes));
  const saturated = report.routes.filter(({ clientSaturated }) => clientSaturated);
  if (saturated.length > 0) {
    const names = saturated.map(({ name }) => `\`${name}\``).join(', ');
    parts.push(
      `The client used up its own threads against the fastest server in ${names}: there that server could have answered more, ` +
        'and the throughput ratio is too high. Read the ratio of CPU time.',
    );
  }
  if (report.micro.length > 0) parts.push(microTable(report.micro));
  if (report.crossover.length > 0) parts.push(crossoverReport(report.crossover));
  if (report.history.length > 0) parts.push(historyTable(report.history));
  return `${parts.join('\n\n')}\n`;
}

/** Service over a baseline, by rounds: how many requests a second. Null where the baseline was not measured. */
export function throughputRatios(route: RouteResult, over: BaselineKind): Summary | null {
  return ratios(route, over, (service, baseline) => service.perSecond / baseline.perSecond);
}

/**
 * Baseline over service, by rounds: CPU time of the thread that serves the sockets, for one request. This thread is what gives
 * first, so the ratio tells what the throughput ratio would be with a client that costs nothing. Null without `/proc`.
 */
export function cpuRatios(route: RouteResult, over: BaselineKind): Summary | null {
  return ratios(route, over, (service, baseline) =>
    baseline.mainThreadCpuMicros && service.mainThreadCpuMicros
      ? baseline.mainThreadCpuMicros / service.mainThreadCpuMicros
      : null,
  );
}

function ratios(
  route: RouteResult,
  over: BaselineKind,
  ratio: (service: Measurement, baseline: Measurement) => number | null,
): Summary | null {
  const baseline = roundsOf(route, over);
  const found = roundsOf(route, 'service').flatMap((service, at) =>
    baseline[at] === undefined ? [] : (ratio(service, baseline[at]) ?? []),
  );
  return found.length === 0 ? null : summarize(found);
}

function roundsOf(route: RouteResult, kind: ServerKind): readonly Measurement[] {
  return route.servers.find((server) => server.kind === kind)?.rounds ?? [];
}

function ratioTable(routes: readonly RouteResult[]): string {
  const rows = routes.flatMap((route) =>
    route.targets.map(({ over, ratio }) => {
      const throughput = throughputRatios(route, over);
      const cpu = cpuRatios(route, over);
      return [
        route.title,
        route.client,
        over,
        ratio.toFixed(2),
        throughput === null ? '-' : withSpread(throughput, 2),
        cpu === null ? '-' : withSpread(cpu, 2),
        throughput === null ? '-' : throughput.median >= ratio ? 'reached' : 'missed',
      ];
    }),
  );
  const head = ['Route', 'Client', 'Over', 'Target', 'Throughput ratio', 'CPU ratio (socket thread)', 'Target is'];
  return table(head, rows);
}

function detailTable(routes: readonly RouteResult[]): string {
  const rows = routes.flatMap(({ name, bodyBytes, servers }) =>
    servers.map(({ kind, rounds }) => {
      const middle = (figure: (measurement: Measurement) => number) => median(rounds.map(figure));
      const cpu = rounds.every(({ cpuMicros }) => cpuMicros !== null);
      return [
        `${name}, ${kind}`,
        String(bodyBytes),
        Math.round(middle(({ perSecond }) => perSecond)).toLocaleString('en-US'),
        cpu ? middle(({ cpuMicros }) => cpuMicros!).toFixed(1) : '-',
        cpu ? middle(({ mainThreadCpuMicros }) => mainThreadCpuMicros!).toFixed(1) : '-',
        [
          middle(({ latencyMs }) => latencyMs.p50),
          middle(({ latencyMs }) => latencyMs.p99),
          middle(({ latencyMs }) => latencyMs.p999),
        ]
          .map((ms) => ms.toFixed(2))
          .join(' / '),
        `${Math.round(100 * middle(({ clientCpuSeconds, seconds }) => clientCpuSeconds / seconds))} %`,
      ];
    }),
  );
  const head = [
    'Server',
    'Body bytes',
    'Requests/s',
    'CPU us/request, all threads',
    'socket thread',
    'Latency ms p50 / p99 / p99.9',
    'Client CPU',
  ];
  return table(head, rows);
}

function microTable(results: readonly MicroResult[]): string {
  return table(
    ['Function', 'ns an operation (middle)', 'p99 ns'],
    results.map(({ name, medianNs, p99Ns }) => [
      name,
      Math.round(medianNs).toLocaleString('en-US'),
      Math.round(p99Ns).toLocaleString('en-US'),
    ]),
  );
}

function historyTable(figures: readonly HistoryFigure[]): string {
  return table(
    ['What is kept', 'Figure', 'Target, or beside what'],
    figures.map(({ name, value, beside }) => [name, value, beside]),
  );
}

function withSpread({ median: middle, lowest, highest }: Summary, decimals: number): string {
  return `${middle.toFixed(decimals)} (${lowest.toFixed(decimals)} to ${highest.toFixed(decimals)})`;
}
