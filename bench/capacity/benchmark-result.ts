import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { escapeInvisibleCharacters } from '../../src/domain/text.ts';
import { median } from '../statistics.ts';
import { CapacityPlanError, firstSchemaError } from './input-file.ts';
import { type RouteName, routeNames, type TrafficMix } from './traffic-mix.ts';

/** Format of benchmark result files. */
export const benchResultFormat = 2;
const benchCommand = 'make bench';
const measuredServerKind = 'service';

const nonNegativeNumber = Type.Number({ minimum: 0 });
const microsOrNull = Type.Union([nonNegativeNumber, Type.Null()]);

/** Schema of a benchmark result, with the members that a capacity plan uses. Members that a plan does not use are ignored. */
const ResultSchema = Type.Object({
  format: Type.Literal(benchResultFormat),
  startedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{1,20}Z$' }),
  quick: Type.Boolean(),
  commit: Type.Union([Type.String({ pattern: '^[\\w.+-]{1,64}$' }), Type.Null()]),
  machine: Type.Object({
    cpu: Type.String({ maxLength: 200 }),
    cores: Type.Integer({ minimum: 1 }),
    memoryGiB: Type.Number({ exclusiveMinimum: 0 }),
    loadAverage: nonNegativeNumber,
  }),
  scale: Type.Object({ keys: nonNegativeNumber }),
  routes: Type.Array(
    Type.Object({
      name: Type.String(),
      servers: Type.Array(
        Type.Object({
          kind: Type.String(),
          rounds: Type.Array(Type.Object({ cpuMicros: microsOrNull, mainThreadCpuMicros: microsOrNull })),
        }),
      ),
    }),
  ),
  curves: Type.Array(
    Type.Object({
      name: Type.String(),
      title: Type.String({ maxLength: 200 }),
      points: Type.Array(
        Type.Object({
          offeredPerSecond: nonNegativeNumber,
          achievedPerSecond: nonNegativeNumber,
          latencyMs: Type.Object({ p99: nonNegativeNumber }),
          cpuMicros: microsOrNull,
          client: Type.Object({ saturated: Type.Boolean() }),
        }),
      ),
    }),
  ),
  memory: Type.Union([
    Type.Null(),
    Type.Object({
      heapBytes: Type.Number(),
      residentBytes: Type.Number(),
      points: Type.Array(Type.Object({ sessions: nonNegativeNumber, rssMiB: nonNegativeNumber })),
      sessionsMax: Type.Integer({ minimum: 1 }),
    }),
  ]),
  history: Type.Array(Type.Object({ bytesPerSession: Type.Optional(nonNegativeNumber) })),
});
const resultValidator = Compile(ResultSchema);
type BenchmarkResult = Static<typeof ResultSchema>;

/** Parses the value of a benchmark result file. Throws `CapacityPlanError` for an invalid value. */
function parseBenchResult(value: unknown): BenchmarkResult {
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== benchResultFormat) {
    const problem =
      typeof format === 'number' ? `has format ${format}, not ${benchResultFormat}` : 'is not a benchmark result';
    throw new CapacityPlanError(`${problem}; run ${benchCommand} to create a benchmark result`);
  }
  if (!resultValidator.Check(value)) {
    throw new CapacityPlanError(
      `is not a benchmark result: ${firstSchemaError(resultValidator, value)}; run ${benchCommand} to create a benchmark result`,
    );
  }
  return value;
}

/** Returns the parts of a benchmark result that a capacity plan needs. */
export function trimBenchResult(value: unknown): BenchmarkResult {
  const result = resultValidator.Clean(structuredClone(parseBenchResult(value))) as BenchmarkResult;
  const isService = ({ kind }: { readonly kind: string }) => kind === measuredServerKind;
  return {
    ...result,
    routes: result.routes.map(({ name, servers }) => ({ name, servers: servers.filter(isService) })),
  };
}

/** Measurements of one server, from which a capacity plan is computed. */
export type CapacityMeasurements = ReturnType<typeof readMeasurements>;

/** Reads the measurements that a capacity plan for a traffic mix uses. Throws a `CapacityPlanError` if a measurement is missing. */
export function readMeasurements(value: unknown, mix: TrafficMix) {
  const result = parseBenchResult(value);
  const usedRoutes = routeNames.filter((name) => mix.perSession[name] > 0);
  const { machine, startedAt, commit, quick, scale } = result;
  const diskBytes = result.history.flatMap(({ bytesPerSession }) => bytesPerSession ?? []);
  const costs: Partial<Record<RouteName, RouteCost>> = Object.fromEntries(
    usedRoutes.map((name) => [name, readRouteCost(result, name)]),
  );
  return {
    box: {
      cpu: escapeInvisibleCharacters(machine.cpu),
      cores: machine.cores,
      memory_mib: machine.memoryGiB * 1024,
      measured_at: startedAt,
      commit,
      quick,
    },
    /** Load average of the machine in the minute before the run, in cores. */
    loadAverage: machine.loadAverage,
    /** Number of API keys that the benchmark used. */
    keys: scale.keys,
    costs,
    curve: readLoadCurve(result),
    memory: readSessionMemory(result),
    /** Disk space in bytes that each session uses permanently; null if not measured. */
    diskBytesPerSession: diskBytes.length === 0 ? null : diskBytes.reduce((sum, bytes) => sum + bytes, 0),
  };
}

