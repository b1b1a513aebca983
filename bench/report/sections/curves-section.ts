import type { CurvePoint, CurveResult, LoadFigures, MemoryResult } from '../../result/bench-result.ts';
import { formatDecimals, formatInteger, formatShort, joinWords } from '../formatting.ts';
import {
  type Line,
  type LinePlot,
  type ReportSection,
  type ReportTable,
  removeEmptyColumns,
} from '../report-section.ts';

const shortTitles: Readonly<Record<CurveResult['name'], string>> = {
  'offered-load': 'Offered load',
  'live-sessions': 'Live sessions',
  'catalog-size': 'Size of the catalog',
  'matcher-threads': 'Matcher threads',
  keys: 'API keys',
};

/** Minimum share of the offered load that a service answers as expected if it keeps up. */
const sustainedShare = 0.99;

export function curvesSection(curves: readonly CurveResult[]): ReportSection[] {
  const drawn = curves.filter(({ points }) => points.length > 0);
  if (drawn.length === 0) return [];
  return [
    {
      id: 'curves',
      title: 'Curves',
      text: [
        'Requests are sent on a schedule made in advance, whatever the answers do, and latency counts from the moment a ' +
          'request was scheduled for. Refusals (429, 503) and failures are no throughput.',
        ...bareServerText(drawn),
        ...drawn.flatMap(sustainedLoadText),
        ...drawn.flatMap(clientSaturatedText),
      ],
      tables: drawn.map(curveTable),
    },
  ];
}

/** Returns the last point at which the service kept up and the client was not saturated. */
export function lastSustainedPoint(points: readonly CurvePoint[]): CurvePoint | null {
  let last: CurvePoint | null = null;
  for (const point of [...points].sort((a, b) => a.offeredPerSecond - b.offeredPerSecond)) {
    const keeps =
      point.achievedPerSecond >= sustainedShare * point.offeredPerSecond &&
      point.refused === 0 &&
      point.failed === 0 &&
      !point.client.saturated;
    if (!keeps) break;
    last = point;
  }
  return last;
}

function sustainedLoadText({ name, points }: CurveResult): string[] {
  if (name !== 'offered-load') return [];
  const most = Math.max(...points.map(({ achievedPerSecond }) => achievedPerSecond));
  const last = lastSustainedPoint(points);
  const kept =
    last === null
      ? 'It kept up with none of the offered loads'
      : `It kept up with ${formatInteger(last.offeredPerSecond)} requests a second (p99 ${formatDecimals(last.latencyMs.p99, 1)} ms)`;
  return [`${kept}; the most it answered as expected was ${formatInteger(most)} a second.`];
}

function bareServerText(curves: readonly CurveResult[]): string[] {
  if (!curves.some(({ points }) => points.some(({ bare }) => bare !== undefined))) return [];
  return [
    'Where the bare server is told of, it had the same load right before or after: its latency is that of the machine, the client and ' +
      'the engine.',
  ];
}

/** Returns a note about the points at which a saturated client affected the latencies. */
function clientSaturatedText({ name, xLabel, points }: CurveResult): string[] {
  const at = points.filter(({ client }) => client.saturated).map(({ x }) => formatX(x));
  if (at.length === 0) return [];
  return [
    `${shortTitles[name]}: at ${joinWords(at)} ${xLabel} the client was at its end too. What is told there is no figure of the service alone.`,
  ];
}

function curveTable(curve: CurveResult): ReportTable {
  const { title, xLabel, name, points } = curve;
  const x = name === 'offered-load' ? [] : [xLabel];
  return removeEmptyColumns({
    caption: `${shortTitles[name]}: ${title}`,
    head: [
      ...x,
      'Offered/s',
      'Answered/s',
      'Latency ms p50 / p99 / p99.9',
      'of the bare server',
      'p99.9 over bare',
      'Refused',
      'Failed',
      'CPU us/request',
      'Client lag ms p99',
      'Loop delay ms p99',
      'Resident MiB',
      'Longest GC ms',
    ],
    rows: points.map((point) => [
      ...x.map(() => formatX(point.x)),
      formatInteger(point.offeredPerSecond),
      formatInteger(point.achievedPerSecond),
      formatLatencies(point),
      point.bare === undefined ? '-' : formatLatencies(point.bare),
      point.bare === undefined ? '-' : formatDecimals(point.latencyMs.p999 / point.bare.latencyMs.p999, 1),
      formatInteger(point.refused),
      formatInteger(point.failed),
      formatDecimals(point.cpuMicros, 1),
      formatDecimals(point.client.lagMs.p99, 2),
      formatDecimals(point.process?.eventLoopDelayMs.p99 ?? null, 1),
      formatInteger(point.process?.rssMiB ?? null),
      formatDecimals(point.process?.gc.longestMs ?? null, 1),
    ]),
    plots: [throughputPlot(curve), latencyPlot(curve)],
  });
}

