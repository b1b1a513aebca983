import { bounds } from '../bounds.ts';
import { assertIntegerOption, assertKnownOptionNames } from '../domain/assert-options.ts';
import { msPerDay } from '../domain/calendar.ts';
import { type Failure, failureOutcome } from '../domain/outcome.ts';
import { copyToFlatString } from '../domain/text.ts';

/** Rate limits of an API key (docs/contract.md#rate-limits). */
export interface KeyLimits {
  /** Maximum number of requests in any 60 seconds, for all operations together. */
  readonly requestsPerMinute: number;
  /** Maximum number of analytics queries in any 60 seconds. Each analytics query also counts toward the limit of requests per minute. */
  readonly analyticsPerMinute: number;
  /** Maximum number of new sessions per UTC day. */
  readonly sessionsPerDay: number;
}

/** Rate limits that the operator set for one key. The value null means the default limit of the service. */
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

/** Rate limits of which each may be absent or null, which means the default limit. */
type AnyLimits = { readonly [Name in keyof KeyLimits]?: number | null | undefined };

export const defaultLimitOverrides: KeyLimitOverrides = {
  requestsPerMinute: null,
  analyticsPerMinute: null,
  sessionsPerDay: null,
};

/** Converts limits, or counts of the requests of each limit, to the JSON format of the operations API. */
export function toLimitsJson<Value>(limits: { readonly [Name in keyof KeyLimits]: Value }) {
  return {
    requests_per_minute: limits.requestsPerMinute,
    analytics_per_minute: limits.analyticsPerMinute,
    sessions_per_day: limits.sessionsPerDay,
  };
}

export function hasLimitOverrides(own: KeyLimitOverrides): boolean {
  return own.requestsPerMinute !== null || own.analyticsPerMinute !== null || own.sessionsPerDay !== null;
}

export function applyLimitOverrides(own: AnyLimits, defaults: KeyLimits): KeyLimits {
  return {
    requestsPerMinute: own.requestsPerMinute ?? defaults.requestsPerMinute,
    analyticsPerMinute: own.analyticsPerMinute ?? defaults.analyticsPerMinute,
    sessionsPerDay: own.sessionsPerDay ?? defaults.sessionsPerDay,
  };
}

/** Whether a value is a valid rate limit. The value null is valid, and means the default limit. */
export function isValidLimitOverride(name: keyof KeyLimits, value: unknown): boolean {
  if (value === null) return true;
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= keyLimitsMax[name];
}

/** Throws a RangeError that names the first unknown or invalid limit. Null and undefined are valid, and mean the default limit. */
export function assertRateLimits(limits: AnyLimits): void {
  assertKnownOptionNames('limits', limits, Object.keys(keyLimitsMax));
  for (const name of Object.keys(keyLimitsMax) as (keyof KeyLimits)[]) {
    const limit = limits[name] ?? null;
    if (limit !== null) assertIntegerOption(`limits.${name}`, limit, 1, keyLimitsMax[name]);
  }
}

/**
 * Names of the rate limits in headers and metrics: requests per minute, analytics queries per minute, sessions per day, and changes of
 * experiments per minute.
 */
export type RateLimitName = 'minute' | 'analytics' | 'day' | 'changes';

/** One rate limit of an operation, with the constant parts of the response headers for this limit. */
export interface RateLimitPolicy {
  readonly name: RateLimitName;
  /** Value of the `RateLimit-Policy` header, which lists all limits of the operation, such as `"minute";q=500;w=60`. */
  readonly policyHeaderValue: string;
  /** Text before the value of `X-RateLimit-Remaining` in the rate limit headers; this text is the same in all responses. */
  readonly headerPrefix: string;
  /** Text before the number of remaining requests in the `RateLimit` header; this text is the same in all responses. */
  readonly rateLimitHeaderPrefix: string;
}

/**
 * Rate limits toward which the requests of an operation count (docs/contract.md#rate-limits). All requests count toward the limit of requests
 * per minute, `analytics` also toward the limit of analytics queries, and `sessions` toward the limit of sessions per day.
 */
export type RateLimitGroup = 'requests' | 'analytics' | 'sessions';

