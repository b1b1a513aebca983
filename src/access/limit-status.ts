import { bounds } from '../bounds.ts';
import { dayMs } from '../domain/calendar.ts';
import { flattenString } from '../domain/flat-text.ts';
import type { KeyLimits } from './key-limits.ts';

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

export function createLimitStatus(policy: LimitPolicy, remaining: number, resetInMs: number, wallMs: number): LimitStatus {
  return {
    policy,
    remaining,
    resetEpochSeconds: Math.ceil((wallMs + resetInMs) / 1000),
    resetSeconds: Math.ceil(resetInMs / 1000),
  };
}