function formatLatencies({ latencyMs: { p50, p99, p999 } }: LoadFigures): string {
  return [p50, p99, p999].map((ms) => formatDecimals(ms, 2)).join(' / ');
}

function formatX(x: number): string {
  return Number.isInteger(x) ? formatInteger(x) : formatShort(x);
}

function throughputPlot({ name, xLabel, logarithmic, points }: CurveResult): LinePlot {
  return {
    kind: 'lines',
    title: `${shortTitles[name]}: throughput`,
    x: { label: xLabel, logarithmic, values: points.map(({ x }) => x) },
    y: { label: 'requests a second', logarithmic: false },
    lines: [
      { label: 'offered', style: 'guide', values: points.map(({ offeredPerSecond }) => offeredPerSecond) },
      { label: 'answered', style: 0, values: points.map(({ achievedPerSecond }) => achievedPerSecond) },
    ],
  };
}

function latencyPlot({ name, xLabel, logarithmic, points }: CurveResult): LinePlot {
  const line = (label: string, style: Line['style'], of: (point: CurvePoint) => number): Line => ({
    label,
    style,
    // A logarithmic scale has no 0.
    values: points.map((point) => (of(point) > 0 ? of(point) : null)),
  });
  return {
    kind: 'lines',
    title: `${shortTitles[name]}: latency`,
    x: { label: xLabel, logarithmic, values: points.map(({ x }) => x) },
    y: { label: 'ms', logarithmic: true },
    lines: [
      line('p50', 0, ({ latencyMs }) => latencyMs.p50),
      line('p99', 1, ({ latencyMs }) => latencyMs.p99),
      line('p99.9', 2, ({ latencyMs }) => latencyMs.p999),
      ...(points.some(({ bare }) => bare !== undefined)
        ? [line('p99.9 of the bare server', 'guide', ({ bare }) => bare?.latencyMs.p999 ?? 0)]
        : []),
    ],
  };
}

export function memorySection(memory: MemoryResult | null): ReportSection[] {
  if (memory === null) return [];
  const { fields, heapBytes, residentBytes, points, sessionsMax } = memory;
  return [
    {
      id: 'memory',
      title: 'Memory of live sessions',
      text: [
        `A live session with ${fields} fields takes ${formatInteger(residentBytes)} bytes of resident memory, ${formatInteger(Math.max(0, heapBytes))} of them on the JavaScript heap.`,
        `The most live sessions this machine holds is ${formatInteger(sessionsMax)} (\`SVC_MAX_SESSIONS\`, as the service sets it itself); a new one beyond gets 503.`,
      ],
      tables: [
        {
          caption: 'Memory by live sessions',
          head: ['Live sessions', 'Heap MiB', 'Resident MiB'],
          rows: points.map(({ sessions, heapUsedMiB, rssMiB }) => [
            formatInteger(sessions),
            formatInteger(heapUsedMiB),
            formatInteger(rssMiB),
          ]),
          plots: [
            {
              kind: 'lines',
              title: 'Memory by live sessions',
              x: { label: 'live sessions', logarithmic: false, values: points.map(({ sessions }) => sessions) },
              y: { label: 'MiB', logarithmic: false },
              lines: [
                { label: 'heap', style: 0, values: points.map(({ heapUsedMiB }) => heapUsedMiB) },
                { label: 'resident', style: 1, values: points.map(({ rssMiB }) => rssMiB) },
              ],
            },
          ],
        },
      ],
    },
  ];
}
