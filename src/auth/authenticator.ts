import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Refusal } from '../domain/outcome.ts';
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
  /** For `rateLimitHeaders`, whatever the operation comes to. */
  readonly limitStatus: LimitStatus;
  /** For `create_session`: to be given back unless a session was created. Null for a repeat, and for every other operation. */
  readonly quotaReservation: QuotaReservation | null;
}

export interface Rejection {
  readonly ok: false;
  /** UNAUTHORIZED, VERTICAL_MISMATCH or RATE_LIMIT_EXCEEDED, the last with `retryAfterSeconds`. */
  readonly refusal: Refusal;
  /** For `rateLimitHeaders`; null when the key is not known. */
  readonly limitStatus: LimitStatus | null;
  /** Whose key it was; null when the key is not known. */
  readonly caller: { readonly account: number; readonly keyNumber: number } | null;
}

interface AuthenticatorOptions {
  readonly keyDirectory: KeyDirectory;
  readonly clock: Clock;
  /** For keys that carry no limits of their own. */
  readonly defaultLimits: KeyLimits;
  /** Told of every request that is refused, and by what: for a metric. */
  readonly onRejected?: (by: 'unauthorized' | 'vertical_mismatch' | LimitName) => void;
}

const unauthorizedRejection: Rejection = {
  ok: false,
  refusal: { code: 'UNAUTHORIZED' },
  limitStatus: null,
  caller: null,
};
const verticalMismatchRefusal: Refusal = { code: 'VERTICAL_MISMATCH' };

/**
 * Checks key, vertical and limits of a request, in this order (docs/contract.md#order-of-checks). All of it is synchronous,
 * so that no two requests can both take the last place of a limit.
 *
 * State is kept for keys in use, and for those that the ledger says created sessions lately, so it is bounded by the number
 * of keys. What idle keys leave behind is freed a few keys at a time as requests come in, and what the ledger said once its
 * days are over; without requests nothing grows.
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

  /** Keys of which anything is kept: what it is bounded by cannot be tested from outside otherwise. */
  get trackedKeyCount(): number {
    return this.#usageByKey.size + this.#restoredCounters.size;
  }

  /**
   * @param authorization the `Authorization` header as sent, empty when absent
   * @param isRepeat for `create_session` with an Idempotency-Key: whether this caller used it before. Then the day's limit does
   * not apply, since no session will be created.
   */
  admit(
    authorization: string,
    vertical: Vertical,
    operation: Operation,
    isRepeat?: (caller: Caller) => boolean,
  ): Admission | Rejection {
    const text = parseBearerKey(authorization);
    if (text === null) return this.#rejectUnauthorized();
    const key = this.#keyDirectory.findByHash(hashApiKey(text));
    const wallMs = this.#clock.wallMs();
    if (key === undefined || wallMs >= key.expiresAtMs) return this.#rejectUnauthorized();

    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#nextCleanupMs) this.#cleanUpIdleKeys(nowMs, wallMs);
    const use = this.#usageByKey.get(key.number) ?? this.#createUsage(key);

    if (key.vertical !== vertical.segment) {
      this.#onRejected('vertical_mismatch');
      const askedBy = { account: key.account, keyNumber: key.number };
      return {
        ok: false,
        refusal: verticalMismatchRefusal,
        limitStatus: use.status(operation, nowMs, wallMs),
        caller: askedBy,
      };
    }
    use.caller ??= { account: key.account, vertical, mode: key.mode, keyNumber: key.number };
    const charged = isRepeat?.(use.caller) ? 'repeat_session' : operation;
    if (!use.hasCapacity(charged, nowMs, wallMs)) {
      const limitStatus = use.exceededStatus(charged, nowMs, wallMs);
      this.#onRejected(limitStatus.policy.name);
      const retryAfterSeconds = Math.max(1, limitStatus.resetSeconds);
      return {
        ok: false,
        refusal: { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds },
        limitStatus,
        caller: use.caller,
      };
    }
    const quotaReservation = use.charge(charged, nowMs, wallMs);
    return {
      ok: true,
      caller: use.caller,
      limitStatus: use.status(operation, nowMs, wallMs),
      quotaReservation,
    };
  }

  /** Sets a key's count of sessions on a day, from the ledger (docs/contract.md#sessions-per-day). Only before the key's first request. */
  restoreSessionCount(keyNumber: number, day: number, count: number): void {
    if (this.#usageByKey.has(keyNumber)) throw new Error('the sessions of a key in use cannot be restored');
    const sessions = this.#restoredCounters.get(keyNumber) ?? new DailyCounter();
    sessions.restore(day, count);
    this.#lastRestoredDay = Math.max(this.#lastRestoredDay, day);
    this.#restoredCounters.set(keyNumber, sessions);
  }

  #rejectUnauthorized(): Rejection {
    this.#onRejected('unauthorized');
    return unauthorizedRejection;
  }

  #createUsage(key: ApiKey): KeyUsage {
    const sessions = this.#restoredCounters.get(key.number) ?? new DailyCounter();
    this.#restoredCounters.delete(key.number);
    const limits = effectiveLimits(key.limits, this.#defaultLimits);
    const policies = hasLimitOverrides(key.limits) ? createKeyPolicies(limits) : this.#defaultPolicies;
    const use = new KeyUsage(limits, policies, sessions);
    this.#usageByKey.set(key.number, use);
    return use;
  }

  #cleanUpIdleKeys(nowMs: number, wallMs: number): void {
    // A day longer than the limits need it, like the days of keys in use: the wall clock may be set back over midnight.
    if (dayOf(wallMs) > this.#lastRestoredDay + 1) this.#restoredCounters.clear();
    for (let looked = 0; looked < bounds.keyUsagesFreedPerRequest; looked++) {
      const next = this.#cleanupIterator.next();
      if (next.done === true) {
        this.#cleanupIterator = this.#usageByKey.entries();
        this.#nextCleanupMs = nowMs + bounds.rateLimitWindowMs;
        return;
      }
      const [keyNumber, use] = next.value;
      if (use.releaseIfIdle(nowMs, wallMs)) this.#usageByKey.delete(keyNumber);
    }
  }
}
