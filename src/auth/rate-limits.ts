import { bounds } from '../bounds.ts';
import { assertInteger, assertKnownNames } from '../domain/assert-options.ts';
import { dayMs } from '../domain/calendar.ts';
import { flattenString } from '../domain/text.ts';

/** Rate limits of a key (docs/contract.md#rate-limits). */
export interface KeyLimits {
  /** Requests in any 60 seconds, all operations together. */
  readonly requestsPerMinute: number;
  /** Analytics queries in any 60 seconds. They also count as requests. */
  readonly analyticsPerMinute: number;
  /** Sessions created per UTC day. */
  readonly sessionsPerDay: number;
}

/** Limits that were set for a key. A limit is null if the service's default applies. */
export type KeyLimitOverrides = { readonly [Name in keyof KeyLimits]: number | null };

const keyLimitsMax: KeyLimits = {
  requestsPerMinute: bounds.limitPerMinuteMax,
  analyticsPerMinute: bounds.limitPerMinuteMax,
  sessionsPerDay: bounds.limitPerDayMax,
};

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

/** Whether a value is a valid limit. Null is valid and stands for the default. */
export function isLimitOverride(name: keyof KeyLimits, value: unknown): boolean {
  if (value === null) return true;
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= keyLimitsMax[name];
}

/** Throws a RangeError that names the first unknown or invalid member. Null and undefined stand for the default. */
export function assertLimits(limits: { readonly [Name in keyof KeyLimits]?: number | null | undefined }): void {
  assertKnownNames('limits', limits, Object.keys(keyLimitsMax));
  for (const name of Object.keys(keyLimitsMax) as (keyof KeyLimits)[]) {
    const limit = limits[name] ?? null;
    if (limit !== null) assertInteger(`limits.${name}`, limit, 1, keyLimitsMax[name]);
  }
}

/** Names of the limits: requests per minute, analytics queries per minute, sessions per day. */
export type LimitName = 'minute' | 'analytics' | 'day';

/** One limit of an operation, with the header texts that do not change from response to response. */
export interface LimitPolicy {
  readonly name: LimitName;
  /** Value of the `RateLimit-Policy` header: all limits of the operation, e.g. `"minute";q=500;w=60`. */
  readonly policyHeaderValue: string;
  /** Text of the limit headers that is the same in every response, up to the value of `X-RateLimit-Remaining`. */
  readonly headerPrefix: string;
  /** Text of the `RateLimit` header up to the number of remaining requests. */
  readonly rateLimitHeaderPrefix: string;
}

/** Policies of a key. A response contains the policy of its operation and of the limit with the fewest remaining requests. */
export interface KeyPolicies {
  /** Policy of operations whose only limit is requests per minute. */
  readonly requests: LimitPolicy;
  readonly forAnalytics: { readonly requests: LimitPolicy; readonly analytics: LimitPolicy };
  readonly forSessions: { readonly requests: LimitPolicy; readonly sessions: LimitPolicy };
}

/** Status of the operation's limit with the fewest remaining requests (docs/contract.md#limit-headers). */
export interface LimitStatus {
  /** Policy of the limit with the fewest remaining requests or sessions. */
  readonly policy: LimitPolicy;
  /** Requests or sessions remaining after this request. */
  readonly remaining: number;
  /** Time, in Unix seconds rounded up, of a full reset or, if the limit was exceeded, of the next request that can succeed. */
  readonly resetEpochSeconds: number;
  /** Seconds from now until `resetEpochSeconds`, rounded up. */
  readonly resetSeconds: number;
}

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
 * Formats the limit headers of a response (docs/contract.md#limit-headers), each preceded by a line break: `X-RateLimit-*`, and the fields
 * of the IETF draft "RateLimit header fields for HTTP". Does not include `Retry-After`.
 */
export function rateLimitHeaders({ policy, remaining, resetEpochSeconds, resetSeconds }: LimitStatus): string {
  const { headerPrefix, rateLimitHeaderPrefix } = policy;
  return `${headerPrefix}${remaining}\r\nX-RateLimit-Reset: ${resetEpochSeconds}${rateLimitHeaderPrefix}${remaining};t=${resetSeconds}`;
}
