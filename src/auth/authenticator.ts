import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Refusal, Refused } from '../domain/outcome.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { hashApiKey, parseBearerKey } from './api-key.ts';
import type { ApiKey, KeyDirectory } from './key-directory.ts';
import type { Caller } from './key-usage.ts';
import { DailyCounter, KeyUsage, type Operation, type QuotaReservation } from './key-usage.ts';
import {
  createKeyPolicies,
  effectiveLimits,
  hasLimitOverrides,
  type KeyLimits,
  type KeyPolicies,
  type LimitName,
  type LimitStatus,
} from './rate-limits.ts';

export interface Admission {
  readonly ok: true;
  readonly caller: Caller;
  readonly limitStatus: LimitStatus;
  /** For a new session: must be released unless the session is created. Null for repeats and other operations. */
  readonly quotaReservation: QuotaReservation | null;
}

export interface Rejection extends Refused {
  /** UNAUTHORIZED, VERTICAL_MISMATCH or RATE_LIMIT_EXCEEDED, the last with `retryAfterSeconds`. */
  readonly refusal: Refusal;
  /** Null if the key is unknown. */
  readonly limitStatus: LimitStatus | null;
  /** Null if the key is unknown. */
  readonly caller: { readonly account: number; readonly keyNumber: number } | null;
}

interface AuthenticatorOptions {
  readonly keyDirectory: KeyDirectory;
  readonly clock: Clock;
  /** For keys without limits of their own. */
  readonly defaultLimits: KeyLimits;
  /** Called for every rejected request, with the reason. */
  readonly onRejected?: (reason: 'unauthorized' | 'vertical_mismatch' | LimitName) => void;
}

const unauthorizedRejection: Rejection = {
  ok: false,
  refusal: { code: 'UNAUTHORIZED' },
  limitStatus: null,
  caller: null,
};
const verticalMismatchRefusal: Refusal = { code: 'VERTICAL_MISMATCH' };

/**
 * Checks key, vertical and limits of a request, in this order (docs/contract.md#order-of-checks). Synchronous, so that two
 * requests cannot both use the last request of a limit.
 *
 * Memory is bounded by the number of keys. The state of idle keys is freed a few keys at a time, as requests arrive; session
 * counts restored from the ledger are freed when their days are over.
 */
export class Authenticator {
  readonly #keyDirectory: KeyDirectory;
  readonly #clock: Clock;
  readonly #defaultLimits: KeyLimits;
  readonly #defaultPolicies: KeyPolicies;
  readonly #onRejected: NonNullable<AuthenticatorOptions['onRejected']>;
  readonly #usageByKey = new Map<number, KeyUsage>();
  readonly #restoredCounters = new Map<number, DailyCounter>();
  #lastRestoredDay = Number.NEGATIVE_INFINITY;
  #cleanupIterator = this.#usageByKey.entries();
  #nextCleanupMs: number;

  constructor(options: AuthenticatorOptions) {
    this.#keyDirectory = options.keyDirectory;
    this.#clock = options.clock;
    this.#defaultLimits = options.defaultLimits;
    this.#defaultPolicies = createKeyPolicies(options.defaultLimits);
    this.#onRejected = options.onRejected ?? (() => {});
    this.#nextCleanupMs = options.clock.monotonicMs() + bounds.rateLimitWindowMs;
  }

  /** Number of keys with state, for tests of the memory bound. */
  get trackedKeyCount(): number {
    return this.#usageByKey.size + this.#restoredCounters.size;
  }

  /**
   * @param authorization The `Authorization` header, empty if absent.
   * @param isRepeat For `create_session` with an Idempotency-Key: whether this caller used the key before. Then the limit of
   * sessions per day does not apply, since no session will be created.
   */
  admit(
    authorization: string,
    vertical: Vertical,
    operation: Operation,
    isRepeat?: (caller: Caller) => boolean,
  ): Admission | Rejection {
    const keyText = parseBearerKey(authorization);
    if (keyText === null) return this.#rejectUnauthorized();
    const key = this.#keyDirectory.findByHash(hashApiKey(keyText));
    const wallMs = this.#clock.wallMs();
    if (key === undefined || wallMs >= key.expiresAtMs) return this.#rejectUnauthorized();

    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#nextCleanupMs) this.#cleanUpIdleKeys(nowMs, wallMs);
    const usage = this.#usageByKey.get(key.number) ?? this.#createUsage(key);

    if (key.vertical !== vertical.segment) {
      this.#onRejected('vertical_mismatch');
      return {
        ok: false,
        refusal: verticalMismatchRefusal,
        limitStatus: usage.status(operation, nowMs, wallMs),
        caller: { account: key.account, keyNumber: key.number },
      };
    }
    usage.caller ??= { account: key.account, vertical, mode: key.mode, keyNumber: key.number };
    const charged = isRepeat?.(usage.caller) ? 'repeat_session' : operation;
    if (!usage.hasCapacity(charged, nowMs, wallMs)) {
      const limitStatus = usage.exceededStatus(charged, nowMs, wallMs);
      this.#onRejected(limitStatus.policy.name);
      const retryAfterSeconds = Math.max(1, limitStatus.resetSeconds);
      return {
        ok: false,
        refusal: { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds },
        limitStatus,
        caller: usage.caller,
      };
    }
    const quotaReservation = usage.charge(charged, nowMs, wallMs);
    return {
      ok: true,
      caller: usage.caller,
      limitStatus: usage.status(operation, nowMs, wallMs),
      quotaReservation,
    };
  }

  /** Sets a key's session count of a day, from the ledger (docs/contract.md#sessions-per-day). Throws after the key's first request. */
  restoreSessionCount(keyNumber: number, day: number, count: number): void {
    if (this.#usageByKey.has(keyNumber)) {
      throw new Error("session count cannot be restored after the key's first request");
    }
    const counter = this.#restoredCounters.get(keyNumber) ?? new DailyCounter();
    counter.restore(day, count);
    this.#lastRestoredDay = Math.max(this.#lastRestoredDay, day);
    this.#restoredCounters.set(keyNumber, counter);
  }

  #rejectUnauthorized(): Rejection {
    this.#onRejected('unauthorized');
    return unauthorizedRejection;
  }

  #createUsage(key: ApiKey): KeyUsage {
    const counter = this.#restoredCounters.get(key.number) ?? new DailyCounter();
    this.#restoredCounters.delete(key.number);
    const limits = effectiveLimits(key.limits, this.#defaultLimits);
    const policies = hasLimitOverrides(key.limits) ? createKeyPolicies(limits) : this.#defaultPolicies;
    const usage = new KeyUsage(limits, policies, counter);
    this.#usageByKey.set(key.number, usage);
    return usage;
  }

  #cleanUpIdleKeys(nowMs: number, wallMs: number): void {
    // Kept for one more day, since the wall clock may be set back past midnight.
    if (dayOf(wallMs) > this.#lastRestoredDay + 1) this.#restoredCounters.clear();
    for (let i = 0; i < bounds.keyUsagesFreedPerRequest; i++) {
      const next = this.#cleanupIterator.next();
      if (next.done === true) {
        this.#cleanupIterator = this.#usageByKey.entries();
        this.#nextCleanupMs = nowMs + bounds.rateLimitWindowMs;
        return;
      }
      const [keyNumber, usage] = next.value;
      if (usage.releaseIfIdle(nowMs, wallMs)) this.#usageByKey.delete(keyNumber);
    }
  }
}
