import type { LoadCurvePoint, LoadCurveResult, LoadMeasurement } from '../result/bench-result.ts';
import { formatNumber, joinWords, type ReportSection, type ReportTable } from './markdown.ts';

const curveLabels = {
  'offered-load': { title: 'Offered load', x: 'offered requests per second' },
  'live-sessions': { title: 'Live sessions', x: 'live sessions' },
} as const;

/** Minimum share of the requests that the service answers successfully if it keeps up with the load. */
const sustainedShare = 0.99;

export function curvesSection(curves: readonly LoadCurveResult[]): ReportSection {
  return {
    title: 'Curves',
    text: [
      'The client sends requests on a fixed schedule. The latency starts at the scheduled time of a request. Rejected requests ' +
        '(429, 503) and failed requests do not count as answered.',
      ...(curves.some(({ points }) => points.some(({ bare }) => bare !== undefined))
        ? ['The bare server received the same load. Its latency is that of machine, client and engine.']
        : []),
      ...curves.flatMap(sustainedLoadText),
      ...curves.flatMap(clientSaturatedText),
    ],
    tables: curves.map(curveTable),
  };
}

/**
 * Returns the point with the highest sustained request rate: the last point before the service fell behind the load or the client was
 * saturated.
 */
export function findHighestSustainedLoad(points: readonly LoadCurvePoint[]): LoadCurvePoint | null {
  const ascending = [...points].sort((a, b) => a.offeredPerSecond - b.offeredPerSecond);
  const end = ascending.findIndex(
    ({ achievedPerSecond, offeredPerSecond, refused, failed, client }) =>
      achievedPerSecond < sustainedShare * offeredPerSecond || refused > 0 || failed > 0 || client.saturated,
  );
  return (end === -1 ? ascending : ascending.slice(0, end)).at(-1) ?? null;
}

function sustainedLoadText({ name, points }: LoadCurveResult): string[] {
  if (name !== 'offered-load') return [];
  const most = Math.max(...points.map(({ achievedPerSecond }) => achievedPerSecond));
  const last = findHighestSustainedLoad(points);
  const sustained =
    last === null
      ? 'The service sustained none of the offered loads'
      : `The service sustained ${formatNumber(last.offeredPerSecond)} requests per second (p99 ${formatNumber(last.latencyMs.p99, 1)} ms)`;
  return [`${sustained}, and answered at most ${formatNumber(most)} requests per second.`];
}

/** Lists the points at which the client was saturated, in one sentence. Returns an empty list if the client was never saturated. */
function clientSaturatedText({ name, points }: LoadCurveResult): string[] {
  const at = points.filter(({ client }) => client.saturated).map(({ x }) => formatNumber(x));
  if (at.length === 0) return [];
  return [
    `At ${joinWords(at)} ${curveLabels[name].x}, the client was saturated. These latencies include delays of the client.`,
  ];
}

function curveTable({ title, name, points }: LoadCurveResult): ReportTable {
  const x = name === 'offered-load' ? [] : [curveLabels[name].x];
  return {
    caption: `${curveLabels[name].title}: ${title}`,
    head: [
      ...x,
      'Offered/s',
      'Answered/s',
      'Latency ms p50 / p99 / p99.9',
      'Bare server',
      'p99.9 ratio to bare',
      'Rejected',
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

function formatLatencies({ latencyMs: { p50, p99, p999 } }: LoadMeasurement): string {
  return [p50, p99, p999].map((ms) => formatNumber(ms, 2)).join(' / ');
}
