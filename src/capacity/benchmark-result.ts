import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { escapeInvisibleCharacters } from '../domain/text.ts';
import type { CapacityMeasurements, LoadCurve, MemoryPerSession, RouteCost } from './measurements.ts';
import {
  CapacityPlanError,
  firstSchemaError,
  parseJsonText,
  type RouteName,
  routeNames,
  type TrafficMix,
} from './traffic-mix.ts';

/** Supported format of benchmark result files; must equal the format number in bench/result/bench-result.ts. */
const supportedFormat = 2;
const benchCommand = 'make bench';
const measuredServerKind = 'service';

const nonNegativeNumber = Type.Number({ minimum: 0 });
const microsOrNull = Type.Union([nonNegativeNumber, Type.Null()]);

/** Schema of a benchmark result, with the members that a capacity plan uses. Members that a plan does not use are ignored. */
const ResultSchema = Type.Object({
  format: Type.Literal(supportedFormat),
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

/** Returns the parts of a benchmark result that a capacity plan needs, as JSON text. */
export function trimBenchmarkResult(text: string): string {
  const result = resultValidator.Clean(parseBenchmarkResult(text)) as BenchmarkResult;
  const routes = result.routes.map((route) => ({
    ...route,
    servers: route.servers.filter(({ kind }) => kind === measuredServerKind),
  }));
  return JSON.stringify({ ...result, routes });
}

/** Reads the measurements that a capacity plan for a traffic mix uses. Throws a `CapacityPlanError` if a measurement is missing. */
export function readMeasurements(text: string, mix: TrafficMix): CapacityMeasurements {
  const value = parseBenchmarkResult(text);
  const usedRoutes = routeNames.filter((name) => mix.perSession[name] > 0);
  const { machine, startedAt, commit, quick, scale } = value;
  return {
    box: {
      cpu: escapeInvisibleCharacters(machine.cpu),
      cores: machine.cores,
      memoryMiB: machine.memoryGiB * 1024,
      measuredAt: startedAt,
      commit,
      quick,
      loadAverage: machine.loadAverage,
      keys: scale.keys,
    },
    costs: Object.fromEntries(usedRoutes.map((name) => [name, readRouteCost(value, name)])),
    curve: readLoadCurve(value),
    memory: readSessionMemory(value),
    diskBytesPerSession: readDiskBytesPerSession(value),
  };
}

function parseBenchmarkResult(text: string): BenchmarkResult {
  const value = parseJsonText(text);
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== supportedFormat) {
    const problem =
      typeof format === 'number' ? `has format ${format}, not ${supportedFormat}` : 'is not a benchmark result';
    throw new CapacityPlanError(`${problem}; run ${benchCommand} to create a benchmark result`);
  }
  if (!resultValidator.Check(value)) {
    throw new CapacityPlanError(
      `is not a benchmark result: ${firstSchemaError(resultValidator, value)}; run ${benchCommand} to create a benchmark result`,
    );
  }
  return value;
}

/** Returns the median cost of a route over the rounds of all load clients. */
function readRouteCost({ routes }: BenchmarkResult, name: RouteName): RouteCost {
  const rounds = routes
    .filter((route) => route.name === name)
    .flatMap(({ servers }) => servers)
    .filter(({ kind }) => kind === measuredServerKind)
    .flatMap((server) => server.rounds);
  if (rounds.length === 0) throw missingMeasurementError(`measurements of the route ${name}`);
  const socketThreadMicros = medianOrNull(rounds.map(({ mainThreadCpuMicros }) => mainThreadCpuMicros));
  const allThreadsMicros = medianOrNull(rounds.map(({ cpuMicros }) => cpuMicros));
  if (socketThreadMicros === null || allThreadsMicros === null) throw missingCpuTimeError(`of the route ${name}`);
  return { socketThreadMicros, allThreadsMicros };
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

function readSessionMemory({ memory }: BenchmarkResult): MemoryPerSession {
  if (memory === null || memory.points.length === 0) throw missingMeasurementError('the memory use of live sessions');
  const { heapBytes, residentBytes, sessionsMax } = memory;
  // Uses the growth of resident memory or of the heap, whichever is larger. In a short run, the growth of resident memory is unreliable,
  // because the operating system frees pages late.
  const resident = Math.max(residentBytes, heapBytes);
  if (resident <= 0) throw missingMeasurementError('a usable value of the memory use of live sessions');
  const points = memory.points.toSorted((one, other) => one.sessions - other.sessions);
  const { sessions, rssMiB } = points[0]!;
  return {
    residentBytesPerSession: resident,
    baseResidentMiB: Math.max(0, rssMiB - (sessions * resident) / 2 ** 20),
    sessionsMeasured: points.at(-1)!.sessions,
    sessionsMax,
  };
}

function readDiskBytesPerSession({ history }: BenchmarkResult): number | null {
  const values = history.flatMap(({ bytesPerSession }) => bytesPerSession ?? []);
  return values.length === 0 ? null : values.reduce((sum, bytes) => sum + bytes, 0);
}

/** Returns the median of the positive CPU times. A CPU time of zero is ignored, because it means that the load was too short to measure. */
function medianOrNull(values: readonly (number | null)[]): number | null {
  const sorted = values.filter((value): value is number => value !== null && value > 0).sort((a, b) => a - b);
  return sorted.length === 0 ? null : (sorted[(sorted.length - 1) >> 1]! + sorted[sorted.length >> 1]!) / 2;
}

function missingMeasurementError(what: string): CapacityPlanError {
  return new CapacityPlanError(`lacks ${what}; run ${benchCommand}, or use another result with --result`);
}

function missingCpuTimeError(where: string): CapacityPlanError {
  return new CapacityPlanError(`lacks the CPU time ${where}; run ${benchCommand} on Linux, which measures CPU time`);
}
