import { bounds } from '../bounds.ts';
import { dayStartMs, daysSinceEpoch } from '../domain/calendar.ts';
import type { Tenant } from '../domain/tenant.ts';
import {
  createRateLimitStatus,
  type KeyLimits,
  type RateLimitGroup,
  type RateLimitPolicies,
  type RateLimitStatus,
  SlidingWindow,
} from './rate-limits.ts';

/** The tenant and the API key of an authenticated request. */
export interface Caller extends Tenant {
  /** Number of the API key, which the ledger stores with each session that the key creates (docs/contract.md#sessions-per-day). */
  readonly keyNumber: number;
}

/** Reserves one session in the daily limit of an API key before the session is created. */
export interface QuotaReservation {
  /** Cancels the reservation. Repeated calls have no effect. */
  release(): void;
}

/**
 * Counts the sessions that an API key created, by UTC day (docs/contract.md#sessions-per-day).
 *
 * Stores the counts of the days that were counted last, because a reservation can be cancelled after midnight, and because the wall clock
 * may be wrong by several days for some time before it is set back.
 */
export class DailySessionCounter {
  /** Counts by day. The day that was counted last is at the end. */
  readonly #counts = new Map<number, number>();
  #lastDay = -1;

  count(day: number): number {
    return this.#counts.get(day) ?? 0;
  }

  /** Counts one more session. The caller must first check that the number of sessions on `day` is below the daily limit. */
  reserveQuota(day: number): QuotaReservation {
    this.restoreSessionCount(day, this.count(day) + 1);
    let isReleased = false;
    return {
      release: () => {
        const count = this.count(day);
        if (!isReleased && count > 0) this.#counts.set(day, count - 1);
        isReleased = true;
      },
    };
  }

