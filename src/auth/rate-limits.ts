import { bounds } from '../bounds.ts';
import { assertInteger, assertKnownNames } from '../domain/assert-options.ts';
import { dayMs } from '../domain/calendar.ts';
import { flattenString } from '../domain/text.ts';

/** How much one key may ask for (docs/contract.md#rate-limits). */
export interface KeyLimits {
  /** Requests admitted in any 60 seconds, all operations together. */
  readonly requestsPerMinute: number;
  /** Analytics queries admitted in any 60 seconds; they count as requests too. */
  readonly analyticsPerMinute: number;
  /** Sessions created in one UTC day. */
  readonly sessionsPerDay: number;
}

/** A key's own limits; null where the service's default applies. */
export type KeyLimitOverrides = { readonly [Name in keyof KeyLimits]: number | null };

const keyLimitsMax: KeyLimits = {
  requestsPerMinute: bounds.limitPerMinuteMax,
  analyticsPerMinute: bounds.limitPerMinuteMax,
  sessionsPerDay: bounds.limitPerDayMax,
};

/** What a service lets each key have where nobody says otherwise. */
export const defaultKeyLimits: KeyLimits = {
  requestsPerMinute: bounds.requestsPerMinuteDefault,
  analyticsPerMinute: bounds.analyticsPerMinuteDefault,
  sessionsPerDay: bounds.sessionsPerDayDefault,
};

export const noLimitOverrides: KeyLimitOverrides = {
  requestsPerMinute: null,
  analyticsPerMinute: null,
  sessionsPerDay: null,
};

export function hasLimitOverrides(own: KeyLimitOverrides): boolean {
  return own.requestsPerMinute !== null || own.analyticsPerMinute !== null || own.sessionsPerDay !== null;
}

export function effectiveLimits(own: KeyLimitOverrides, defaults: KeyLimits): KeyLimits {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    analyticsPerMinute: own.analyticsPerMinute ?? defaults.analyticsPerMinute,
    sessionsPerDay: own.sessionsPerDay ?? defaults.sessionsPerDay,
  };
}

/**
 * Throws a RangeError that names the first member that is no limit, or is neither left to its default (null, undefined) nor a whole
 * number within its bounds.
 */
export function assertLimits(limits: { readonly [Name in keyof KeyLimits]?: number | null | undefined }): void {
  assertKnownNames('limits', limits, Object.keys(keyLimitsMax));
  for (const name of Object.keys(keyLimitsMax) as (keyof KeyLimits)[]) {
    const limit = limits[name] ?? null;
    if (limit !== null) assertInteger(`limits.${name}`, limit, 1, keyLimitsMax[name]);
  }
}

/** Requests of a minute, analytics queries of a minute, sessions of a day. */
export type LimitName = 'minute' | 'analytics' | 'day';

/** One limit, as it is told with the answers of an operation that is subject to it, maybe among others. */
export interface LimitPolicy {
  readonly name: LimitName;
  readonly limit: number;
  /** Value of the `RateLimit-Policy` field: all limits of the operation, e.g. `"minute";q=500;w=60`. */
  readonly policyHeaderValue: string;
  /** The headers that do not change from answer to answer, and the beginning of the one that says what remains. */
  readonly headerPrefix: string;
  /** The `RateLimit` header up to what remains. */
  readonly rateLimitHeaderPrefix: string;
}

/** The limits of a key as they are told: those of an answer depend on the operation, and on which of its limits is the tightest. */
export interface KeyPolicies {
  /** For operations subject to the requests of a minute alone. */
  readonly requests: LimitPolicy;
  readonly forAnalytics: { readonly requests: LimitPolicy; readonly analytics: LimitPolicy };
  readonly forSessions: { readonly requests: LimitPolicy; readonly sessions: LimitPolicy };
}

/** How a caller stands with the tightest of the limits its operation is subject to (docs/contract.md#limit-headers). */
export interface LimitStatus {
  /** The tightest limit: the one with the least remaining. */
  readonly policy: LimitPolicy;
  /** Requests, or sessions, left of it after this request. */
  readonly remaining: number;
  /** When this limit is whole again or, after a refusal by a limit, when the next request can succeed: Unix seconds, rounded up. */
  readonly resetEpochSeconds: number;
  /** The same moment as seconds from now, rounded up. */
  readonly resetSeconds: number;
}

/** Keys with the same limits may share one: its texts are read with every answer. */
export function createKeyPolicies(limits: KeyLimits): KeyPolicies {
  const minuteSeconds = bounds.rateLimitWindowMs / 1000;
  const requests: NamedLimit = { name: 'minute', limit: limits.requestsPerMinute, windowSeconds: minuteSeconds };
  const analytics: NamedLimit = { name: 'analytics', limit: limits.analyticsPerMinute, windowSeconds: minuteSeconds };
  const sessions: NamedLimit = { name: 'day', limit: limits.sessionsPerDay, windowSeconds: dayMs / 1000 };
  return {
    requests: createLimitPolicy(requests, [requests]),
    forAnalytics: {
      requests: createLimitPolicy(requests, [requests, analytics]),
      analytics: createLimitPolicy(analytics, [requests, analytics]),
    },
    forSessions: {
      requests: createLimitPolicy(requests, [requests, sessions]),
      sessions: createLimitPolicy(sessions, [requests, sessions]),
    },
  };
}

interface NamedLimit {
  readonly name: LimitName;
  readonly limit: number;
  readonly windowSeconds: number;
}

function createLimitPolicy({ name, limit }: NamedLimit, all: readonly NamedLimit[]): LimitPolicy {
  const policyHeaderValue = all.map((each) => `"${each.name}";q=${each.limit};w=${each.windowSeconds}`).join(', ');
  return {
    name,
    limit,
    policyHeaderValue,
    headerPrefix: flattenString(
      `\r\nX-RateLimit-Limit: ${limit}\r\nRateLimit-Policy: ${policyHeaderValue}\r\nX-RateLimit-Remaining: `,
    ),
    rateLimitHeaderPrefix: flattenString(`\r\nRateLimit: "${name}";r=`),
  };
}

export function createLimitStatus(
  policy: LimitPolicy,
  remaining: number,
  resetInMs: number,
  wallMs: number,
): LimitStatus {
  return {
    policy,
    remaining,
    resetEpochSeconds: Math.ceil((wallMs + resetInMs) / 1000),
    resetSeconds: Math.ceil(resetInMs / 1000),
  };
}

/**
 * Limit headers of an answer to a known key (docs/contract.md#limit-headers), each after its line break. Two spellings of the
 * same figures: the customary `X-RateLimit-*`, and the fields of the IETF draft "RateLimit header fields for HTTP".
 * `Retry-After` is not among them: it comes with the refusal, as for every other refusal that has one.
 */
export function rateLimitHeaders({ policy, remaining, resetEpochSeconds, resetSeconds }: LimitStatus): string {
  const { headerPrefix, rateLimitHeaderPrefix } = policy;
  return `${headerPrefix}${remaining}\r\nX-RateLimit-Reset: ${resetEpochSeconds}${rateLimitHeaderPrefix}${remaining};t=${resetSeconds}`;
}
