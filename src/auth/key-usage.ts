import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Tenant } from '../verticals/tenant.ts';
import {
  createLimitStatus,
  type KeyLimits,
  type KeyPolicies,
  type LimitPolicy,
  type LimitStatus,
} from './rate-limits.ts';
import { SlidingWindow } from './sliding-window.ts';

/** Who is asking, as far as anything behind the gate needs to know: sessions, tags and figures are their tenant's alone. */
export interface Caller extends Tenant {
  /** The key used, for the day's count in the ledger (docs/contract.md#sessions-per-day). */
  readonly keyNumber: number;
}

/** A session's place in the day it was asked for, held while the session is being created. */
export interface QuotaReservation {
  /** Gives the place back to the day it was taken from, once: no session was created. */
  release(): void;
}

/**
 * How many sessions one key created on a UTC day (docs/contract.md#sessions-per-day), by day number.
 *
 * Two days are kept, a place of the ring each, so that a place taken before midnight is given back to the day before, and
 * a wall clock set back over midnight finds the count it left.
 */
export class DailyCounter {
  readonly #days = [-1, -1];
  readonly #counts = [0, 0];

  count(day: number): number {
    return this.#days[day & 1] === day ? (this.#counts[day & 1] as number) : 0;
  }

  /** Counts one more at once; the caller has compared `count` with the limit. */
  reserve(day: number): QuotaReservation {
    this.#setCount(day, this.count(day) + 1);
    return new DailyReservation(this, day);
  }

  /** Takes back one of this day. A day no longer kept has nothing left to limit. */
  release(day: number): void {
    const count = this.count(day);
    if (count > 0) this.#setCount(day, count - 1);
  }

  /** Sets a day's count from the ledger, before the first request. */
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

  /** Frees what an idle key does not need; true when nothing is left that would be missed. */
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
