import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { CapacityError } from './capacity-error.ts';
import { firstFault, parseJson } from './parse-json.ts';

/** What a load is made of, under the names that routes have in a result of the benchmarks. */
export const routeNames = [
  'session',
  'inputs',
  'marketplace-unknown',
  'marketplace-known',
  'click',
  'analytics',
] as const;
export type RouteName = (typeof routeNames)[number];

/** What everything else is told per hundred of. */
type SharedRoute = Exclude<RouteName, 'session'>;
const sharedRoutes = routeNames.filter((name): name is SharedRoute => name !== 'session');

const strict = { additionalProperties: false } as const;
const share = Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 }));
const hoursOfDay = 24;

const Shape = Type.Object(
  {
    format: Type.Literal(1),
    per_100_sessions: Type.Object(
      {
        inputs: share,
        'marketplace-unknown': share,
        'marketplace-known': share,
        click: share,
        analytics: share,
      } satisfies Record<SharedRoute, typeof share>,
      strict,
    ),
    busy_share: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 1 })),
    minute_peak: Type.Optional(Type.Number({ minimum: 1, maximum: 24 * 60 })),
    live_peak: Type.Optional(Type.Number({ minimum: 1, maximum: hoursOfDay })),
    session_hours: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: hoursOfDay })),
    limits: Type.Optional(
      Type.Object(
        {
          requests_per_minute: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.limitPerMinuteMax })),
          analytics_per_minute: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.limitPerMinuteMax })),
          sessions_per_day: Type.Optional(Type.Integer({ minimum: 1, maximum: bounds.limitPerDayMax })),
        },
        strict,
      ),
    ),
  },
  strict,
);
const shape = Compile(Shape);
export type MixFile = Static<typeof Shape>;

/** What the callers do with their keys (docs/capacity.md describes the file). */
export interface Mix {
  /** Requests of each route for one session. */
  readonly perSession: Readonly<Record<RouteName, number>>;
  /** Of all keys, the share that is at its limits; the others rest. */
  readonly busyShare: number;
  /** How many times the day's mean a key's busiest minute has; null: whatever the limits of a minute let through. */
  readonly minutePeak: number | null;
  /** How many times the day's mean of live sessions there are in the busiest hours. */
  readonly livePeak: number;
  readonly sessionHours: number;
  readonly limits: {
    readonly requestsPerMinute: number;
    readonly analyticsPerMinute: number;
    readonly sessionsPerDay: number;
  };
}

/** What is planned with where no file is named: the life cycle that the benchmarks measure. `bench/mixes/default.json` says the same. */
export const defaultMixFile: MixFile = {
  format: 1,
  per_100_sessions: { inputs: 130, 'marketplace-unknown': 100, 'marketplace-known': 15, click: 22, analytics: 2 },
  busy_share: 1,
  live_peak: 1,
  session_hours: 4,
};

/** Reads a mix. Throws `CapacityError`. */
export function parseMix(text: string): Mix {
  const value = parseJson(text);
  requireKnownNames(value);
  if (!shape.Check(value)) throw new CapacityError(`is no mix: ${firstFault(shape, value)}`);
  return mixOf(value);
}

export function mixOf(file: MixFile): Mix {
  const shares = file.per_100_sessions;
  const perSession = (name: RouteName) => (name === 'session' ? 1 : (shares[name] ?? 0) / 100);
  return {
    perSession: Object.fromEntries(routeNames.map((name) => [name, perSession(name)])) as Record<RouteName, number>,
    busyShare: file.busy_share ?? 1,
    minutePeak: file.minute_peak ?? null,
    livePeak: file.live_peak ?? 1,
    sessionHours: file.session_hours ?? bounds.sessionTtlMs / 3_600_000,
    limits: {
      requestsPerMinute: file.limits?.requests_per_minute ?? bounds.requestsPerMinute,
      analyticsPerMinute: file.limits?.analytics_per_minute ?? bounds.analyticsPerMinute,
      sessionsPerDay: file.limits?.sessions_per_day ?? bounds.sessionsPerDay,
    },
  };
}

/** A misspelt member is named with what was probably meant, before the schema says only that there is one too many. */
function requireKnownNames(value: unknown): void {
  if (!isObject(value)) return;
  requireNames(value, Object.keys(Shape.properties), 'the mix');
  const { per_100_sessions: shares, limits } = value;
  if (isObject(shares)) {
    if ('session' in shares) throw new CapacityError('is no mix: per_100_sessions needs no session, there are 100');
    requireNames(shares, sharedRoutes, 'per_100_sessions');
  }
  if (isObject(limits)) {
    requireNames(limits, ['requests_per_minute', 'analytics_per_minute', 'sessions_per_day'], 'limits');
  }
}

function requireNames(value: object, known: readonly string[], where: string): void {
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => lettersOf(one) === lettersOf(name));
    const hint = meant === undefined ? `its members are ${known.join(', ')}` : `did you mean ${meant}?`;
    throw new CapacityError(`is no mix: ${where} has a member that is unknown; ${hint}`);
  }
}

/** What is left of a name without what people mistake: case, hyphens, underscores, the plural. */
function lettersOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/s$/, '');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
