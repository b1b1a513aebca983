import { bounds } from '../bounds.ts';
import { dayStartMs, daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { getOrAdd } from '../domain/get-or-add.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Vertical } from '../domain/vertical.ts';
import { decodeSubId, formatSubId } from '../ids/sub-id.ts';
import type { LedgerSubscriber } from '../ledger/ledger.ts';
import {
  type LedgerRecord,
  ledgerRecordKind,
  type SessionCreatedRecord,
  widgetIdLength,
} from '../ledger/ledger-record.ts';
import { type IdempotencyDigests, parseIdempotencyDigests } from './idempotency-keys.ts';
import type { SessionStore } from './session-store.ts';

interface SessionRecoveryOptions {
  readonly clock: Clock;
  readonly sessions: SessionStore;
  readonly sessionTtlMs: number;
  readonly verticals: readonly Vertical[];
  /** Called for each live session that was created with an Idempotency-Key; `sub` is the sub_id in 32 bytes. */
  readonly onIdempotentSession: (digests: IdempotencyDigests, sub: Uint8Array) => void;
}

/**
 * Restores live sessions after a restart. Sessions, Idempotency-Keys and widget usage are restored from the ledger, and the pocket fields
 * of sessions from the journal. Also counts the sessions that each API key created today, and on later days while the clock was
 * ahead (docs/contract.md#sessions-per-day).
 */
export class SessionRecovery implements LedgerSubscriber {
  /** Number of sessions created today or later, by UTC day and API key number; complete once all ledger records are applied. */
  readonly sessionCountsByDay = new Map<number, Map<number, number>>();
  readonly #today: number;
  readonly #options: SessionRecoveryOptions;
  readonly #nowMs: number;
  readonly #tenants = new Map<string, Tenant>();

  constructor(options: SessionRecoveryOptions) {
    this.#options = options;
    this.#nowMs = options.clock.wallMs();
    this.#today = daysSinceEpoch(this.#nowMs);
  }

  /** Unix time in milliseconds from which ledger records are replayed, with a margin for a wall clock that was set back. */
  get replayStartTimeMs(): number {
    const oldestLiveMs = this.#nowMs - this.#options.sessionTtlMs;
    return Math.min(dayStartMs(this.#today), oldestLiveMs) - bounds.clockSetBackMsMax;
  }

  applyLedgerRecord(record: LedgerRecord): void {
    switch (record[0]) {
      case ledgerRecordKind.sessionCreated:
        this.#applySessionCreated(record);
        break;
      case ledgerRecordKind.offersViewed: {
        const [, , sub, , , load] = record;
        if (load !== undefined) this.#findSession(sub)?.widgetUsage.markViewCounted(load);
        break;
      }
      case ledgerRecordKind.widgetEventsReported: {
        const [, , sub, , digests] = record;
        this.#restoreUsedEventIds(sub, digests);
        break;
      }
    }
  }

  /** Applies field changes from the journal. Call this method after all records of the ledger are applied. */
  applyFieldChanges(sub: Uint8Array, changes: readonly number[]): void {
    this.#findSession(sub)?.mergeFields(changes);
  }

  #applySessionCreated([, createdMs, sub, , keyNumber, , , key, payload]: SessionCreatedRecord): void {
    const day = daysSinceEpoch(createdMs);
    if (day >= this.#today) {
      const counts = this.sessionCountsByDay.get(day) ?? new Map<number, number>();
      this.sessionCountsByDay.set(day, counts.set(keyNumber, (counts.get(keyNumber) ?? 0) + 1));
    }
    if (this.#nowMs >= createdMs + this.#options.sessionTtlMs) return;
    const { account, vertical, mode } = decodeSubId(sub);
    const tenant = this.#reuseTenant(account, vertical, mode);
    if (tenant === null) return;
    const { sessions, onIdempotentSession } = this.#options;
    // If the maximum number of sessions was reduced since the last start, the store may be full, and the newest sessions are not restored.
    if (sessions.tryMakeRoom()) sessions.add(formatSubId(sub), tenant);
    const digests = parseIdempotencyDigests(key, payload);
    if (digests !== null) onIdempotentSession(digests, sub);
  }

  #restoreUsedEventIds(sub: Uint8Array, digests: Uint8Array): void {
    const usage = this.#findSession(sub)?.widgetUsage;
    if (usage === undefined) return;
    for (let start = 0; start < digests.length; start += widgetIdLength) {
      usage.tryRememberEvent(digests.subarray(start, start + widgetIdLength));
    }
  }

  #findSession(sub: Uint8Array) {
    return this.#options.sessions.get(formatSubId(sub));
  }

  /** Returns the `Tenant` object that all restored sessions of a tenant share, or null if the vertical is no longer served. */
  #reuseTenant(account: number, verticalNumber: number, mode: ApiKeyMode): Tenant | null {
    const vertical = this.#options.verticals.find(({ number }) => number === verticalNumber);
    if (vertical === undefined) return null;
    return getOrAdd(this.#tenants, `${account} ${verticalNumber} ${mode}`, () => ({ account, vertical, mode }));
  }
}
