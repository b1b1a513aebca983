import type { CrossoverCell } from '../crossover/crossover.ts';
import type { HistoryFigure } from '../history/history.ts';
import type { Machine } from '../machine.ts';
import type { MicroResult } from '../micro/micro.ts';
import type { Measurement, Round, Scale, ScenarioResult } from '../runner.ts';
import { median, type Summary, summarize } from '../statistics.ts';
import { crossoverReport } from './crossover-report.ts';
import { table } from './table.ts';

/** Everything one run of the benchmarks found; written as JSON to `bench/results`. */
export interface Report {
  readonly startedAt: string;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly scale: Scale;
  readonly scenarios: readonly ScenarioResult[];
  readonly micro: readonly MicroResult[];
  readonly crossover: readonly CrossoverCell[];
  readonly history: readonly HistoryFigure[];
}

/** Share of its CPU second from which a client counts as the bottleneck of its own measurement. */
const saturatedShare = 0.95;

/** The report as the Markdown that stands in `bench/README.md`. */
export function toMarkdown(report: Report): string {
  const { machine, scale } = report;
  const parts = [
    `${report.startedAt.slice(0, 10)}, ${machine.cpu}, ${machine.cores} cores, ${machine.memoryGiB} GiB, ${machine.system}, ` +
      `Node.js ${machine.node}, data on ${machine.disk}, load average ${machine.loadAverage.toFixed(1)} before the run. ${scale.connections} connections, ${scale.rounds} rounds of ` +
      `about ${scale.seconds} s${report.quick ? ' (quick run: indicative only)' : ''}.`,
  ];
  if (report.scenarios.length > 0) parts.push(ratioTable(report.scenarios), detailTable(report.scenarios));
  const saturated = report.scenarios.filter(isClientSaturated);
  if (saturated.length > 0) {
    const names = saturated.map(({ name }) => `\`${name}\``).join(', ');
    parts.push(
      `The client used up its own core against the bare server in ${names}: there the bare server could have answered more, ` +
        'and the throughput ratio is too high. Read the ratio of CPU time.',
    );
  }
  if (report.micro.length > 0) parts.push(microTable(report.micro));
  if (report.crossover.length > 0) parts.push(crossoverReport(report.crossover));
  if (report.history.length > 0) parts.push(historyTable(report.history));
  return `${parts.join('\n\n')}\n`;
}

/** Service over bare, by rounds: how many requests a second. */
export function throughputRatios(rounds: readonly Round[]): Summary {
  return summarize(rounds.map(({ bare, service }) => service.perSecond / bare.perSecond));
}

/**
 * Bare over service, by rounds: CPU time of the thread that serves the sockets, for one request. This thread is what gives
 * first, so the ratio tells what the throughput ratio would be with a client that costs nothing. Null without `/proc`.
 */
export function cpuRatios(rounds: readonly Round[]): Summary | null {
  const ratios = rounds.flatMap(({ bare, service }) =>
    bare.mainThreadCpuMicros && service.mainThreadCpuMicros
      ? [bare.mainThreadCpuMicros / service.mainThreadCpuMicros]
      : [],
  );
  return ratios.length === 0 ? null : summarize(ratios);
}

export function isClientSaturated({ rounds }: Pick<ScenarioResult, 'rounds'>): boolean {
  return median(rounds.map(({ bare }) => bare.clientCpuSeconds / bare.seconds)) > saturatedShare;
}

function ratioTable(scenarios: readonly ScenarioResult[]): string {
  const rows = scenarios.map((scenario) => {
    const throughput = throughputRatios(scenario.rounds);
    const cpu = cpuRatios(scenario.rounds);
    return [
      scenario.title,
      scenario.client,
      scenario.targetRatio.toFixed(2),
      withSpread(throughput, 2),
      cpu === null ? '-' : withSpread(cpu, 2),
      throughput.median >= scenario.targetRatio ? 'reached' : 'missed',
    ];
  });
  const head = ['Route', 'Client', 'Target', 'Throughput ratio', 'CPU ratio (socket thread)', 'Target is'];
  return table(head, rows);
}

function detailTable(scenarios: readonly ScenarioResult[]): string {
  const rows = scenarios.flatMap(({ name, bodyBytes, rounds }) =>
    (['bare', 'service'] as const).map((server) => {
      const middle = (figure: (measurement: Measurement) => number) =>
        median(rounds.map((round) => figure(round[server])));
      const cpu = rounds.every((round) => round[server].cpuMicros !== null);
      return [
        `${name}, ${server}`,
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
