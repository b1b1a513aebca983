import { bounds } from '../bounds.ts';
import { dayMs } from '../domain/calendar.ts';
import { flatText } from '../domain/flat-text.ts';
import type { KeyLimits } from './key-limits.ts';

/** Requests of a minute, analytics queries of a minute, sessions of a day. */
export type LimitName = 'minute' | 'analytics' | 'day';

/** One limit, as it is told with the answers of an operation that is subject to it, maybe among others. */
export interface LimitPolicy {
  readonly name: LimitName;
  readonly limit: number;
  /** Value of the `RateLimit-Policy` field: all limits of the operation, e.g. `"minute";q=500;w=60`. */
  readonly policies: string;
  /** The headers that do not change from answer to answer, and the beginning of the one that says what remains. */
  readonly headersToRemaining: string;
  /** The `RateLimit` header up to what remains. */
  readonly rateLimitToRemaining: string;
}

/** The limits of a key as they are told: those of an answer depend on the operation, and on which of its limits is the tightest. */
export interface KeyPolicies {
  /** For operations subject to the requests of a minute alone. */
  readonly requests: LimitPolicy;
  readonly ofAnalytics: { readonly requests: LimitPolicy; readonly analytics: LimitPolicy };
  readonly ofSessions: { readonly requests: LimitPolicy; readonly sessions: LimitPolicy };
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
export function keyPolicies(limits: KeyLimits): KeyPolicies {
  const minuteSeconds = bounds.minuteWindowMs / 1000;
  const requests: NamedLimit = { name: 'minute', limit: limits.requestsPerMinute, seconds: minuteSeconds };
  const analytics: NamedLimit = { name: 'analytics', limit: limits.analyticsPerMinute, seconds: minuteSeconds };
  const sessions: NamedLimit = { name: 'day', limit: limits.sessionsPerDay, seconds: dayMs / 1000 };
  return {
    requests: limitPolicy(requests, [requests]),
    ofAnalytics: {
      requests: limitPolicy(requests, [requests, analytics]),
      analytics: limitPolicy(analytics, [requests, analytics]),
    },
    ofSessions: {
      requests: limitPolicy(requests, [requests, sessions]),
      sessions: limitPolicy(sessions, [requests, sessions]),
    },
  };
}

interface NamedLimit {
  readonly name: LimitName;
  readonly limit: number;
  readonly seconds: number;
}

function limitPolicy({ name, limit }: NamedLimit, all: readonly NamedLimit[]): LimitPolicy {
  const policies = all.map((each) => `"${each.name}";q=${each.limit};w=${each.seconds}`).join(', ');
  return {
    name,
    limit,
    policies,
    headersToRemaining: flatText(
      `\r\nX-RateLimit-Limit: ${limit}\r\nRateLimit-Policy: ${policies}\r\nX-RateLimit-Remaining: `,
    ),
    rateLimitToRemaining: flatText(`\r\nRateLimit: "${name}";r=`),
  };
}

export function limitStatus(policy: LimitPolicy, remaining: number, resetInMs: number, wallMs: number): LimitStatus {
  return {
    policy,
    remaining,
    resetEpochSeconds: Math.ceil((wallMs + resetInMs) / 1000),
    resetSeconds: Math.ceil(resetInMs / 1000),
  };
}
