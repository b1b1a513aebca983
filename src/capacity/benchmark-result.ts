import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { escapeInvisible } from '../domain/text.ts';
import { CapacityError, firstSchemaError, parseJsonText } from './capacity-error.ts';
import type { LoadCurve, Measurements, RouteCost, SessionMemory } from './measurements.ts';
import { type RouteName, routeNames, type TrafficMix } from './traffic-mix.ts';

/** The format of results this was written for (bench/result/bench-result.ts). */
const supportedFormat = 2;
const benchCommand = 'make bench';
const measuredServerKind = 'service';

const nonNegativeNumber = Type.Number({ minimum: 0 });
const microsOrNull = Type.Union([nonNegativeNumber, Type.Null()]);

/** Only what is used here: a result has more. */
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

/** A result with only the members that a plan needs and only the service's own figures of each route, as JSON. */
export function trimBenchmarkResult(text: string): string {
  const result = resultValidator.Clean(parseBenchmarkResult(text)) as BenchmarkResult;
  const routes = result.routes.map((route) => ({
    ...route,
    servers: route.servers.filter(({ kind }) => kind === measuredServerKind),
  }));
  return JSON.stringify({ ...result, routes });
}

/** Takes out of a result what a plan for this mix needs. Throws `CapacityError`, which names the command that makes it. */
export function readMeasurements(text: string, mix: TrafficMix): Measurements {
  const value = parseBenchmarkResult(text);
  const needed = routeNames.filter((name) => mix.perSession[name] > 0);
  const { machine, startedAt, commit, quick, scale } = value;
  return {
    box: {
      cpu: escapeInvisible(machine.cpu),
      cores: machine.cores,
      memoryMiB: machine.memoryGiB * 1024,
      measuredAt: startedAt,
      commit,
      quick,
      loadAverage: machine.loadAverage,
      keys: scale.keys,
    },
    costs: Object.fromEntries(needed.map((name) => [name, readRouteCost(value, name)])),
    curve: readLoadCurve(value),
    memory: readSessionMemory(value),
    diskBytesPerSession: readDiskBytesPerSession(value),
  };
}

function parseBenchmarkResult(text: string): BenchmarkResult {
  const value = parseJsonText(text);
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== supportedFormat) {
    const found =
      typeof format === 'number' ? `has format ${format}, not ${supportedFormat}` : 'is no result of benchmarks';
    throw new CapacityError(`${found}; ${benchCommand} makes one`);
  }
  if (!resultValidator.Check(value)) {
    throw new CapacityError(
      `is no result of benchmarks: ${firstSchemaError(resultValidator, value)}; ${benchCommand} makes one`,
    );
  }
  return value;
}

/** The middle of all rounds, whichever client sent them: what a request costs the server does not depend on the client. */
function readRouteCost({ routes }: BenchmarkResult, name: RouteName): RouteCost {
  const rounds = routes
    .filter((route) => route.name === name)
    .flatMap(({ servers }) => servers)
    .filter(({ kind }) => kind === measuredServerKind)
    .flatMap((server) => server.rounds);
  if (rounds.length === 0) throw missingMeasurementError(`figures of the route ${name}`);
  const socketThreadMicros = medianOrNull(rounds.map(({ mainThreadCpuMicros }) => mainThreadCpuMicros));
  const allThreadsMicros = medianOrNull(rounds.map(({ cpuMicros }) => cpuMicros));
  if (socketThreadMicros === null || allThreadsMicros === null) throw missingCpuTimeError(`of the route ${name}`);
  return { socketThreadMicros, allThreadsMicros };
}

function readLoadCurve({ curves }: BenchmarkResult): LoadCurve {
  const curve = curves.find(({ name }) => name === 'offered-load');
  if (curve === undefined || curve.points.length === 0)
    throw missingMeasurementError('the curve of latency against offered load');
  const points = curve.points.map(({ offeredPerSecond, achievedPerSecond, latencyMs, cpuMicros, client }) => {
    if (cpuMicros === null || cpuMicros === 0) throw missingCpuTimeError('on the curve of offered load');
    return { offeredPerSecond, achievedPerSecond, p99Ms: latencyMs.p99, cpuMicros, clientSaturated: client.saturated };
  });
  return {
    title: escapeInvisible(curve.title),
    points: points.sort((one, other) => one.offeredPerSecond - other.offeredPerSecond),
  };
}

function readSessionMemory({ memory }: BenchmarkResult): SessionMemory {
  if (memory === null || memory.points.length === 0) throw missingMeasurementError('the memory of live sessions');
  const { heapBytes, residentBytes, sessionsMax } = memory;
  // The system takes pages back late and gives them early, so that in a short run the slope of resident memory means little.
  const resident = Math.max(residentBytes, heapBytes);
  if (resident <= 0) throw missingMeasurementError('a usable figure of the memory of live sessions');
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
  const each = history.flatMap(({ bytesPerSession }) => bytesPerSession ?? []);
  return each.length === 0 ? null : each.reduce((sum, bytes) => sum + bytes, 0);
}

/** The middle one of the figures there are; a zero is a load too short for the system's clock. */
function medianOrNull(figures: readonly (number | null)[]): number | null {
  const known = figures.filter((figure): figure is number => figure !== null && figure > 0).sort((a, b) => a - b);
  return known.length === 0 ? null : (known[(known.length - 1) >> 1]! + known[known.length >> 1]!) / 2;
}

function missingMeasurementError(what: string): CapacityError {
  return new CapacityError(
    `lacks ${what}; ${benchCommand} measures it with all the rest, and --result names the result of another run`,
  );
}

function missingCpuTimeError(where: string): CapacityError {
  return new CapacityError(`has no CPU time ${where}; ${benchCommand} measures it on Linux`);
}