/** Rate limit policies of a key, by group. Each response reports one limit: the limit with the fewest remaining requests. */
export type RateLimitPolicies = Readonly<Record<RateLimitGroup, GroupPolicies>>;

interface GroupPolicies {
  readonly perMinute: RateLimitPolicy;
  /** Policy of the second limit of the group; null for `requests`. */
  readonly additional: RateLimitPolicy | null;
}

/** Status of one rate limit after a request was counted, for the response headers (docs/contract.md#limit-headers). */
export interface RateLimitStatus {
  /** Policy of the reported limit, which is the limit with the fewest remaining requests or sessions. */
  readonly policy: RateLimitPolicy;
  /** Number of requests or sessions that the limit still allows after this request. */
  readonly remaining: number;
  /**
   * Unix time in seconds, rounded up, when all requests of the limit are available again. If the limit is exceeded, `resetEpochSeconds` is
   * the time when a retry can succeed.
   */
  readonly resetEpochSeconds: number;
  /** Number of seconds from now until `resetEpochSeconds`, rounded up. */
  readonly resetSeconds: number;
}

export function createRateLimitPolicies(limits: KeyLimits): RateLimitPolicies {
  const minuteSeconds = bounds.rateLimitWindowMs / 1000;
  const requests: NamedLimit = { name: 'minute', limit: limits.requestsPerMinute, windowSeconds: minuteSeconds };
  const analytics: NamedLimit = { name: 'analytics', limit: limits.analyticsPerMinute, windowSeconds: minuteSeconds };
  const sessions: NamedLimit = { name: 'day', limit: limits.sessionsPerDay, windowSeconds: msPerDay / 1000 };
  const createGroupPolicies = (additional: NamedLimit) => ({
    perMinute: createLimitPolicy(requests, [requests, additional]),
    additional: createLimitPolicy(additional, [requests, additional]),
  });
  return {
    requests: { perMinute: createLimitPolicy(requests, [requests]), additional: null },
    analytics: createGroupPolicies(analytics),
    sessions: createGroupPolicies(sessions),
  };
}

interface NamedLimit {
  readonly name: RateLimitName;
  readonly limit: number;
  readonly windowSeconds: number;
}

function createLimitPolicy({ name, limit }: NamedLimit, all: readonly NamedLimit[]): RateLimitPolicy {
  const policyHeaderValue = all.map((each) => `"${each.name}";q=${each.limit};w=${each.windowSeconds}`).join(', ');
  return {
    name,
    policyHeaderValue,
    headerPrefix: copyToFlatString(
      `\r\nX-RateLimit-Limit: ${limit}\r\nRateLimit-Policy: ${policyHeaderValue}\r\nX-RateLimit-Remaining: `,
    ),
    rateLimitHeaderPrefix: copyToFlatString(`\r\nRateLimit: "${name}";r=`),
  };
}

const changesLimit: NamedLimit = {
  name: 'changes',
  limit: bounds.experimentChangesPerMinute,
  windowSeconds: bounds.rateLimitWindowMs / 1000,
};

/** Policy of the limit of changes of experiments, which each tenant has. Responses report this limit only when it is exceeded. */
export const experimentChangePolicy = createLimitPolicy(changesLimit, [changesLimit]);

/** Rejection of a request by a limit that the operation itself checks. The response reports this limit instead of the limits of the key. */
export interface LimitRejection extends Failure {
  readonly limitStatus: RateLimitStatus;
}

/** Creates the rejection of a request that can be repeated after `waitMs` milliseconds. */
export function createLimitRejection(policy: RateLimitPolicy, waitMs: number, wallMs: number): LimitRejection {
  const limitStatus = createRateLimitStatus(policy, 0, waitMs, wallMs);
  const error = { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds: limitStatus.resetSeconds } as const;
  return { ...failureOutcome(error), limitStatus };
}

export function isLimitRejection(failure: Failure): failure is LimitRejection {
  return 'limitStatus' in failure;
}

export function createRateLimitStatus(
  policy: RateLimitPolicy,
  remaining: number,
  resetInMs: number,
  wallMs: number,
): RateLimitStatus {
  return {
    policy,
    remaining,
    resetEpochSeconds: Math.ceil((wallMs + resetInMs) / 1000),
    resetSeconds: Math.ceil(resetInMs / 1000),
  };
}

