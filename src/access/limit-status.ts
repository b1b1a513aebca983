/** One limit of a key as it is told to the caller: the texts are made once for each key. */
export interface LimitPolicy {
  readonly limit: number;
  /** The limit as decimal digits. */
  readonly limitText: string;
  /** The policy's member of a `RateLimit-Policy` field, e.g. `"minute";q=500;w=60`. */
  readonly policyText: string;
  /** The beginning of its member of a `RateLimit` field, e.g. `"minute";r=`. */
  readonly remainingPrefix: string;
}

/** How a caller stands with the tightest of the limits its operation is subject to (D13). */
export interface LimitStatus {
  /** The tightest limit: the one with the least remaining. */
  readonly policy: LimitPolicy;
  /** Value of the `RateLimit-Policy` field: all limits this operation is subject to. */
  readonly policies: string;
  /** Requests, or sessions, left of it after this request. */
  readonly remaining: number;
  /** When this limit is whole again or, after a refusal by a limit, when the next request can succeed: Unix seconds, rounded up. */
  readonly resetEpochSeconds: number;
  /** The same moment as seconds from now, rounded up. */
  readonly resetSeconds: number;
}

export function limitPolicy(name: string, limit: number, windowSeconds: number): LimitPolicy {
  return {
    limit,
    limitText: String(limit),
    policyText: `"${name}";q=${limit};w=${windowSeconds}`,
    remainingPrefix: `"${name}";r=`,
  };
}

export function limitStatus(
  policy: LimitPolicy,
  policies: string,
  remaining: number,
  resetInMs: number,
  wallMs: number,
): LimitStatus {
  return {
    policy,
    policies,
    remaining,
    resetEpochSeconds: Math.ceil((wallMs + resetInMs) / 1000),
    resetSeconds: Math.ceil(resetInMs / 1000),
  };
}
