import type { RouteName } from './mix.ts';

/** What a plan needs of a result of the benchmarks, for the box they ran on. */
export interface Measurements {
  readonly box: MeasuredBox;
  /** CPU time of one request of each route, in microseconds, measured under full load. */
  readonly costs: Readonly<Partial<Record<RouteName, RouteCost>>>;
  readonly curve: LoadCurve;
  readonly memory: SessionMemory;
  /** Bytes on disk that each session leaves for good; null where nobody measured it. */
  readonly diskBytesPerSession: number | null;
}

export interface MeasuredBox {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryMiB: number;
  /** ISO 8601. */
  readonly measuredAt: string;
  readonly commit: string | null;
  readonly quick: boolean;
  /** Of the minute before the run began. */
  readonly loadAverage: number;
  /** Keys that the measured requests were spread over. */
  readonly keys: number;
}

export interface RouteCost {
  readonly socketThreadMicros: number;
  /** All threads of the server, that one among them. */
  readonly allThreadsMicros: number;
}

/** Latency against the rate offered, by one kind of load sent on schedule. */
export interface LoadCurve {
  readonly title: string;
  /** By rising rate; at least one. */
  readonly points: readonly LoadPoint[];
}

export interface LoadPoint {
  readonly offeredPerSecond: number;
  readonly achievedPerSecond: number;
  readonly p99Ms: number;
  /** CPU time of one request, all threads, in microseconds. */
  readonly cpuMicros: number;
  /** Whether the client was at its end here, so that the figures tell of it as much as of the server. */
  readonly clientSaturated: boolean;
}

export interface SessionMemory {
  readonly residentBytesPerSession: number;
  /** Resident memory of a server without sessions. */
  readonly baseResidentMiB: number;
  /** The most live sessions that were measured, and the most the service takes by its own reckoning. */
  readonly sessionsMeasured: number;
  readonly sessionsMax: number;
}
