import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../bounds.ts';
import { isJsonObject } from '../domain/assert-options.ts';
import { CapacityError, firstSchemaError, parseJsonText } from './capacity-error.ts';

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
type RouteAfterSession = Exclude<RouteName, 'session'>;
const routesAfterSession = routeNames.filter((name): name is RouteAfterSession => name !== 'session');

const strict = { additionalProperties: false } as const;
const requestsPer100Sessions = Type.Optional(Type.Number({ minimum: 0, maximum: 1_000_000 }));
const hoursOfDay = 24;

const TrafficMixSchema = Type.Object(
  {
    format: Type.Literal(1),
    per_100_sessions: Type.Object(
      {
        inputs: requestsPer100Sessions,
        'marketplace-unknown': requestsPer100Sessions,
        'marketplace-known': requestsPer100Sessions,
        click: requestsPer100Sessions,
        analytics: requestsPer100Sessions,
      } satisfies Record<RouteAfterSession, typeof requestsPer100Sessions>,
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
const trafficMixValidator = Compile(TrafficMixSchema);
export type TrafficMixFile = Static<typeof TrafficMixSchema>;

/** What the callers do with their keys (docs/capacity.md describes the file). */
export interface TrafficMix {
  /** Requests of each route for one session. */
  readonly perSession: Readonly<Record<RouteName, number>>;
  /** Of all keys, the share that is at its limits; the others rest. */
  readonly busyShare: number;
  /** How many times the day's mean a key's busiest minute has; null: whatever the limits of a minute let through. */
  readonly minutePeakFactor: number | null;
  /** How many times the day's mean of live sessions there are in the busiest hours. */
  readonly livePeakFactor: number;
  readonly sessionHours: number;
  readonly limits: {
    readonly requestsPerMinute: number;
    readonly analyticsPerMinute: number;
    readonly sessionsPerDay: number;
  };
}

/** What is planned with where no file is named: the life cycle that the benchmarks measure. `bench/mixes/default.json` says the same. */
export const defaultTrafficMixFile: TrafficMixFile = {
  format: 1,
  per_100_sessions: { inputs: 130, 'marketplace-unknown': 100, 'marketplace-known': 15, click: 22, analytics: 2 },
  busy_share: 1,
  live_peak: 1,
  session_hours: 4,
};

/** Reads a mix. Throws `CapacityError`. */
export function parseTrafficMix(text: string): TrafficMix {
  const value = parseJsonText(text);
  assertKnownMembers(value);
  if (!trafficMixValidator.Check(value))
    throw new CapacityError(`is no mix: ${firstSchemaError(trafficMixValidator, value)}`);
  return toTrafficMix(value);
}

export function toTrafficMix(file: TrafficMixFile): TrafficMix {
  const shares = file.per_100_sessions;
  const perSession = (name: RouteName) => (name === 'session' ? 1 : (shares[name] ?? 0) / 100);
  return {
    perSession: Object.fromEntries(routeNames.map((name) => [name, perSession(name)])) as Record<RouteName, number>,
    busyShare: file.busy_share ?? 1,
    minutePeakFactor: file.minute_peak ?? null,
    livePeakFactor: file.live_peak ?? 1,
    sessionHours: file.session_hours ?? bounds.sessionTtlMs / 3_600_000,
    limits: {
      requestsPerMinute: file.limits?.requests_per_minute ?? bounds.requestsPerMinuteDefault,
      analyticsPerMinute: file.limits?.analytics_per_minute ?? bounds.analyticsPerMinuteDefault,
      sessionsPerDay: file.limits?.sessions_per_day ?? bounds.sessionsPerDayDefault,
    },
  };
}

/** A misspelt member is named with what was probably meant, before the schema says only that there is one too many. */
function assertKnownMembers(value: unknown): void {
  if (!isJsonObject(value)) return;
  assertMemberNames(value, Object.keys(TrafficMixSchema.properties), 'the mix');
  const { per_100_sessions: shares, limits } = value;
  if (isJsonObject(shares)) {
    if ('session' in shares) throw new CapacityError('is no mix: per_100_sessions needs no session, there are 100');
    assertMemberNames(shares, routesAfterSession, 'per_100_sessions');
  }
  if (isJsonObject(limits)) {
    assertMemberNames(limits, ['requests_per_minute', 'analytics_per_minute', 'sessions_per_day'], 'limits');
  }
}

function assertMemberNames(value: object, known: readonly string[], where: string): void {
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const meant = known.find((one) => normalizeName(one) === normalizeName(name));
    const hint = meant === undefined ? `its members are ${known.join(', ')}` : `did you mean ${meant}?`;
    throw new CapacityError(`is no mix: ${where} has a member that is unknown; ${hint}`);
  }
}

/** What is left of a name without what people mistake: case, hyphens, underscores, the plural. */
function normalizeName(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/s$/, '');
}

const secondsOfMinute = 60;
const secondsOfHour = 3_600;
const secondsOfDay = 24 * secondsOfHour;

/** What one key asks of a box, rested keys reckoned in: the busiest minute for rates, a day for what is kept. */
export interface KeyLoad {
  /** The limit of a key that lets no more of this mix through. */
  readonly boundBy: 'requests a minute' | 'analytics queries a minute' | 'sessions a day';
  /** Requests a second of the busiest minute by route, and together. Clicks carry no key, so no limit counts them. */
  readonly ratesPerSecond: Readonly<Record<RouteName, number>>;
  readonly requestsPerSecond: number;
  readonly sessionsPerDay: number;
  /** Sessions that live at one time. */
  readonly liveSessions: number;
}

/** A mix is let through until the first of its key's three limits is reached. */
export function computeKeyLoad(mix: TrafficMix): KeyLoad {
  const { perSession, limits, busyShare } = mix;
  const total = routeNames.reduce((sum, name) => sum + perSession[name], 0);
  const limited = total - perSession.click;
  const meanOfDay = limits.sessionsPerDay / secondsOfDay;
  // Sessions a second that each limit lets through.
  const ceilings = [
    ['requests a minute', limits.requestsPerMinute / secondsOfMinute / limited],
    ['analytics queries a minute', limits.analyticsPerMinute / secondsOfMinute / perSession.analytics],
    ['sessions a day', mix.minutePeakFactor === null ? Number.POSITIVE_INFINITY : meanOfDay * mix.minutePeakFactor],
  ] as const;
  const [boundBy, sessionsPerSecond] = ceilings.reduce((least, one) => (one[1] < least[1] ? one : least));
  const perDay = Math.min(limits.sessionsPerDay, sessionsPerSecond * secondsOfDay);
  // However the day went: no more live than were opened in it, or could be opened while the first of them lived.
  const live = Math.min(
    ((perDay * mix.sessionHours) / 24) * mix.livePeakFactor,
    perDay,
    sessionsPerSecond * mix.sessionHours * secondsOfHour,
  );
  const busy = sessionsPerSecond * busyShare;
  return {
    boundBy,
    ratesPerSecond: Object.fromEntries(routeNames.map((name) => [name, busy * perSession[name]])) as Record<
      RouteName,
      number
    >,
    requestsPerSecond: busy * total,
    sessionsPerDay: perDay * busyShare,
    liveSessions: live * busyShare,
  };
}
