import { bounds } from '../bounds.ts';
import type { Clock } from '../domain/clock.ts';
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
 * of sessions from the journal. If a snapshot has restored them, applying a record a second time has no effect.
 */
export class SessionRecovery implements LedgerSubscriber {
  /** Whether a snapshot has restored the sessions and the Idempotency-Keys, so that only later records are needed. */
  isRestored = false;
  readonly #options: SessionRecoveryOptions;
  readonly #nowMs: number;

  constructor(options: SessionRecoveryOptions) {
    this.#options = options;
    this.#nowMs = options.clock.wallMs();
  }

  /** Unix time in milliseconds from which ledger records are replayed, with a margin for a wall clock that was set back. */
  get replayStartTimeMs(): number {
    if (this.isRestored) return Number.POSITIVE_INFINITY;
    return this.#nowMs - this.#options.sessionTtlMs - bounds.clockSetBackMsMax;
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

  #applySessionCreated([, createdMs, sub, , , , , key, payload]: SessionCreatedRecord): void {
    if (this.#nowMs >= createdMs + this.#options.sessionTtlMs) return;
    const { sessions, verticals, onIdempotentSession } = this.#options;
    const { vertical } = decodeSubId(sub);
    if (!verticals.some(({ number }) => number === vertical)) return;
    const subId = formatSubId(sub);
    if (sessions.get(subId) === undefined) {
      // If the maximum number of sessions was reduced since the last start, the store may be full, and the newest sessions are not restored.
      if (sessions.tryMakeRoom()) sessions.add(subId);
      else sessions.noteMissingSession(createdMs);
    }
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
}