/** CPU time per request under full load, in microseconds; `allThreadsMicros` includes the socket thread. */
interface RouteCost {
  readonly socketThreadMicros: number;
  readonly allThreadsMicros: number;
}

/** Returns the median cost of a route over the rounds of all load clients. */
function readRouteCost({ routes }: BenchmarkResult, name: RouteName): RouteCost {
  const rounds = routes
    .filter((route) => route.name === name)
    .flatMap(({ servers }) => servers)
    .filter(({ kind }) => kind === measuredServerKind)
    .flatMap((server) => server.rounds);
  if (rounds.length === 0) throw missingMeasurementError(`measurements of the route ${name}`);
  // A CPU time of zero means that the load was too short to measure.
  const socketThread = rounds.flatMap(({ mainThreadCpuMicros }) => mainThreadCpuMicros || []);
  const allThreads = rounds.flatMap(({ cpuMicros }) => cpuMicros || []);
  if (socketThread.length === 0 || allThreads.length === 0) throw missingCpuTimeError(`of the route ${name}`);
  return { socketThreadMicros: median(socketThread), allThreadsMicros: median(allThreads) };
}

/** Latency at increasing request rates. The requests of each rate are sent on a fixed schedule. */
export interface LoadCurve {
  readonly title: string;
  /** Measured points, ordered by rate; at least one. */
  readonly points: readonly LoadCurvePoint[];
}

export interface LoadCurvePoint {
  readonly offeredPerSecond: number;
  readonly achievedPerSecond: number;
  readonly p99Ms: number;
  /** CPU time of all threads per request, in microseconds. */
  readonly cpuMicros: number;
  /** Whether the benchmark client was saturated, so that the measured latency includes delays of the client. */
  readonly clientSaturated: boolean;
}

function readLoadCurve({ curves }: BenchmarkResult): LoadCurve {
  const curve = curves.find(({ name }) => name === 'offered-load');
  if (curve === undefined || curve.points.length === 0)
    throw missingMeasurementError('the latency curve over offered load');
  const points = curve.points.map(({ offeredPerSecond, achievedPerSecond, latencyMs, cpuMicros, client }) => {
    if (cpuMicros === null || cpuMicros === 0) throw missingCpuTimeError('on the latency curve');
    return { offeredPerSecond, achievedPerSecond, p99Ms: latencyMs.p99, cpuMicros, clientSaturated: client.saturated };
  });
  return {
    title: escapeInvisibleCharacters(curve.title),
    points: points.sort((one, other) => one.offeredPerSecond - other.offeredPerSecond),
  };
}

function readSessionMemory({ memory }: BenchmarkResult) {
  if (memory === null || memory.points.length === 0) throw missingMeasurementError('the memory use of live sessions');
  const { heapBytes, residentBytes, sessionsMax } = memory;
  // Uses the growth of resident memory or of the heap, whichever is larger. In a short run, the growth of resident memory is unreliable,
  // because the operating system frees pages late.
  const residentBytesPerSession = Math.max(residentBytes, heapBytes);
  if (residentBytesPerSession <= 0) throw missingMeasurementError('a usable value of the memory use of live sessions');
  const points = memory.points.toSorted((one, other) => one.sessions - other.sessions);
  const { sessions, rssMiB } = points[0]!;
  return {
    residentBytesPerSession,
    /** Resident memory of a server without sessions. */
    baseResidentMiB: Math.max(0, rssMiB - (sessions * residentBytesPerSession) / 2 ** 20),
    /** Maximum number of live sessions during the measurement; the configured limit of the service is `sessionsMax`. */
    sessionsMeasured: points.at(-1)!.sessions,
    sessionsMax,
  };
}

function missingMeasurementError(what: string): CapacityPlanError {
  return new CapacityPlanError(`lacks ${what}; run ${benchCommand}, or use another result with --result`);
}

function missingCpuTimeError(where: string): CapacityPlanError {
  return new CapacityPlanError(`lacks the CPU time ${where}; run ${benchCommand} on Linux, which measures CPU time`);
}
