import { fullScale } from '../../bench/bench-part.ts';
import type { CurvePoint, Measurement } from '../../bench/result/bench-result.ts';
import { type BenchResult, benchResultFormat } from '../../bench/result/bench-result.ts';
import { type RouteName, routeNames } from '../../src/capacity/traffic-mix.ts';

/** Result of a server with four cores, where every request takes 40 µs of the socket thread and 60 µs of all threads. */
export function sampleResult(changes: Partial<BenchResult> = {}): BenchResult {
  return {
    format: benchResultFormat,
    startedAt: '2026-11-21T10:00:00.000Z',
    quick: false,
    commit: '0123abc',
    machine: {
      cpu: 'Sample CPU',
      cores: 4,
      memoryGiB: 16,
      system: 'Linux',
      node: 'v22.23.3',
      disk: 'ext4 on /dev/vda',
      loadAverage: 0,
    },
    scale: fullScale,
    routes: routeNames.map((name) => route(name, { socketThread: 40, allThreads: 60 })),
    limits: [],
    curves: [
      {
        name: 'offered-load',
        title: 'POST /session, durable',
        xLabel: 'requests offered a second',
        logarithmic: false,
        points: [
          point(5_000, { p99: 4, cpu: 90 }),
          point(10_000, { p99: 10, cpu: 70 }),
          point(20_000, { p99: 60, cpu: 60 }),
          point(30_000, { p99: 2_000, cpu: 60, achieved: 24_000 }),
        ],
      },
    ],
    memory: {
      fields: 7,
      heapBytes: 1_024,
      residentBytes: 1_536,
      points: [
        { sessions: 0, heapUsedMiB: 40, rssMiB: 120 },
        { sessions: 1_000_000, heapUsedMiB: 1_017, rssMiB: 1_585 },
      ],
      sessionsMax: 4_000_000,
    },
    micro: [],
    crossover: [],
    history: [],
    ...changes,
  };
}

export function route(
  name: RouteName,
  { socketThread, allThreads }: { readonly socketThread: number | null; readonly allThreads: number | null },
): BenchResult['routes'][number] {
  const round: Measurement = {
    requests: 60_000,
    seconds: 3,
    perSecond: 20_000,
    latencyMs: { p50: 3, p99: 9, p999: 20 },
    clientCpuSeconds: 1,
    cpuMicros: allThreads,
    mainThreadCpuMicros: socketThread,
    process: null,
  };
  // A plan must not use the values of the baseline.
  const baseline = { ...round, cpuMicros: 9, mainThreadCpuMicros: 9 };
  return {
    name,
    title: name,
    client: 'wrk',
    bodyBytes: 200,
    targets: [],
    servers: [
      { kind: 'bare', rounds: [baseline] },
      { kind: 'service', rounds: [round] },
    ],
    clientSaturated: false,
  };
}

export function point(
  offered: number,
  {
    p99,
    cpu,
    achieved = offered,
    saturated = false,
  }: { readonly p99: number; readonly cpu: number | null; readonly achieved?: number; readonly saturated?: boolean },
): CurvePoint {
  return {
    x: offered,
    offeredPerSecond: offered,
    achievedPerSecond: achieved,
    latencyMs: { p50: p99 / 4, p99, p999: p99 * 2 },
    refused: 0,
    failed: 0,
    cpuMicros: cpu,
    process: null,
    client: { lagMs: { p50: 0.1, p99: 0.2, p999: 0.3 }, busy: 0.4, saturated },
  };
}
