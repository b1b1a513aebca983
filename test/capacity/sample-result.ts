import assert from 'node:assert/strict';
import { benchResultFormat } from '../../bench/capacity/benchmark-result.ts';
import {
  defaultTrafficMixFile,
  type RouteName,
  routeNames,
  type TrafficMixFile,
  toTrafficMix,
} from '../../bench/capacity/traffic-mix.ts';

/** Members of a benchmark result that a plan uses, of a server with four cores, where every request takes 40 µs of the socket thread and 60 µs of all threads. */
const result = {
  format: benchResultFormat,
  startedAt: '2026-11-21T10:00:00.000Z',
  quick: false,
  commit: '0123abc',
  machine: { cpu: 'Sample CPU', cores: 4, memoryGiB: 16, loadAverage: 0, node: 'v22.23.3' },
  scale: { keys: 12_000 },
  routes: routeNames.map((name) => route(name, 40, 60)),
  limits: [],
  curves: [
    {
      name: 'offered-load',
      title: 'POST /session, durable',
      points: [
        point(5_000, 4, 90),
        point(10_000, 10, 70),
        point(20_000, 60, 60),
        { ...point(30_000, 2_000, 60), achievedPerSecond: 24_000 },
      ],
    },
  ],
  memory: {
    heapBytes: 1_024,
    residentBytes: 1_536,
    points: [
      { sessions: 0, rssMiB: 120 },
      { sessions: 1_000_000, rssMiB: 1_585 },
    ],
    sessionsMax: 4_000_000,
  },
  history: [],
};

export function sampleResult(changes: object = {}): typeof result {
  return { ...result, ...changes };
}

export function mix(changes: Partial<TrafficMixFile> = {}) {
  return toTrafficMix({ ...defaultTrafficMixFile, ...changes });
}

/** Asserts that a computed number differs from the expected number at most by rounding. */
export function near(actual: number, expected: number): void {
  assert(Math.abs(actual - expected) < 1e-9 * Math.abs(expected), `${actual}, not ${expected}`);
}

export function route(name: RouteName, mainThreadCpuMicros: number | null, cpuMicros: number | null) {
  return {
    name,
    servers: [
      // A plan must not use the values of the baseline.
      { kind: 'bare', rounds: [{ cpuMicros: 9, mainThreadCpuMicros: 9 }] },
      { kind: 'service', rounds: [{ cpuMicros, mainThreadCpuMicros }] },
    ],
  };
}

export function point(offeredPerSecond: number, p99: number, cpuMicros: number | null) {
  const achievedPerSecond = offeredPerSecond;
  return { offeredPerSecond, achievedPerSecond, latencyMs: { p99 }, cpuMicros, client: { saturated: false } };
}
