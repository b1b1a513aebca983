import type {
  BenchResult,
  LoadCurvePoint,
  LoadMeasurement,
  RouteResult,
  ServerMeasurement,
} from '../../../bench/result/bench-result.ts';

export function measurement(perSecond: number, mainThreadCpuMicros: number | null): ServerMeasurement {
  return {
    requests: perSecond,
    seconds: 1,
    perSecond,
    latencyMs: { p50: 1, p99: 2, p999: 3 },
    clientCpuSeconds: 0.5,
    cpuMicros: mainThreadCpuMicros,
    mainThreadCpuMicros,
    process: null,
  };
}

/** Throughput ratios to the bare server of 0.3, 0.4 and 0.5, and CPU ratios of 0.1, 0.25 and 0.5. */
export const sessionRoute: RouteResult = {
  name: 'session',
  title: 'POST /session',
  client: 'wrk',
  bodyBytes: 220,
  targets: { bare: 0.35 },
  servers: [
    { kind: 'service', rounds: [measurement(40, 10), measurement(60, 20), measurement(50, 50)] },
    { kind: 'bare', rounds: [measurement(100, 5), measurement(200, 5), measurement(100, 5)] },
    { kind: 'synced', rounds: [measurement(80, 8), measurement(90, 8), measurement(80, 8)] },
  ],
  clientSaturated: false,
};

export function curvePoint(offeredPerSecond: number, achievedPerSecond: number, refused = 0): LoadCurvePoint {
  return {
    x: offeredPerSecond,
    offeredPerSecond,
    achievedPerSecond,
    latencyMs: { p50: 0.5, p99: 2, p999: 12.25 },
    refused,
    failed: 0,
    cpuMicros: null,
    process: null,
    client: { lagMs: { p50: 0, p99: 0, p999: 0 }, busy: 0.5, saturated: false },
  };
}

const bareLoad: LoadMeasurement = { ...curvePoint(1_000, 1_000), latencyMs: { p50: 0.25, p99: 1, p999: 4.9 } };

/** A result with one entry of every kind and with round numbers. */
export const smallResult: BenchResult = {
  format: 2,
  startedAt: '2026-01-02T03:04:05.000Z',
  quick: true,
  commit: 'abc123+',
  machine: { cpu: 'A CPU', cores: 2, memoryGiB: 8, system: 'Linux 6', node: 'v22', disk: 'ext4', loadAverage: 0.1 },
  scale: {
    rounds: 3,
    seconds: 0.5,
    connections: 64,
    roundRequests: 3_000,
    keys: 2_000,
    sessionsMax: 20_000,
  },
  stack: [
    {
      name: 'session',
      title: 'POST /session',
      client: 'wrk',
      target: 7,
      service: [measurement(50, 20), measurement(50, 10), measurement(50, null)],
      stack: [measurement(10, 100), measurement(10, 80), measurement(10, 90)],
    },
  ],
  limits: [
    {
      name: 'requests_per_minute',
      route: 'GET /marketplace',
      limit: 500,
      loads: [{ window: 'partly used', connections: 64, sent: 1_000, admitted: 250 }],
      served: [measurement(50, 30), measurement(50, 20)],
      refused: [measurement(50, 10), measurement(50, 11)],
    },
  ],
  routes: [sessionRoute],
  curves: [
    {
      name: 'offered-load',
      title: 'Offered load',
      points: [{ ...curvePoint(1_000, 1_000), bare: bareLoad }, curvePoint(2_000, 1_400, 300)],
    },
  ],
  memory: {
    fields: 9,
    heapBytes: 800,
    residentBytes: 1_024,
    points: [{ sessions: 1_000, heapUsedMiB: 50, rssMiB: 120.4 }],
    sessionsMax: 3_000_000,
  },
  micro: [{ name: 'a/b: c', medianNs: 1_234.4, p99Ns: 2_000 }],
  history: [{ name: 'records', value: '1 MB', target: 'at most 2 MB' }],
  consoles: [{ name: 'first paint', unit: 'ms', rounds: [90.4, 80, 120] }],
};
