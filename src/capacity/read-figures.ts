import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { visibleText } from '../domain/plain-text.ts';
import { CapacityError } from './capacity-error.ts';
import type { Figures, LoadCurve, RouteCost, SessionMemory } from './figures.ts';
import { type Mix, type RouteName, routeNames } from './mix.ts';
import { firstFault, parseJson } from './parse-json.ts';

/** The format of results this was written for (bench/result/bench-result.ts). */
const formatRead = 2;
const measureAll = 'make bench';
const measuredServer = 'service';

const amount = Type.Number({ minimum: 0 });
const microsOrNull = Type.Union([amount, Type.Null()]);

/** Only what is used here: a result has more. */
const Shape = Type.Object({
  format: Type.Literal(formatRead),
  startedAt: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT[\\d:.]{1,20}Z$' }),
  quick: Type.Boolean(),
  commit: Type.Union([Type.String({ pattern: '^[\\w.+-]{1,64}$' }), Type.Null()]),
  machine: Type.Object({
    cpu: Type.String({ maxLength: 200 }),
    cores: Type.Integer({ minimum: 1 }),
    memoryGiB: Type.Number({ exclusiveMinimum: 0 }),
    loadAverage: amount,
  }),
  scale: Type.Object({ keys: amount }),
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
          offeredPerSecond: amount,
          achievedPerSecond: amount,
          latencyMs: Type.Object({ p99: amount }),
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
      points: Type.Array(Type.Object({ sessions: amount, rssMiB: amount })),
      sessionsMax: Type.Integer({ minimum: 1 }),
    }),
  ]),
  history: Type.Array(Type.Object({ bytesPerSession: Type.Optional(amount) })),
});
const shape = Compile(Shape);
type Result = Static<typeof Shape>;

/** A result with only the members that a plan needs and only the service's own figures of each route, as JSON. */
export function trimResult(text: string): string {
  const result = shape.Clean(checkedResult(text)) as Result;
  const routes = result.routes.map((route) => ({
    ...route,
    servers: route.servers.filter(({ kind }) => kind === measuredServer),
  }));
  return JSON.stringify({ ...result, routes });
}

/** Takes out of a result what a plan for this mix needs. Throws `CapacityError`, which names the command that makes it. */
export function readFigures(text: string, mix: Mix): Figures {
  const value = checkedResult(text);
  const needed = routeNames.filter((name) => mix.perSession[name] > 0);
  const { machine, startedAt, commit, quick, scale } = value;
  return {
    box: {
      cpu: visibleText(machine.cpu),
      cores: machine.cores,
      memoryMiB: machine.memoryGiB * 1024,
      measuredAt: startedAt,
      commit,
      quick,
      loadAverage: machine.loadAverage,
      keys: scale.keys,
    },
    costs: Object.fromEntries(needed.map((name) => [name, routeCost(value, name)])),
    curve: loadCurve(value),
    memory: sessionMemory(value),
    diskBytesPerSession: diskBytes(value),
  };
}

function checkedResult(text: string): Result {
  const value = parseJson(text);
  const format = (value as { format?: unknown } | null)?.format;
  if (format !== formatRead) {
    const found = typeof format === 'number' ? `has format ${format}, not ${formatRead}` : 'is no result of benchmarks';
    throw new CapacityError(`${found}; ${measureAll} makes one`);
  }
  if (!shape.Check(value)) {
    throw new CapacityError(`is no result of benchmarks: ${firstFault(shape, value)}; ${measureAll} makes one`);
  }
  return value;
}

/** The middle of all rounds, whichever client sent them: what a request costs the server does not depend on the client. */
function routeCost({ routes }: Result, name: RouteName): RouteCost {
  const rounds = routes
    .filter((route) => route.name === name)
    .flatMap(({ servers }) => servers)
    .filter(({ kind }) => kind === measuredServer)
    .flatMap((server) => server.rounds);
  if (rounds.length === 0) throw lacking(`figures of the route ${name}`);
  const socketThreadMicros = middle(rounds.map(({ mainThreadCpuMicros }) => mainThreadCpuMicros));
  const allThreadsMicros = middle(rounds.map(({ cpuMicros }) => cpuMicros));
  if (socketThreadMicros === null || allThreadsMicros === null) throw withoutCpuTime(`of the route ${name}`);
  return { socketThreadMicros, allThreadsMicros };
}

function loadCurve({ curves }: Result): LoadCurve {
  const curve = curves.find(({ name }) => name === 'offered-load');
  if (curve === undefined || curve.points.length === 0) throw lacking('the curve of latency against offered load');
  const points = curve.points.map(({ offeredPerSecond, achievedPerSecond, latencyMs, cpuMicros, client }) => {
    if (cpuMicros === null || cpuMicros === 0) throw withoutCpuTime('on the curve of offered load');
    return { offeredPerSecond, achievedPerSecond, p99Ms: latencyMs.p99, cpuMicros, clientSaturated: client.saturated };
  });
  return {
    title: visibleText(curve.title),
    points: points.sort((one, other) => one.offeredPerSecond - other.offeredPerSecond),
  };
}

function sessionMemory({ memory }: Result): SessionMemory {
  if (memory === null || memory.points.length === 0) throw lacking('the memory of live sessions');
  const { heapBytes, residentBytes, sessionsMax } = memory;
  // The system takes pages back late and gives them early, so that in a short run the slope of resident memory means little.
  const resident = Math.max(residentBytes, heapBytes);
  if (resident <= 0) throw lacking('a usable figure of the memory of live sessions');
  const points = memory.points.toSorted((one, other) => one.sessions - other.sessions);
  const { sessions, rssMiB } = points[0]!;
  return {
    residentBytesPerSession: resident,
    baseResidentMiB: Math.max(0, rssMiB - (sessions * resident) / 2 ** 20),
    sessionsMeasured: points.at(-1)!.sessions,
    sessionsMax,
  };
}

function diskBytes({ history }: Result): number | null {
  const each = history.flatMap(({ bytesPerSession }) => bytesPerSession ?? []);
  return each.length === 0 ? null : each.reduce((sum, bytes) => sum + bytes, 0);
}

/** The middle one of the figures there are; a zero is a load too short for the system's clock. */
function middle(figures: readonly (number | null)[]): number | null {
  const known = figures.filter((figure): figure is number => figure !== null && figure > 0).sort((a, b) => a - b);
  return known.length === 0 ? null : (known[(known.length - 1) >> 1]! + known[known.length >> 1]!) / 2;
}

function lacking(what: string): CapacityError {
  return new CapacityError(
    `lacks ${what}; ${measureAll} measures it with all the rest, and --result names the result of another run`,
  );
}

function withoutCpuTime(where: string): CapacityError {
  return new CapacityError(`has no CPU time ${where}; ${measureAll} measures it on Linux`);
}
