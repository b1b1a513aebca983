import type { CurvePoint, CurveResult, LoadFigures, MemoryResult } from '../result/bench-result.ts';
import { formatNumber, joinWords, type ReportSection, type ReportTable } from './markdown.ts';

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
  const measured = curves.filter(({ points }) => points.length > 0);
  if (measured.length === 0) return [];
  const hasBareServer = measured.some(({ points }) => points.some(({ bare }) => bare !== undefined));
  return [
    {
      title: 'Curves',
      text: [
        'Requests are sent on a schedule made in advance, whatever the answers do, and latency counts from the moment a ' +
          'request was scheduled for. Refusals (429, 503) and failures are no throughput.',
        ...(hasBareServer
          ? [
              'Where the bare server is told of, it had the same load right before or after: its latency is that of the machine, the ' +
                'client and the engine.',
            ]
          : []),
        ...measured.flatMap(sustainedLoadText),
        ...measured.flatMap(clientSaturatedText),
      ],
      tables: measured.map(curveTable),
    },
  ];
}

/** Returns the last point before the first one at which the service fell behind, a request failed or the client was saturated. */
export function lastSustainedPoint(points: readonly CurvePoint[]): CurvePoint | null {
  const ascending = [...points].sort((a, b) => a.offeredPerSecond - b.offeredPerSecond);
  const end = ascending.findIndex(
    ({ achievedPerSecond, offeredPerSecond, refused, failed, client }) =>
      achievedPerSecond < sustainedShare * offeredPerSecond || refused > 0 || failed > 0 || client.saturated,
  );
  return (end === -1 ? ascending : ascending.slice(0, end)).at(-1) ?? null;
}

function sustainedLoadText({ name, points }: CurveResult): string[] {
  if (name !== 'offered-load') return [];
  const most = Math.max(...points.map(({ achievedPerSecond }) => achievedPerSecond));
  const last = lastSustainedPoint(points);
  const sustained =
    last === null
      ? 'It kept up with none of the offered loads'
      : `It kept up with ${formatNumber(last.offeredPerSecond)} requests a second (p99 ${formatNumber(last.latencyMs.p99, 1)} ms)`;
  return [`${sustained}; the most it answered as expected was ${formatNumber(most)} a second.`];
}

/** Returns a note that lists the points at which a saturated client affected the latencies; empty without such points. */
function clientSaturatedText({ name, xLabel, points }: CurveResult): string[] {
  const at = points.filter(({ client }) => client.saturated).map(({ x }) => formatNumber(x));
  if (at.length === 0) return [];
  return [
    `${shortTitles[name]}: at ${joinWords(at)} ${xLabel} the client was also saturated, so these latencies are not those of the service alone.`,
  ];
}

function curveTable({ title, xLabel, name, points }: CurveResult): ReportTable {
  const x = name === 'offered-load' ? [] : [xLabel];
  return {
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
      ...x.map(() => formatNumber(point.x)),
      formatNumber(point.offeredPerSecond),
      formatNumber(point.achievedPerSecond),
      formatLatencies(point),
      point.bare === undefined ? '-' : formatLatencies(point.bare),
      point.bare === undefined ? '-' : formatNumber(point.latencyMs.p999 / point.bare.latencyMs.p999, 1),
      formatNumber(point.refused),
      formatNumber(point.failed),
      formatNumber(point.cpuMicros, 1),
      formatNumber(point.client.lagMs.p99, 2),
      formatNumber(point.process?.eventLoopDelayMs.p99 ?? null, 1),
      formatNumber(point.process?.rssMiB ?? null),
      formatNumber(point.process?.gc.longestMs ?? null, 1),
    ]),
  };
}

function formatLatencies({ latencyMs: { p50, p99, p999 } }: LoadFigures): string {
  return [p50, p99, p999].map((ms) => formatNumber(ms, 2)).join(' / ');
}

export function memorySection(memory: MemoryResult | null): ReportSection[] {
  if (memory === null) return [];
  const { fields, heapBytes, residentBytes, points, sessionsMax } = memory;
  return [
    {
      title: 'Memory of live sessions',
      text: [
        `A live session with ${fields} fields takes ${formatNumber(residentBytes)} bytes of resident memory, ${formatNumber(Math.max(0, heapBytes))} of them on the JavaScript heap.`,
        `The most live sessions this machine holds is ${formatNumber(sessionsMax)} (\`SVC_MAX_SESSIONS\`, as the service sets it itself); a new one beyond gets 503.`,
      ],
      tables: [
        {
          caption: 'Memory by live sessions',
          head: ['Live sessions', 'Heap MiB', 'Resident MiB'],
          rows: points.map(({ sessions, heapUsedMiB, rssMiB }) =>
            [sessions, heapUsedMiB, rssMiB].map((each) => formatNumber(each)),
          ),
        },
      ],
    },
  ];
}