  /** If there are then too many days, deletes the count of the day that was not counted for the longest time. */
  restoreSessionCount(day: number, count: number): void {
    if (day !== this.#lastDay) this.#counts.delete(day);
    this.#lastDay = day;
    this.#counts.set(day, count);
    if (this.#counts.size > bounds.countedDaysStoredMax) this.#counts.delete(this.#counts.keys().next().value!);
  }
}

/**
 * Determines toward which rate limits a request counts. `repeated_session` is a request of the group `sessions` whose Idempotency-Key the
 * caller has used before; it does not count toward the limit of sessions per day.
 */
type ChargedGroup = RateLimitGroup | 'repeated_session';

/** Limit of sessions per UTC day. Has the methods of `SlidingWindow`. */
class DailySessionLimit {
  readonly counter: DailySessionCounter;
  readonly #limit: number;

  constructor(limit: number, counter: DailySessionCounter) {
    this.counter = counter;
    this.#limit = limit;
  }

  remainingRequests(_nowMs: number, wallMs: number): number {
    // The count can exceed the daily limit, because the operator may have lowered the limit during the day.
    return Math.max(0, this.#limit - this.counter.count(daysSinceEpoch(wallMs)));
  }

  retryAfterMs(nowMs: number, wallMs: number): number {
    return this.remainingRequests(nowMs, wallMs) > 0 ? 0 : timeToMidnightMs(wallMs);
  }

  timeToResetMs(nowMs: number, wallMs: number): number {
    return this.remainingRequests(nowMs, wallMs) === this.#limit ? 0 : timeToMidnightMs(wallMs);
  }
}

/**
 * Counts the requests and sessions of one API key and compares the counts with the key's limits (docs/contract.md#rate-limits).
 *
 * Limits per minute use the monotonic clock (`nowMs`). The limit per day uses the wall clock (`wallMs`).
 */
export class KeyUsage {
  /** Tenant and number of the key; null until the first request. All sessions that the key creates share this `Caller` object. */
  caller: Caller | null = null;
  /** Time of the last request with the key, also of a rejected one, in Unix milliseconds. */
  lastUsedMs = 0;
  readonly #requests: SlidingWindow;
  readonly #analytics: SlidingWindow;
  readonly #sessions: DailySessionLimit;
  readonly #policies: RateLimitPolicies;
  /** Monotonic time until which the counts of sessions must be kept, whatever the wall clock says. */
  #sessionCountsNeededUntilMs: number;

  /** @param nowMs monotonic time; restored counts of sessions are kept for `bounds.sessionCountsKeptMs` from then on */
  constructor(
    limits: KeyLimits,
    policies: RateLimitPolicies,
    sessionCounter: DailySessionCounter | null,
    nowMs: number,
  ) {
    this.#requests = new SlidingWindow(limits.requestsPerMinute);
    this.#analytics = new SlidingWindow(limits.analyticsPerMinute);
    this.#sessions = new DailySessionLimit(limits.sessionsPerDay, sessionCounter ?? new DailySessionCounter());
    this.#sessionCountsNeededUntilMs = sessionCounter === null ? nowMs : nowMs + bounds.sessionCountsKeptMs;
    this.#policies = policies;
  }

  /** Returns the number of requests or sessions that currently count toward each limit. */
  countUsed(nowMs: number, wallMs: number): KeyLimits {
    return {
      requestsPerMinute: this.#requests.limit - this.#requests.remainingRequests(nowMs),
      analyticsPerMinute: this.#analytics.limit - this.#analytics.remainingRequests(nowMs),
      sessionsPerDay: this.#sessions.counter.count(daysSinceEpoch(wallMs)),
    };
  }

  hasRequestsLeft(group: ChargedGroup, nowMs: number, wallMs: number): boolean {
    if (this.#requests.remainingRequests(nowMs) === 0) return false;
    const limit = this.#additionalLimit(group);
    return limit === null || limit.remainingRequests(nowMs, wallMs) > 0;
  }

  /**
   * Counts a request for which `hasRequestsLeft` is true. Returns a reservation of one session in the daily limit for `sessions`, and null
   * for the other groups.
   */
  countRequest(group: ChargedGroup, nowMs: number, wallMs: number): QuotaReservation | null {
    this.#requests.addRequest(nowMs);
    if (group === 'analytics') this.#analytics.addRequest(nowMs);
    if (group !== 'sessions') return null;
    this.#sessionCountsNeededUntilMs = nowMs + bounds.sessionCountsKeptMs;
    return this.#sessions.counter.reserveQuota(daysSinceEpoch(wallMs));
  }

  /** Returns the status of the rate limit that has the fewest remaining requests, among the limits that apply to `group`. */
  rateLimitStatus(group: RateLimitGroup, nowMs: number, wallMs: number): RateLimitStatus {
    const { perMinute, additional } = this.#policies[group];
    const requestsLeft = this.#requests.remainingRequests(nowMs);
    const limit = this.#additionalLimit(group);
    const left = limit === null ? Number.POSITIVE_INFINITY : limit.remainingRequests(nowMs, wallMs);
    return limit !== null && left <= requestsLeft
      ? createRateLimitStatus(additional!, left, limit.timeToResetMs(nowMs, wallMs), wallMs)
      : createRateLimitStatus(perMinute, requestsLeft, this.#requests.timeToResetMs(nowMs), wallMs);
  }

  /**
   * Returns the status of the exceeded limit for which the caller must wait longest. The reset time of an exceeded limit is the time when a
   * retry can succeed.
   */
  findExceededLimit(group: ChargedGroup, nowMs: number, wallMs: number): RateLimitStatus {
    const { perMinute, additional } = this.#policies[group === 'repeated_session' ? 'sessions' : group];
    const requestsWaitMs = this.#requests.retryAfterMs(nowMs);
    const additionalWaitMs = this.#additionalLimit(group)?.retryAfterMs(nowMs, wallMs) ?? 0;
    return additionalWaitMs > requestsWaitMs
      ? createRateLimitStatus(additional!, 0, additionalWaitMs, wallMs)
      : createRateLimitStatus(perMinute, 0, requestsWaitMs, wallMs);
  }

  /** Deletes the buffers of sliding windows without requests. Returns true if this `KeyUsage` has no counts that are still needed. */
  deleteUnusedSlidingWindows(nowMs: number): boolean {
    const requestsIdle = this.#requests.deleteWindowIfEmpty(nowMs);
    const analyticsIdle = this.#analytics.deleteWindowIfEmpty(nowMs);
    return requestsIdle && analyticsIdle && nowMs >= this.#sessionCountsNeededUntilMs;
  }

  /** Returns the limit that applies to a group in addition to the limit of requests per minute. */
  #additionalLimit(group: ChargedGroup): SlidingWindow | DailySessionLimit | null {
    if (group === 'analytics') return this.#analytics;
    return group === 'sessions' ? this.#sessions : null;
  }
}

function timeToMidnightMs(wallMs: number): number {
  return dayStartMs(daysSinceEpoch(wallMs) + 1) - wallMs;
}
