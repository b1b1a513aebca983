import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { bounds } from '../../src/bounds.ts';
import { isJsonObject } from '../../src/domain/assert-options.ts';
import { nearestWord } from '../../src/domain/text.ts';
import defaultMix from '../mixes/default.json' with { type: 'json' };
import { CapacityPlanError, firstSchemaError } from './input-file.ts';

/** Routes of a traffic mix, with their names in benchmark results. */
export const routeNames = [
  'session',
  'inputs',
  'marketplace-unknown',
  'marketplace-known',
  'click',
  'analytics',
] as const;
export type RouteName = (typeof routeNames)[number];

/** Returns an object with one number per route, computed by `numberOf`. */
export function computePerRoute(numberOf: (name: RouteName) => number): Record<RouteName, number> {
  return Object.fromEntries(routeNames.map((name) => [name, numberOf(name)])) as Record<RouteName, number>;
}

/** Routes for which a traffic mix file contains the number of requests per 100 sessions. */
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

/** Default traffic mix of capacity plans and of the benchmark `lifecycle`. */
export const defaultTrafficMixFile = defaultMix as TrafficMixFile;

/** Parses the value of a traffic mix file. Throws `CapacityPlanError` for an invalid value. */
export function parseTrafficMix(value: unknown): TrafficMix {
  assertPropertyNames(value);
  if (!trafficMixValidator.Check(value))
    throw new CapacityPlanError(`is not a traffic mix: ${firstSchemaError(trafficMixValidator, value)}`);
  return toTrafficMix(value);
}

/** Traffic per API key: a traffic mix file (docs/capacity.md) with the default values of its absent members. */
export type TrafficMix = ReturnType<typeof toTrafficMix>;

export function toTrafficMix(file: TrafficMixFile) {
  const shares = file.per_100_sessions;
  const sessionHours = file.session_hours ?? bounds.sessionTtlMs / 3_600_000;
  return {
    /** Number of requests to each route per session. */
    perSession: computePerRoute((name) => (name === 'session' ? 1 : (shares[name] ?? 0) / 100)),
    busyShare: file.busy_share ?? 1,
    /** Request rate of a key in its busiest minute, relative to its daily average. If null, only the limits per minute bound this rate. */
    minutePeakFactor: file.minute_peak ?? null,
    /** By default, all sessions of a day are live at the same time. */
    livePeakFactor: file.live_peak ?? hoursOfDay / sessionHours,
    sessionHours,
    limits: {
      requestsPerMinute: file.limits?.requests_per_minute ?? bounds.requestsPerMinuteDefault,
      analyticsPerMinute: file.limits?.analytics_per_minute ?? bounds.analyticsPerMinuteDefault,
      sessionsPerDay: file.limits?.sessions_per_day ?? bounds.sessionsPerDayDefault,
    },
  };
}

/** Throws `CapacityPlanError` for an unknown member. The error message suggests a valid name. */
function assertPropertyNames(value: unknown): void {
  if (!isJsonObject(value)) return;
  assertKnownProperties(value, Object.keys(TrafficMixSchema.properties), 'the mix');
  const { per_100_sessions: shares, limits } = value;
  if (isJsonObject(shares)) {
    if ('session' in shares)
      throw new CapacityPlanError(
        'is not a traffic mix: per_100_sessions must not contain session, because all numbers are per 100 sessions',
      );
    assertKnownProperties(shares, routesAfterSession, 'per_100_sessions');
  }
  if (isJsonObject(limits)) {
    assertKnownProperties(limits, Object.keys(TrafficMixSchema.properties.limits.properties), 'limits');
  }
}

function assertKnownProperties(value: object, known: readonly string[], where: string): void {
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    const nearest = nearestWord(name, known);
    const hint = nearest === null ? `its members are ${known.join(', ')}` : `did you mean ${nearest}?`;
    throw new CapacityPlanError(`is not a traffic mix: ${where} has an unknown member; ${hint}`);
  }
}

const secondsOfMinute = 60;
const secondsOfHour = 3_600;
const secondsOfDay = 24 * secondsOfHour;

/** Load of one API key or server. The requests per second are those of the busiest minute. */
export interface TrafficLoad {
  readonly requests_per_second: number;
  readonly rates_per_second: Readonly<Record<RouteName, number>>;
  readonly sessions_per_day: number;
  readonly live_sessions: number;
}

/** Average load per API key; idle keys are included in the average. Clicks have no API key and count towards no limit. */
export interface TrafficPerKey extends TrafficLoad {
  /** Limit that the API key reaches first. */
  readonly bound_by: 'requests a minute' | 'analytics queries a minute' | 'sessions a day';
}

/** Computes the maximum load per API key: the load at which a key reaches one of its three limits. */
export function calculateLoadPerKey(mix: TrafficMix): TrafficPerKey {
  const { perSession, limits, busyShare } = mix;
  const total = routeNames.reduce((sum, name) => sum + perSession[name], 0);
  const limited = total - perSession.click;
  const dailyAverage = limits.sessionsPerDay / secondsOfDay;
  // For each limit, the maximum number of new sessions per second that the limit allows.
  const ceilings = [
    ['requests a minute', limits.requestsPerMinute / secondsOfMinute / limited],
    ['analytics queries a minute', limits.analyticsPerMinute / secondsOfMinute / perSession.analytics],
    ['sessions a day', mix.minutePeakFactor === null ? Number.POSITIVE_INFINITY : dailyAverage * mix.minutePeakFactor],
  ] as const;
  const [boundBy, sessionsPerSecond] = ceilings.reduce((least, one) => (one[1] < least[1] ? one : least));
  const perDay = Math.min(limits.sessionsPerDay, sessionsPerSecond * secondsOfDay);
  // A key cannot have more live sessions than it may create per day, nor more than it can create within one session lifetime.
  const live = Math.min(
    ((perDay * mix.sessionHours) / 24) * mix.livePeakFactor,
    perDay,
    sessionsPerSecond * mix.sessionHours * secondsOfHour,
  );
  const busy = sessionsPerSecond * busyShare;
  return {
    bound_by: boundBy,
    requests_per_second: busy * total,
    rates_per_second: computePerRoute((name) => busy * perSession[name]),
    sessions_per_day: perDay * busyShare,
    live_sessions: live * busyShare,
  };
}
