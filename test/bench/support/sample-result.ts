import { seededRandom } from '../../../bench/population/random.ts';
import type { CurvePoint, CurveResult, LoadFigures, RouteResult } from '../../../bench/result/bench-result.ts';
import {
  type BenchResult,
  benchResultFormat,
  type Measurement,
  type ProcessFigures,
  type ServerKind,
  serverKinds,
} from '../../../bench/result/bench-result.ts';

/** Returns an invented result with all members, in realistic sizes. Each call returns the same result. */
export function sampleResult(): BenchResult {
  const random = seededRandom(7);
  const near = (value: number, share = 0.06) => value * (1 + share * (2 * random() - 1));
  return {
    format: benchResultFormat,
    startedAt: '2026-11-21T09:30:12.345Z',
    quick: false,
    commit: '3991b3e',
    machine: {
      cpu: 'AMD EPYC',
      cores: 2,
      memoryGiB: 24,
      system: 'Linux 6.18.44',
      node: 'v22.23.3',
      disk: 'ext4 on /dev/vda',
      loadAverage: 0.2,
    },
    scale: {
      rounds: 5,
      seconds: 3,
      connections: 64,
      roundRequests: 40_000,
      keys: 12_000,
      historySessions: 1_000_000,
      liveSessions: 1_000_000,
    },
    routes: [
      route('session', 'POST /session, durable', 210, 25_400, 0.35, near),
      route('inputs', 'POST /inputs, durable', 164, 21_900, 0.35, near),
      route('marketplace-known', 'GET /marketplace, 5 offers, ranking known', 3_337, 24_900, 0.4, near),
      route(
        'marketplace-unknown',
        'GET /marketplace, 5 of 200 offers, ranking not yet known',
        2_976,
        23_080,
        0.2,
        near,
      ),
      route('lifecycle', 'the whole lifecycle, mixed', 1_450, 23_000, 0.3, near),
      route('click', 'GET /c, click redirect, durable', 0, 25_215, 0.35, near),
      route('analytics', 'GET /analytics, summary of a tag', 640, 7_900, null, near),
    ],
    limits: [
      limit('requests-per-minute', '500 requests a minute', 500, 4_000),
      limit('analytics-per-minute', '50 analytics queries a minute', 50, 1_000),
      limit('sessions-per-day', '10,000 sessions a day', 10_000, 20_000),
    ],
    curves: [
      curve(
        'offered-load',
        '4 in 5 GET /marketplace with the ranking known, 1 in 5 POST /session',
        'requests offered a second',
        false,
        loads,
        (x) => x,
        near,
      ),
      curve('live-sessions', 'Live sessions', 'live sessions', true, sessions, () => 8_000, near),
      curve(
        'catalog-size',
        'Size of the catalog',
        'offers in the catalog',
        true,
        [40, 200, 1_000, 10_000],
        () => 8_000,
        near,
      ),
      curve('matcher-threads', 'Matcher threads', 'matcher threads', false, [0, 1, 2, 3], () => 8_000, near),
      curve('keys', 'API keys', 'keys in use', true, [100, 1_000, 12_000, 50_000], () => 8_000, near),
    ],
    memory: {
      fields: 13,
      heapBytes: 812,
      residentBytes: 934,
      points: sessions.map((count) => ({
        sessions: count,
        heapUsedMiB: 48 + (count * 812) / 2 ** 20,
        rssMiB: 180 + (count * 934) / 2 ** 20,
      })),
      sessionsMax: 4_712_000,
    },
    micro: Object.entries(microNs).map(([name, ns]) => ({ name, medianNs: ns, p99Ns: ns * (1.4 + random()) })),
    crossover: [40, 200, 1_000, 10_000].flatMap((offers) =>
      [1, 8, 64].map((batch) => ({
        offers,
        batch,
        inThread: { frontEndMicros: near(1.6 + offers / 130), perSecond: 1e6 / (2.4 + offers / 120) },
        pool: {
          frontEndMicros: near(1.8 + 24 / batch + offers / 4_000),
          perSecond: 1e6 / (8 + 40 / batch + offers / 110),
        },
      })),
    ),
    history: [
      {
        name: 'durable records a second, 64 waiting at once',
        value: '190,541 (176,122 to 208,332)',
        beside: '61.6 times one write and `fdatasync` after the other',
      },
      {
        name: 'start with 1,000,000 live sessions and their inputs',
        value: '6.7 to 7.6 s',
        beside: 'at most 10 s for a million',
      },
    ],
  };
}

type Near = (value: number, share?: number) => number;

