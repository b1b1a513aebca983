import { bounds } from '../bounds.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { ApiError, Failure } from '../domain/outcome.ts';
import type { Vertical } from '../domain/vertical.ts';
import type { ApiKey, ApiKeyScope } from './api-key.ts';
import { hashApiKey, parseBearerKey } from './api-key.ts';
import type { Caller } from './key-usage.ts';
import { DailySessionCounter, KeyUsage, type QuotaReservation } from './key-usage.ts';
import type { KeyUses } from './key-use-file.ts';
import {
  applyLimitOverrides,
  createRateLimitPolicies,
  hasLimitOverrides,
  type KeyLimits,
  type RateLimitGroup,
  type RateLimitName,
  type RateLimitPolicies,
  type RateLimitStatus,
} from './rate-limits.ts';
import type { SqliteKeyDirectory } from './sqlite-key-directory.ts';

export interface KeyUsageReport {
  readonly limits: KeyLimits;
  /** Requests of the last 60 seconds, and sessions of the current UTC day. */
  readonly used: KeyLimits;
  /** Time of the last request with the key, in Unix milliseconds; null if no request is known. */
  readonly lastUsedMs: number | null;
}

export interface AdmittedCaller {
  readonly ok: true;
  readonly caller: Caller;
  readonly limitStatus: RateLimitStatus;
  /** Session reservation, to be released if no session is created; null for a request with a repeated Idempotency-Key, and for other groups than `sessions`. */
  readonly quotaReservation: QuotaReservation | null;
}

export interface AuthRejection extends Failure {
  /** UNAUTHORIZED, VERTICAL_MISMATCH, INSUFFICIENT_SCOPE, or RATE_LIMIT_EXCEEDED with `retryAfterSeconds`. */
  readonly error: ApiError;
  /** Rate limit status of the key; null if the key is unknown or has expired. */
  readonly limitStatus: RateLimitStatus | null;
  /** Account and number of the key; null if the key is unknown or has expired. */
  readonly caller: { readonly account: number; readonly keyNumber: number } | null;
}

/** Access rules of an operation. */
export interface OperationAccess {
  /** Rate limits toward which requests count, in addition to the limit of requests. */
  readonly limit: RateLimitGroup;
  /** Scope that is sufficient for the operation, besides `full`; absent if only keys with the scope `full` may use the operation. */
  readonly scope?: ApiKeyScope;
}

interface AuthenticatorOptions {
  readonly keyDirectory: Pick<SqliteKeyDirectory, 'findKeyByHash'>;
  readonly clock: Clock;
  /** Default rate limits, for keys without limits of their own. */
  readonly defaultLimits: KeyLimits;
  readonly onRejected?: (reason: 'unauthorized' | ForbiddenReason | RateLimitName) => void;
}

const unauthorizedRejection: AuthRejection = {
  ok: false,
  error: { code: 'UNAUTHORIZED' },
  limitStatus: null,
  caller: null,
};
type ForbiddenReason = 'vertical_mismatch' | 'insufficient_scope';
export const forbiddenErrors: Readonly<Record<ForbiddenReason, ApiError>> = {
  vertical_mismatch: { code: 'VERTICAL_MISMATCH' },
  insufficient_scope: { code: 'INSUFFICIENT_SCOPE' },
};

/** Returns why a valid key may not use an operation of a vertical; null if it may. */
export function findForbiddenReason(
  key: ApiKey,
  vertical: Vertical,
  operation: OperationAccess,
): ForbiddenReason | null {
  if (key.vertical !== vertical.segment) return 'vertical_mismatch';
  return key.scope === 'full' || key.scope === operation.scope ? null : 'insufficient_scope';
}