/**
 * Formats the `X-RateLimit-*` headers of a response, and the headers of the IETF draft "RateLimit header fields for HTTP"
 * (docs/contract.md#limit-headers). Each header in the result starts with a line break. Does not format the header `Retry-After`.
 */
export function rateLimitHeaders({ policy, remaining, resetEpochSeconds, resetSeconds }: RateLimitStatus): string {
  const { headerPrefix, rateLimitHeaderPrefix } = policy;
  return `${headerPrefix}${remaining}\r\nX-RateLimit-Reset: ${resetEpochSeconds}${rateLimitHeaderPrefix}${remaining};t=${resetSeconds}`;
}

/** Initial capacity of a sliding window's ring buffer, in requests; enough for an API key with few requests. */
const initialCapacity = 8;

/**
 * Exact sliding window (docs/contract.md#minute-windows) that admits at most `limit` requests in any period of 60 seconds. An admitted
 * request counts towards the limit for exactly 60 seconds. Rejected requests do not count towards the limit.
 *
 * A ring buffer stores the times of the admitted requests. The ring buffer has at most `limit` elements, and is deleted when the window is
 * empty. The argument `nowMs` must never decrease between calls.
 */
export class SlidingWindow {
  readonly limit: number;
  #admittedMs: Float64Array | null = null;
  #oldestIndex = 0;
  #count = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Returns the number of requests that can be admitted now. Removes the requests that were admitted a minute ago or earlier. */
  remainingRequests(nowMs: number): number {
    const times = this.#admittedMs;
    if (times !== null && this.#count > 0) {
      if (this.#isOutsideWindow(this.#newestRequestTimeMs(times), nowMs)) {
        this.#count = 0;
      } else {
        while (this.#isOutsideWindow(times[this.#oldestIndex] as number, nowMs)) {
          this.#oldestIndex = this.#oldestIndex + 1 === times.length ? 0 : this.#oldestIndex + 1;
          this.#count--;
        }
      }
    }
    return this.limit - this.#count;
  }

  /** Counts a request that is admitted. The caller must first check that the sliding window has room. */
  addRequest(nowMs: number): void {
    let times = this.#admittedMs;
    if (times === null || this.#count === times.length) times = this.#growBuffer(times);
    const index = this.#oldestIndex + this.#count;
    times[index < times.length ? index : index - times.length] = nowMs;
    this.#count++;
  }

  /** Returns the time in milliseconds until the next request can be admitted. */
  retryAfterMs(nowMs: number): number {
    if (this.#admittedMs === null || this.remainingRequests(nowMs) > 0) return 0;
    return (this.#admittedMs[this.#oldestIndex] as number) + bounds.rateLimitWindowMs - nowMs;
  }

  /** Returns the time in milliseconds until the sliding window contains no requests. */
  timeToResetMs(nowMs: number): number {
    if (this.#admittedMs === null || this.remainingRequests(nowMs) === this.limit) return 0;
    return this.#newestRequestTimeMs(this.#admittedMs) + bounds.rateLimitWindowMs - nowMs;
  }

  /** Deletes the ring buffer and returns true if the sliding window contains no requests; otherwise returns false. */
  deleteWindowIfEmpty(nowMs: number): boolean {
    if (this.remainingRequests(nowMs) < this.limit) return false;
    this.#admittedMs = null;
    return true;
  }

  #isOutsideWindow(admittedMs: number, nowMs: number): boolean {
    return nowMs - admittedMs >= bounds.rateLimitWindowMs;
  }

  #newestRequestTimeMs(times: Float64Array): number {
    const index = this.#oldestIndex + this.#count - 1;
    return times[index < times.length ? index : index - times.length] as number;
  }

  #growBuffer(times: Float64Array | null): Float64Array {
    const grown = new Float64Array(Math.min(this.limit, times === null ? initialCapacity : times.length * 2));
    if (times !== null) {
      grown.set(times.subarray(this.#oldestIndex));
      grown.set(times.subarray(0, this.#oldestIndex), times.length - this.#oldestIndex);
    }
    this.#oldestIndex = 0;
    this.#admittedMs = grown;
    return grown;
  }
}
