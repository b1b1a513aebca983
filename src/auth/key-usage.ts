import { bounds } from '../bounds.ts';
import { dayStartMs, daysSinceEpoch } from '../domain/calendar.ts';
import type { Tenant } from '../domain/tenant.ts';
import {
  createRateLimitStatus,
  type KeyLimits,
  type RateLimitPolicies,
  type RateLimitPolicy,
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
  /** The stored days with their counts, the day that was counted last first. */
  readonly #days: number[] = [];
  readonly #counts: number[] = [];

  count(day: number): number {
    const index = this.#days.indexOf(day);
    return index < 0 ? 0 : (this.#counts[index] as number);
  }

  /** Counts one more session. The caller must first check that the number of sessions on `day` is below the daily limit. */
  reserveQuota(day: number): QuotaReservation {
    this.restoreSessionCount(day, this.count(day) + 1);
    return new DailyReservation(this, day);
  }

  release(day: number): void {
    const index = this.#days.indexOf(day);
    if (index >= 0 && (this.#counts[index] as number) > 0) (this.#counts[index] as number)--;
  }

  restoreSessionCount(day: number, count: number): void {
    if (this.#days[0] !== day) this.#moveDayToFront(day);
    this.#counts[0] = count;
  }

  /** If there are then too many days, deletes the count of the day that was not counted for the longest time. */
  #moveDayToFront(day: number): void {
    const index = this.#days.indexOf(day);
    const isFull = this.#days.length === bounds.countedDaysStoredMax;
    const removed = index >= 0 ? index : isFull ? this.#days.length - 1 : -1;
    if (removed >= 0) {
      this.#days.splice(removed, 1);
      this.#counts.splice(removed, 1);
    }
    this.#days.unshift(day);
    this.#counts.unshift(0);
  }
}

class DailyReservation implements QuotaReservation {
  #counter: DailySessionCounter | null;
  readonly #day: number;

  constructor(counter: DailySessionCounter, day: number) {
    this.#counter = counter;
    this.#day = day;
  }

  release(): void {
    this.#counter?.release(this.#day);
    this.#counter = null;
  }
}

/**
 * Rate limits toward which the requests of an operation count (docs/contract.md#rate-limits). All requests count toward the limit of requests
 * per minute, `analytics` also toward the limit of analytics queries, and `sessions` toward the limit of sessions per day.
 */
export type RateLimitGroup = 'requests' | 'analytics' | 'sessions';

/**
 * Determines toward which rate limits a request counts. `repeated_session` is a request of the group `sessions` whose Idempotency-Key the
 * caller has used before; it does not count toward the limit of sessions per day.
 */
type ChargedGroup = RateLimitGroup | 'repeated_session';

/**
 * Counts the requests and sessions of one API key and compares the counts with the key's limits (docs/contract.md#rate-limits).
 *
 * Limits per minute use the monotonic clock (`nowMs`). The limit per day uses the wall clock (`wallMs`).
 */
export class KeyUsage {
  /** Tenant and number of the key; null until the first request. All sessions that the key creates share this `Caller` object. */
  caller: Caller | null = null;
  readonly #requestWindow: SlidingWindow;
  readonly #analyticsWindow: SlidingWindow;
  readonly #sessionCounter: DailySessionCounter;
  readonly #sessionsPerDay: number;
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
    this.#requestWindow = new SlidingWindow(limits.requestsPerMinute);
    this.#analyticsWindow = new SlidingWindow(limits.analyticsPerMinute);
    this.#sessionCounter = sessionCounter ?? new DailySessionCounter();
    this.#sessionCountsNeededUntilMs = sessionCounter === null ? nowMs : nowMs + bounds.sessionCountsKeptMs;
    this.#sessionsPerDay = limits.sessionsPerDay;
    this.#policies = policies;
  }

  hasRequestsLeft(group: ChargedGroup, nowMs: number, wallMs: number): boolean {
    if (this.#requestWindow.remainingRequests(nowMs) === 0) return false;
    if (group === 'analytics') return this.#analyticsWindow.remainingRequests(nowMs) > 0;
    if (group === 'sessions') return this.#getRemainingSessions(wallMs) > 0;
    return true;
  }

  /**
   * Counts a request for which `hasRequestsLeft` is true. Returns a reservation of one session in the daily limit for `sessions`, and null
   * for the other groups.
   */
  countRequest(group: ChargedGroup, nowMs: number, wallMs: number): QuotaReservation | null {
    this.#requestWindow.addRequest(nowMs);
    if (group === 'analytics') this.#analyticsWindow.addRequest(nowMs);
    if (group !== 'sessions') return null;
    this.#sessionCountsNeededUntilMs = nowMs + bounds.sessionCountsKeptMs;
    return this.#sessionCounter.reserveQuota(daysSinceEpoch(wallMs));
  }

  /** Returns the status of the rate limit that has the fewest remaining requests, among the limits that apply to `group`. */
  rateLimitStatus(group: RateLimitGroup, nowMs: number, wallMs: number): RateLimitStatus {
    const requestsLeft = this.#requestWindow.remainingRequests(nowMs);
    if (group === 'analytics') {
      const left = this.#analyticsWindow.remainingRequests(nowMs);
      if (left <= requestsLeft) {
        const resetInMs = this.#analyticsWindow.timeToResetMs(nowMs);
        return createRateLimitStatus(this.#policies.forAnalytics.analytics, left, resetInMs, wallMs);
      }
    } else if (group === 'sessions') {
      const left = this.#getRemainingSessions(wallMs);
      if (left <= requestsLeft) {
        const resetInMs = left === this.#sessionsPerDay ? 0 : timeToMidnightMs(wallMs);
        return createRateLimitStatus(this.#policies.forSessions.sessions, left, resetInMs, wallMs);
      }
    }
    const resetInMs = this.#requestWindow.timeToResetMs(nowMs);
    return createRateLimitStatus(this.#requestRatePolicy(group), requestsLeft, resetInMs, wallMs);
  }

  /**
   * Returns the status of the exceeded limit for which the caller must wait longest. The reset time of an exceeded limit is the time when a
   * retry can succeed.
   */
  findExceededLimit(group: ChargedGroup, nowMs: number, wallMs: number): RateLimitStatus {
    let policy = this.#requestRatePolicy(group);
    let waitMs = this.#requestWindow.retryAfterMs(nowMs);
    if (group === 'analytics' && this.#analyticsWindow.retryAfterMs(nowMs) > waitMs) {
      policy = this.#policies.forAnalytics.analytics;
      waitMs = this.#analyticsWindow.retryAfterMs(nowMs);
    } else if (group === 'sessions' && this.#getRemainingSessions(wallMs) === 0 && timeToMidnightMs(wallMs) > waitMs) {
      policy = this.#policies.forSessions.sessions;
      waitMs = timeToMidnightMs(wallMs);
    }
    return createRateLimitStatus(policy, 0, waitMs, wallMs);
  }

  /** Deletes the buffers of sliding windows without requests. Returns true if this `KeyUsage` has no counts that are still needed. */
  deleteUnusedSlidingWindows(nowMs: number): boolean {
    const requestsIdle = this.#requestWindow.deleteWindowIfEmpty(nowMs);
    const analyticsIdle = this.#analyticsWindow.deleteWindowIfEmpty(nowMs);
    return requestsIdle && analyticsIdle && nowMs >= this.#sessionCountsNeededUntilMs;
  }

  #getRemainingSessions(wallMs: number): number {
    // The count can exceed the daily limit, because the operator may have lowered the limit during the day.
    return Math.max(0, this.#sessionsPerDay - this.#sessionCounter.count(daysSinceEpoch(wallMs)));
  }

  #requestRatePolicy(group: ChargedGroup): RateLimitPolicy {
    if (group === 'analytics') return this.#policies.forAnalytics.requests;
    const createsSession = group === 'sessions' || group === 'repeated_session';
    return createsSession ? this.#policies.forSessions.requests : this.#policies.requests;
  }
}

function timeToMidnightMs(wallMs: number): number {
  return dayStartMs(daysSinceEpoch(wallMs) + 1) - wallMs;
}
