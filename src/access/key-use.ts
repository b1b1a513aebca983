import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Caller } from './caller.ts';
import type { DailyCounter, QuotaReservation } from './day-count.ts';
import type { KeyLimits } from './key-limits.ts';
import { type KeyPolicies, type LimitPolicy, type LimitStatus, createLimitStatus } from './limit-status.ts';
import { SlidingWindow } from './sliding-window.ts';

/** The operations of the API, as far as limits tell them apart (docs/contract.md#rate-limits). */
export type Operation = 'create_session' | 'submit_inputs' | 'get_marketplace' | 'query_analytics';

/** What limits apply to: a request that repeats an earlier one by its Idempotency-Key creates no session. */
type ChargedOperation = Operation | 'repeat_session';

/**
 * Usage of one key's limits (docs/contract.md#rate-limits). Every operation is subject to the requests of a minute; analytics queries
 * also to the queries of a minute, new sessions also to the sessions of a day.
 *
 * Minutes go by the monotonic clock (`nowMs`), days by the wall clock (`wallMs`).
 */
export class KeyUsage {
  /** Who the key stands for, from its first admission on: sessions keep this object, so there is one, not one for each. */
  caller: Caller | null = null;
  readonly #requestWindow: SlidingWindow;
  readonly #analyticsWindow: SlidingWindow;
  readonly #sessionCounter: DailyCounter;
  readonly #sessionsPerDay: number;
  readonly #policies: KeyPolicies;

  /** @param sessionCounter what is known already of the sessions of today */
  constructor(limits: KeyLimits, policies: KeyPolicies, sessionCounter: DailyCounter) {
    this.#requestWindow = new SlidingWindow(limits.requestsPerMinute);
    this.#analyticsWindow = new SlidingWindow(limits.analyticsPerMinute);
    this.#sessionCounter = sessionCounter;
    this.#sessionsPerDay = limits.sessionsPerDay;
    this.#policies = policies;
  }

  /** Whether all limits of the operation have room. Charges none. */
  hasCapacity(operation: ChargedOperation, nowMs: number, wallMs: number): boolean {
    if (this.#requestWindow.remaining(nowMs) === 0) return false;
    if (operation === 'query_analytics') return this.#analyticsWindow.remaining(nowMs) > 0;
    if (operation === 'create_session') return this.#sessionsLeft(wallMs) > 0;
    return true;
  }

  /** Charges all limits of an operation that fits; for a new session, returns the place it holds in its day. */
  charge(operation: ChargedOperation, nowMs: number, wallMs: number): QuotaReservation | null {
    this.#requestWindow.admit(nowMs);
    if (operation === 'query_analytics') this.#analyticsWindow.admit(nowMs);
    return operation === 'create_session' ? this.#sessionCounter.reserve(dayOf(wallMs)) : null;
  }

  /** The tightest limit of the operation as it stands, and when it is whole again. */
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
    return createLimitStatus(this.#requestsPolicy(operation), requestsLeft, resetInMs, wallMs);
  }

  /** For an operation that does not fit: the limit that keeps it out the longest, and when it will fit. */
  exceededStatus(operation: ChargedOperation, nowMs: number, wallMs: number): LimitStatus {
    let policy = this.#requestsPolicy(operation);
    let waitMs = this.#requestWindow.retryAfterMs(nowMs);
    if (operation === 'query_analytics' && this.#analyticsWindow.retryAfterMs(nowMs) > waitMs) {
      policy = this.#policies.forAnalytics.analytics;
      waitMs = this.#analyticsWindow.retryAfterMs(nowMs);
    } else if (operation === 'create_session' && this.#sessionsLeft(wallMs) === 0 && timeToMidnightMs(wallMs) > waitMs) {
      policy = this.#policies.forSessions.sessions;
      waitMs = timeToMidnightMs(wallMs);
    }
    return createLimitStatus(policy, 0, waitMs, wallMs);
  }

  /** Frees what an idle key does not need; true when nothing is left that would be missed. */
  releaseIfIdle(nowMs: number, wallMs: number): boolean {
    const requestsIdle = this.#requestWindow.releaseIfEmpty(nowMs);
    const analyticsIdle = this.#analyticsWindow.releaseIfEmpty(nowMs);
    const today = dayOf(wallMs);
    return requestsIdle && analyticsIdle && this.#sessionCounter.count(today) === 0 && this.#sessionCounter.count(today - 1) === 0;
  }

  #sessionsLeft(wallMs: number): number {
    // A limit may have been lowered below what the ledger says of today.
    return Math.max(0, this.#sessionsPerDay - this.#sessionCounter.count(dayOf(wallMs)));
  }

  #requestsPolicy(operation: ChargedOperation): LimitPolicy {
    if (operation === 'query_analytics') return this.#policies.forAnalytics.requests;
    const isOfSessions = operation === 'create_session' || operation === 'repeat_session';
    return isOfSessions ? this.#policies.forSessions.requests : this.#policies.requests;
  }
}

function timeToMidnightMs(wallMs: number): number {
  return dayStartMs(dayOf(wallMs) + 1) - wallMs;
}
