import { bounds } from '../bounds.ts';
import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Refusal } from '../domain/outcome.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { bearerKey, hashApiKey } from './api-key.ts';
import type { Caller } from './caller.ts';
import { DayCount, type DaySlot } from './day-count.ts';
import type { ApiKey, KeyDirectory } from './key-directory.ts';
import { effectiveLimits, hasOwnLimits, type KeyLimits } from './key-limits.ts';
import { KeyUse, type Operation } from './key-use.ts';
import { type KeyPolicies, keyPolicies, type LimitName, type LimitStatus } from './limit-status.ts';

export interface Admission {
  readonly ok: true;
  readonly caller: Caller;
  /** For `limitHeaders`, whatever the operation comes to. */
  readonly limits: LimitStatus;
  /** For `create_session`: to be given back unless a session was created. Null for a repeat, and for every other operation. */
  readonly daySlot: DaySlot | null;
}

export interface Rejection {
  readonly ok: false;
  /** UNAUTHORIZED, VERTICAL_MISMATCH or RATE_LIMIT_EXCEEDED, the last with `retryAfterSeconds`. */
  readonly refusal: Refusal;
  /** For `limitHeaders`; null when the key is not known. */
  readonly limits: LimitStatus | null;
  /** Whose key it was; null when the key is not known. */
  readonly askedBy: { readonly account: number; readonly keyNumber: number } | null;
}

export interface GatekeeperOptions {
  readonly directory: KeyDirectory;
  readonly clock: Clock;
  /** For keys that carry no limits of their own. */
  readonly defaultLimits: KeyLimits;
  /** Told of every request that is refused, and by what: for a metric. */
  readonly onRefused?: (by: 'unauthorized' | 'vertical_mismatch' | LimitName) => void;
}

const unauthorized: Rejection = { ok: false, refusal: { code: 'UNAUTHORIZED' }, limits: null, askedBy: null };
const verticalMismatch: Refusal = { code: 'VERTICAL_MISMATCH' };

/**
 * Checks key, vertical and limits of a request, in this order (docs/contract.md#order-of-checks). All of it is synchronous,
 * so that no two requests can both take the last place of a limit.
 *
 * State is kept for keys in use, and for those that the ledger says created sessions lately, so it is bounded by the number
 * of keys. What idle keys leave behind is freed a few keys at a time as requests come in, and what the ledger said once its
 * days are over; without requests nothing grows.
 */
export class Gatekeeper {
  readonly #directory: KeyDirectory;
  readonly #clock: Clock;
  readonly #defaultLimits: KeyLimits;
  readonly #defaultPolicies: KeyPolicies;
  readonly #onRefused: NonNullable<GatekeeperOptions['onRefused']>;
  readonly #uses = new Map<number, KeyUse>();
  readonly #restored = new Map<number, DayCount>();
  #lastRestoredDay = Number.NEGATIVE_INFINITY;
  #tidying = this.#uses.entries();
  #nextTidyMs: number;

  constructor(options: GatekeeperOptions) {
    this.#directory = options.directory;
    this.#clock = options.clock;
    this.#defaultLimits = options.defaultLimits;
    this.#defaultPolicies = keyPolicies(options.defaultLimits);
    this.#onRefused = options.onRefused ?? (() => {});
    this.#nextTidyMs = options.clock.monotonicMs() + bounds.minuteWindowMs;
  }

  /** Keys of which anything is kept: what it is bounded by cannot be tested from outside otherwise. */
  get keysRemembered(): number {
    return this.#uses.size + this.#restored.size;
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
    const text = bearerKey(authorization);
    if (text === null) return this.#unauthorized();
    const key = this.#directory.find(hashApiKey(text));
    const wallMs = this.#clock.wallMs();
    if (key === undefined || wallMs >= key.expiresAtMs) return this.#unauthorized();

    const nowMs = this.#clock.monotonicMs();
    if (nowMs >= this.#nextTidyMs) this.#tidy(nowMs, wallMs);
    const use = this.#uses.get(key.number) ?? this.#startUse(key);

    if (key.vertical !== vertical.segment) {
      this.#onRefused('vertical_mismatch');
      const askedBy = { account: key.account, keyNumber: key.number };
      return { ok: false, refusal: verticalMismatch, limits: use.standing(operation, nowMs, wallMs), askedBy };
    }
    use.caller ??= { account: key.account, vertical, mode: key.mode, keyNumber: key.number };
    const charged = isRepeat?.(use.caller) ? 'repeat_session' : operation;
    if (!use.fits(charged, nowMs, wallMs)) {
      const limits = use.exhausted(charged, nowMs, wallMs);
      this.#onRefused(limits.policy.name);
      const retryAfterSeconds = Math.max(1, limits.resetSeconds);
      return { ok: false, refusal: { code: 'RATE_LIMIT_EXCEEDED', retryAfterSeconds }, limits, askedBy: use.caller };
    }
    const daySlot = use.charge(charged, nowMs, wallMs);
    return {
      ok: true,
      caller: use.caller,
      limits: use.standing(operation, nowMs, wallMs),
      daySlot,
    };
  }

  /** Sets a key's count of sessions on a day, from the ledger (docs/contract.md#sessions-per-day). Only before the key's first request. */
  restoreSessions(keyNumber: number, day: number, count: number): void {
    if (this.#uses.has(keyNumber)) throw new Error('the sessions of a key in use cannot be restored');
    const sessions = this.#restored.get(keyNumber) ?? new DayCount();
    sessions.restore(day, count);
    this.#lastRestoredDay = Math.max(this.#lastRestoredDay, day);
    this.#restored.set(keyNumber, sessions);
  }

  #unauthorized(): Rejection {
    this.#onRefused('unauthorized');
    return unauthorized;
  }

  #startUse(key: ApiKey): KeyUse {
    const sessions = this.#restored.get(key.number) ?? new DayCount();
    this.#restored.delete(key.number);
    const limits = effectiveLimits(key.limits, this.#defaultLimits);
    const policies = hasOwnLimits(key.limits) ? keyPolicies(limits) : this.#defaultPolicies;
    const use = new KeyUse(limits, policies, sessions);
    this.#uses.set(key.number, use);
    return use;
  }

  #tidy(nowMs: number, wallMs: number): void {
    // A day longer than the limits need it, like the days of keys in use: the wall clock may be set back over midnight.
    if (dayOf(wallMs) > this.#lastRestoredDay + 1) this.#restored.clear();
    for (let looked = 0; looked < bounds.keysTidiedAtOnce; looked++) {
      const next = this.#tidying.next();
      if (next.done === true) {
        this.#tidying = this.#uses.entries();
        this.#nextTidyMs = nowMs + bounds.minuteWindowMs;
        return;
      }
      const [keyNumber, use] = next.value;
      if (use.release(nowMs, wallMs)) this.#uses.delete(keyNumber);
    }
  }
}