const loads = [2_000, 4_000, 8_000, 12_000, 16_000, 20_000, 24_000, 28_000, 32_000];
const sessions = [1_000, 10_000, 100_000, 300_000, 1_000_000];
const capacity = 21_500;
const microNs = {
  calibration: 1_010,
  'ids/sub-id: issue': 780,
  'ids/sub-id: verify': 1_160,
  'auth/authenticator: admit, 5,000 keys at their limit': 699,
  'sessions/memory-session-store: get, 1,000 sessions': 61,
  'sessions/memory-session-store: get, 1,000,000 sessions': 410,
  'verticals/validate-fields: all fields of a borrower': 2_284,
  'event-log/file-event-log: append, 64 sessions per group, not synced': 2_155,
  'matching/ranker: rank 44 offers in all four orders': 1_474,
  'matching/ranker: rank 200 offers in all four orders': 10_431,
  'matching/ranker: the first request after a change to 10,000 offers': 13_000_000,
  'verticals/personal-loans/offer-view: render and write 5 offers': 2_537,
} as const;

function route(
  name: string,
  title: string,
  bodyBytes: number,
  perSecond: number,
  target: number | null,
  near: Near,
): RouteResult {
  const speeds: Readonly<Record<ServerKind, number>> = {
    service: perSecond,
    bare: 103_000,
    synced: 61_000,
    'node-http': 34_000,
    fastify: 24_500,
  };
  const kinds = serverKinds.filter((kind) => kind !== 'synced' || title.endsWith('durable'));
  return {
    name,
    title,
    client: 'wrk',
    bodyBytes,
    targets:
      target === null
        ? []
        : [
            { over: 'bare', ratio: target },
            { over: 'fastify', ratio: 1 },
          ],
    servers: kinds.map((kind) => ({
      kind,
      rounds: Array.from({ length: 5 }, () => measurement(near(speeds[kind]), near)),
    })),
    clientSaturated: name === 'click',
  };
}

function measurement(perSecond: number, near: Near): Measurement {
  return {
    requests: Math.round(perSecond * 3),
    seconds: 3,
    perSecond,
    latencyMs: { p50: near(52_000 / perSecond), p99: near(190_000 / perSecond), p999: near(420_000 / perSecond) },
    clientCpuSeconds: near(perSecond > 90_000 ? 2.8 : 0.9),
    clientThreads: 1,
    cpuMicros: near(980_000 / perSecond + 6),
    mainThreadCpuMicros: near(930_000 / perSecond),
    process: processFigures(near, 420),
  };
}

function processFigures(near: Near, rssMiB: number): ProcessFigures {
  return {
    eventLoopDelayMs: { p50: near(1.1), p99: near(4.2), max: near(19, 0.4) },
    rssMiB: near(rssMiB),
    heapUsedMiB: near(rssMiB / 3),
    gc: { count: Math.round(near(140)), totalMs: near(120), longestMs: near(9, 0.3) },
  };
}

function limit(name: string, title: string, admitted: number, attempted: number): BenchResult['limits'][number] {
  return {
    name,
    title,
    limit: admitted,
    connections: 64,
    attempted,
    admitted,
    refused: attempted - admitted,
    other: 0,
    expected: admitted,
    refusalCpuMicros: 14.2,
    admittedCpuMicros: 38.9,
    refusalsPerSecond: 41_200,
  };
}

function curve(
  name: CurveResult['name'],
  title: string,
  xLabel: string,
  logarithmic: boolean,
  xs: readonly number[],
  offered: (x: number) => number,
  near: Near,
): CurveResult {
  return { name, title, xLabel, logarithmic, points: xs.map((x, at) => point(x, offered(x), at, near)) };
}

function point(x: number, offeredPerSecond: number, at: number, near: Near): CurvePoint {
  const service = loadFigures(offeredPerSecond, at, near);
  if (offeredPerSecond > capacity) return { x, ...service };
  const { p50, p99, p999 } = service.latencyMs;
  return { x, ...service, bare: { ...service, latencyMs: { p50: p50 / 2, p99: p99 / 3, p999: p999 / 3 } } };
}

function loadFigures(offeredPerSecond: number, at: number, near: Near): LoadFigures {
  const busy = offeredPerSecond / capacity;
  const late = busy < 0.97 ? 1 / (1 - busy) : 900 * busy;
  return {
    offeredPerSecond,
    achievedPerSecond: busy < 1 ? offeredPerSecond : near(capacity, 0.03),
    latencyMs: { p50: near(0.4 * late), p99: near(1.3 * late + 0.4 * at), p999: near(3.1 * late + at) },
    refused: busy > 1.2 ? Math.round((offeredPerSecond - capacity) * 4) : 0,
    failed: 0,
    cpuMicros: near(44),
    process: processFigures(near, 400 + 20 * at),
    client: { lagMs: { p50: 0.05, p99: 0.4, p999: 1.2 }, busy: near(0.4), saturated: offeredPerSecond > 30_000 },
  };
}