/**
 * Checks first the API key, then its vertical, then its scope, then the rate limits of a request (docs/contract.md#order-of-checks). The
 * check is synchronous, so that two concurrent requests cannot both use the last request that a limit allows.
 *
 * The authenticator's memory use is proportional to the number of API keys in use. Once a minute, requests delete the counters of idle API
 * keys, a few keys per request. Counts of sessions are deleted two days after the last session or the restart. These two days are measured
 * by the monotonic clock, because the wall clock may be wrong and set back later.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #defaultPolicies: RateLimitPolicies;
  readonly #usageByKey = new Map<number, KeyUsage>();
  /** Times of the last uses of the keys that are not in `#usageByKey`. */
  readonly #lastUses = new Map<number, number>();
  #usesKnownSinceMs: number;
  #latestUseMs = 0;
  readonly #restoredCounters = new Map<number, DailySessionCounter>();
  #restoredCountsNeededUntilMs = Number.NEGATIVE_INFINITY;
  #cleanupIterator = this.#usageByKey.entries();
  #nextCleanupMs: number;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    this.#defaultPolicies = createRateLimitPolicies(options.defaultLimits);
    this.#nextCleanupMs = options.clock.monotonicMs() + bounds.rateLimitWindowMs;
    this.#usesKnownSinceMs = options.clock.wallMs();
  }

  /** Time of the last use of any key since the start, in Unix milliseconds; 0 before the first use. */
  get latestUseMs(): number {
    return this.#latestUseMs;
  }

  /** Returns when each key was used last. */
  readKeyUses(): KeyUses {
    const lastUses = new Map(this.#lastUses);
    for (const [keyNumber, { lastUsedMs }] of this.#usageByKey) lastUses.set(keyNumber, lastUsedMs);
    return { sinceMs: this.#usesKnownSinceMs, lastUses };
  }

  /**
   * Sets the times of the last uses that an earlier run of the service has saved. Times in the future come from a wrong clock, and become the
   * present time. Call this method before the first request.
   */
  restoreKeyUses({ sinceMs, lastUses }: KeyUses): void {
    const nowMs = this.#options.clock.wallMs();
    this.#usesKnownSinceMs = Math.min(sinceMs, nowMs);
    for (const [keyNumber, lastUsedMs] of lastUses) this.#lastUses.set(keyNumber, Math.min(lastUsedMs, nowMs));
  }

  /** Time since which the last uses are known, in Unix milliseconds. */
  get usesKnownSinceMs(): number {
    return this.#usesKnownSinceMs;
  }

  /** Returns the limits of a key, how much of each limit is used now, and the time of the last use (null for no known use). */
  getKeyUsage({ number, limits: own }: Pick<ApiKey, 'number' | 'limits'>): KeyUsageReport {
    const { clock, defaultLimits } = this.#options;
    const wallMs = clock.wallMs();
    const usage = this.#usageByKey.get(number);
    const sessionsPerDay = this.#restoredCounters.get(number)?.count(daysSinceEpoch(wallMs)) ?? 0;
    return {
      limits: applyLimitOverrides(own, defaultLimits),
      used: usage?.countUsed(clock.monotonicMs(), wallMs) ?? {
        requestsPerMinute: 0,
        analyticsPerMinute: 0,
        sessionsPerDay,
      },
      lastUsedMs: usage?.lastUsedMs ?? this.#lastUses.get(number) ?? null,
    };
  }

  /** Number of API keys that have request counters in memory. Used only by tests. */
  get trackedKeyCount(): number {
    return this.#usageByKey.size + this.#restoredCounters.size;
  }

  /**
   * Checks a request and counts it toward the rate limits of its API key.
   *
   * @param authorization value of the `Authorization` header, empty if absent
   * @param isRepeat tells whether the caller has already used the Idempotency-Key. A repeated request does not count
   * toward the daily limit, because it creates no session.
   */
  admitRequest(
    authorization: string,
    vertical: Vertical,
    operation: OperationAccess,
    isRepeat?: (caller: Caller) => boolean,
  ): AdmittedCaller | AuthRejection {
    const keyText = parseBearerKey(authorization);
    if (keyText === null) return this.#rejectUnauthorized();
    const { keyDirectory, clock } = this.#options;
    const key = keyDirectory.findKeyByHash(hashApiKey(keyText));
    const wallMs = clock.wallMs();
    if (key === undefined || wallMs >= key.expiresAtMs) return this.#rejectUnauthorized();

    const nowMs = clock.monotonicMs();
    if (nowMs >= this.#nextCleanupMs) this.#deleteIdleKeyUsage(nowMs);
    const usage = this.#usageByKey.get(key.number) ?? this.#createKeyUsage(key, nowMs);

    usage.lastUsedMs = wallMs;
    this.#latestUseMs = wallMs;

    const { limit: group } = operation;
    const reason = findForbiddenReason(key, vertical, operation);
    if (reason !== null) {
      this.#options.onRejected?.(reason);
      return {
        ok: false,
        error: forbiddenErrors[reason],
        limitStatus: usage.rateLimitStatus(group, nowMs, wallMs),
        caller: { account: key.account, keyNumber: key.number },
      };
    }
    usage.caller ??= { account: key.account, vertical, mode: key.mode, keyNumber: key.number };
    const charged = isRepeat?.(usage.caller) ? 'repeated_session' : group;
    if (!usage.hasRequestsLeft(charged, nowMs, wallMs)) {
      const limitStatus = usage.findExceededLimit(charged, nowMs, wallMs);
      this.#options.onRejected?.(limitStatus.policy.name);
      const retryAfterSeconds = Math.max(1, limitStatus.resetSeconds);
      return {
        ok: false,
        error: { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds },
        limitStatus,
        caller: usage.caller,
      };
    }
    const quotaReservation = usage.countRequest(charged, nowMs, wallMs);
    return {
      ok: true,
      caller: usage.caller,
      limitStatus: usage.rateLimitStatus(group, nowMs, wallMs),
      quotaReservation,
    };
  }

  /**
   * Sets the number of sessions that a key created on a UTC day, according to the ledger (docs/contract.md#sessions-per-day). Throws if
   * `admitRequest` has already checked a request with the key.
   */
  restoreSessionCount(keyNumber: number, day: number, count: number): void {
    if (this.#usageByKey.has(keyNumber)) {
      throw new Error("session count cannot be restored after the key's first request");
    }
    const counter = this.#restoredCounters.get(keyNumber) ?? new DailySessionCounter();
    counter.restoreSessionCount(day, count);
    this.#restoredCountsNeededUntilMs = this.#options.clock.monotonicMs() + bounds.sessionCountsKeptMs;
    this.#restoredCounters.set(keyNumber, counter);
  }

  #rejectUnauthorized(): AuthRejection {
    this.#options.onRejected?.('unauthorized');
    return unauthorizedRejection;
  }

  #createKeyUsage(key: ApiKey, nowMs: number): KeyUsage {
    const counter = this.#restoredCounters.get(key.number) ?? null;
    this.#restoredCounters.delete(key.number);
    const limits = applyLimitOverrides(key.limits, this.#options.defaultLimits);
    const policies = hasLimitOverrides(key.limits) ? createRateLimitPolicies(limits) : this.#defaultPolicies;
    const usage = new KeyUsage(limits, policies, counter, nowMs);
    this.#lastUses.delete(key.number);
    this.#usageByKey.set(key.number, usage);
    return usage;
  }

  #deleteIdleKeyUsage(nowMs: number): void {
    if (nowMs >= this.#restoredCountsNeededUntilMs) this.#restoredCounters.clear();
    for (let i = 0; i < bounds.keyUsagesFreedPerRequest; i++) {
      const next = this.#cleanupIterator.next();
      if (next.done === true) {
        this.#cleanupIterator = this.#usageByKey.entries();
        this.#nextCleanupMs = nowMs + bounds.rateLimitWindowMs;
        return;
      }
      const [keyNumber, usage] = next.value;
      if (!usage.deleteUnusedSlidingWindows(nowMs)) continue;
      this.#lastUses.set(keyNumber, usage.lastUsedMs);
      this.#usageByKey.delete(keyNumber);
    }
  }
}
