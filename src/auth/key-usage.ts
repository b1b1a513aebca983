import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Tenant } from '../verticals/tenant.ts';
import {
  createLimitStatus,
  type KeyLimits,
  type KeyPolicies,
  type LimitPolicy,
  type LimitStatus,
  SlidingWindow,
} from './rate-limits.ts';

/** The tenant and key of an authenticated request. */
export interface Caller extends Tenant {
  /** Number of the key. The ledger counts the sessions of a key by this number (docs/contract.md#sessions-per-day). */
  readonly keyNumber: number;
}

/** One session of a key's daily quota, reserved while the session is being created. */
export interface QuotaReservation {
  /** Returns the reserved session to the quota of its day, because no session was created. Repeated calls have no effect. */
  release(): void;
}

/**
 * Counts the sessions that an API key created, by UTC day (docs/contract.md#sessions-per-day).
 *
 * Counts of two days are stored, so that a reservation made before midnight is returned to its own day, and a wall clock that is set back
 * past midnight finds the previous count.
 */
export class DailyCounter {
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  count(day: number): number {
    return this.#days[day & 1] === day ? (this.#counts[day & 1] as number) : 0;
  }

  /** Counts one more session. The caller must have compared `count` with the limit. */
  reserve(day: number): QuotaReservation {
    this.#setCount(day, this.count(day) + 1);
    return new DailyReservation(this, day);
  }

  release(day: number): void {
    const count = this.count(day);
    if (count > 0) this.#setCount(day, count - 1);
  }

  restore(day: number, count: number): void {
    this.#setCount(day, count);
  }

  #setCount(day: number, count: number): void {
    this.#days[day & 1] = day;
    this.#counts[day & 1] = count;
  }
}

class DailyReservation implements QuotaReservation {
  #counter: DailyCounter | null;
  readonly #day: number;

  constructor(counter: DailyCounter, day: number) {
    this.#counter = counter;
    this.#day = day;
  }

  release(): void {
    this.#counter?.release(this.#day);
    this.#counter = null;
  }
}

/** The operations of the API (docs/contract.md#rate-limits). */
export type Operation = 'create_session' | 'submit_inputs' | 'get_marketplace' | 'query_analytics';

/** An operation that is charged to limits. `repeat_session` repeats an Idempotency-Key and is not charged to the day. */
type ChargedOperation = Operation | 'repeat_session';

/**
 * Usage of one key's limits (docs/contract.md#rate-limits). Requests per minute apply to every operation, queries per minute also to
 * analytics, and sessions per day also to new sessions.
 *
 * Limits per minute use the monotonic clock (`nowMs`), limits per day the wall clock (`wallMs`).
 */
export class KeyUsage {
  /** Tenant and key, set by the first admitted request. All sessions of the key share this object. */
  caller: Caller | null = null;
  readonly #requestWindow: SlidingWindow;
  readonly #analyticsWindow: SlidingWindow;
  readonly #sessionCounter: DailyCounter;
  readonly #sessionsPerDay: number;
  readonly #policies: KeyPolicies;

  constructor(limits: KeyLimits, policies: KeyPolicies, sessionCounter: DailyCounter) {
    this.#requestWindow = new SlidingWindow(limits.requestsPerMinute);
    this.#analyticsWindow = new SlidingWindow(limits.analyticsPerMinute);
    this.#sessionCounter = sessionCounter;
    this.#sessionsPerDay = limits.sessionsPerDay;
    this.#policies = policies;
  }

  hasCapacity(operation: ChargedOperation, nowMs: number, wallMs: number): boolean {
    if (this.#requestWindow.remaining(nowMs) === 0) return false;
    if (operation === 'query_analytics') return this.#analyticsWindow.remaining(nowMs) > 0;
    if (operation === 'create_session') return this.#sessionsLeft(wallMs) > 0;
    return true;
  }

  /** Charges all limits of an operation for which `hasCapacity` is true. Returns the reservation of a new session. */
  charge(operation: ChargedOperation, nowMs: number, wallMs: number): QuotaReservation | null {
    this.#requestWindow.admit(nowMs);
    if (operation === 'query_analytics') this.#analyticsWindow.admit(nowMs);
    return operation === 'create_session' ? this.#sessionCounter.reserve(dayOf(wallMs)) : null;
  }

  /** Returns the status of the operation's limit with the fewest remaining requests, and the time at which that limit is fully reset. */
  status(operation: Operation, nowMs: number, wallMs: number): LimitStatus {
    const requestsLeft = this.#requestWindow.remaining(nowMs);
    if (operation === 'query_analytics') {
      const left = this.#analyticsWindow.remaining(nowMs);
      if (left <= requestsLeft) {
        const resetInMs = this.#analyticsWindow.resetMs(nowMs);
        return createLimitStatus(this.#policies.forAnalytics.analytics, left, resetInMs, wallMs);
      }
    } else if (operation === 'create_session') {
      const left = this.#sessionsLeft(wallMs);
      if (left <= requestsLeft) {
        const resetInMs = left === this.#sessionsPerDay ? 0 : timeToMidnightMs(wallMs);
        return createLimitStatus(this.#policies.forSessions.sessions, left, resetInMs, wallMs);
      }
    }
    const resetInMs = this.#requestWindow.resetMs(nowMs);
    return createLimitStatus(this.#policyOfRequests(operation), requestsLeft, resetInMs, wallMs);
  }

  /** Returns the status of the exceeded limit with the longest wait, and the time at which the operation is admitted again. */
  exceededStatus(operation: ChargedOperation, nowMs: number, wallMs: number): LimitStatus {
    let policy = this.#policyOfRequests(operation);
    let waitMs = this.#requestWindow.retryAfterMs(nowMs);
    if (operation === 'query_analytics' && this.#analyticsWindow.retryAfterMs(nowMs) > waitMs) {
      policy = this.#policies.forAnalytics.analytics;
      waitMs = this.#analyticsWindow.retryAfterMs(nowMs);
    } else if (
      operation === 'create_session' &&
      this.#sessionsLeft(wallMs) === 0 &&
      timeToMidnightMs(wallMs) > waitMs
    ) {
      policy = this.#policies.forSessions.sessions;
      waitMs = timeToMidnightMs(wallMs);
    }
    return createLimitStatus(policy, 0, waitMs, wallMs);
  }

  /** Frees the windows of an idle key. Returns true if the whole usage can be dropped. */
  releaseIfIdle(nowMs: number, wallMs: number): boolean {
    const requestsIdle = this.#requestWindow.releaseIfEmpty(nowMs);
    const analyticsIdle = this.#analyticsWindow.releaseIfEmpty(nowMs);
    const today = dayOf(wallMs);
    return (
      requestsIdle &&
      analyticsIdle &&
      this.#sessionCounter.count(today) === 0 &&
      this.#sessionCounter.count(today - 1) === 0
    );
  }

  #sessionsLeft(wallMs: number): number {
    // The limit may have been lowered below today's count in the ledger.
    return Math.max(0, this.#sessionsPerDay - this.#sessionCounter.count(dayOf(wallMs)));
  }

  #policyOfRequests(operation: ChargedOperation): LimitPolicy {
    if (operation === 'query_analytics') return this.#policies.forAnalytics.requests;
    const createsSession = operation === 'create_session' || operation === 'repeat_session';
    return createsSession ? this.#policies.forSessions.requests : this.#policies.requests;
  }
}

function timeToMidnightMs(wallMs: number): number {
  return dayStartMs(dayOf(wallMs) + 1) - wallMs;
}
