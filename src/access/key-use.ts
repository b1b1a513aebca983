import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Caller } from './caller.ts';
import type { DayCount, DaySlot } from './day-count.ts';
import type { KeyLimits } from './key-limits.ts';
import { type KeyPolicies, type LimitPolicy, type LimitStatus, limitStatus } from './limit-status.ts';
import { SlidingWindow } from './sliding-window.ts';

/** The operations of the API, as far as limits tell them apart (docs/contract.md#rate-limits). */
export type Operation = 'create_session' | 'submit_inputs' | 'get_marketplace' | 'query_analytics';

/** What limits apply to: a request that repeats an earlier one by its Idempotency-Key creates no session. */
type Charged = Operation | 'repeat_session';

/**
 * Usage of one key's limits (docs/contract.md#rate-limits). Every operation is subject to the requests of a minute; analytics queries
 * also to the queries of a minute, new sessions also to the sessions of a day.
 *
 * Minutes go by the monotonic clock (`nowMs`), days by the wall clock (`wallMs`).
 */
export class KeyUse {
  /** Who the key stands for, from its first admission on: sessions keep this object, so there is one, not one for each. */
  caller: Caller | null = null;
  readonly #requests: SlidingWindow;
  readonly #analytics: SlidingWindow;
  readonly #sessions: DayCount;
  readonly #sessionsPerDay: number;
  readonly #policies: KeyPolicies;

  /** @param sessions what is known already of the sessions of today */
  constructor(limits: KeyLimits, policies: KeyPolicies, sessions: DayCount) {
    this.#requests = new SlidingWindow(limits.requestsPerMinute);
    this.#analytics = new SlidingWindow(limits.analyticsPerMinute);
    this.#sessions = sessions;
    this.#sessionsPerDay = limits.sessionsPerDay;
    this.#policies = policies;
  }

  /** Whether all limits of the operation have room. Charges none. */
  fits(operation: Charged, nowMs: number, wallMs: number): boolean {
    if (this.#requests.remaining(nowMs) === 0) return false;
    if (operation === 'query_analytics') return this.#analytics.remaining(nowMs) > 0;
    if (operation === 'create_session') return this.#sessionsLeft(wallMs) > 0;
    return true;
  }

  /** Charges all limits of an operation that fits; for a new session, returns the place it holds in its day. */
  charge(operation: Charged, nowMs: number, wallMs: number): DaySlot | null {
    this.#requests.take(nowMs);
    if (operation === 'query_analytics') this.#analytics.take(nowMs);
    return operation === 'create_session' ? this.#sessions.reserve(dayOf(wallMs)) : null;
  }

  /** The tightest limit of the operation as it stands, and when it is whole again. */
  standing(operation: Operation, nowMs: number, wallMs: number): LimitStatus {
    const requestsLeft = this.#requests.remaining(nowMs);
    if (operation === 'query_analytics') {
      const left = this.#analytics.remaining(nowMs);
      if (left <= requestsLeft) {
        const resetInMs = this.#analytics.wholeAgainMs(nowMs);
        return limitStatus(this.#policies.ofAnalytics.analytics, left, resetInMs, wallMs);
      }
    } else if (operation === 'create_session') {
      const left = this.#sessionsLeft(wallMs);
      if (left <= requestsLeft) {
        const resetInMs = left === this.#sessionsPerDay ? 0 : untilTomorrowMs(wallMs);
        return limitStatus(this.#policies.ofSessions.sessions, left, resetInMs, wallMs);
      }
    }
    const resetInMs = this.#requests.wholeAgainMs(nowMs);
    return limitStatus(this.#requestsPolicy(operation), requestsLeft, resetInMs, wallMs);
  }

  /** For an operation that does not fit: the limit that keeps it out the longest, and when it will fit. */
  exhausted(operation: Charged, nowMs: number, wallMs: number): LimitStatus {
    let policy = this.#requestsPolicy(operation);
    let waitMs = this.#requests.nextFreeMs(nowMs);
    if (operation === 'query_analytics' && this.#analytics.nextFreeMs(nowMs) > waitMs) {
      policy = this.#policies.ofAnalytics.analytics;
      waitMs = this.#analytics.nextFreeMs(nowMs);
    } else if (operation === 'create_session' && this.#sessionsLeft(wallMs) === 0 && untilTomorrowMs(wallMs) > waitMs) {
      policy = this.#policies.ofSessions.sessions;
      waitMs = untilTomorrowMs(wallMs);
    }
    return limitStatus(policy, 0, waitMs, wallMs);
  }

  /** Frees what an idle key does not need; true when nothing is left that would be missed. */
  release(nowMs: number, wallMs: number): boolean {
    const requestsIdle = this.#requests.release(nowMs);
    const analyticsIdle = this.#analytics.release(nowMs);
    const today = dayOf(wallMs);
    return requestsIdle && analyticsIdle && this.#sessions.count(today) === 0 && this.#sessions.count(today - 1) === 0;
  }

  #sessionsLeft(wallMs: number): number {
    // A limit may have been lowered below what the ledger says of today.
    return Math.max(0, this.#sessionsPerDay - this.#sessions.count(dayOf(wallMs)));
  }

  #requestsPolicy(operation: Charged): LimitPolicy {
    if (operation === 'query_analytics') return this.#policies.ofAnalytics.requests;
    const isOfSessions = operation === 'create_session' || operation === 'repeat_session';
    return isOfSessions ? this.#policies.ofSessions.requests : this.#policies.requests;
  }
}

function untilTomorrowMs(wallMs: number): number {
  return dayStartMs(dayOf(wallMs) + 1) - wallMs;
}
