import { bounds } from '../bounds.ts';
import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { decodeSubId, formatSubId, subIdByteLength } from '../ids/sub-id.ts';
import { ledgerRecordKind, widgetIdBytes } from '../ledger/ledger-record.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { type IdempotencyDigests, parseIdempotencyDigests } from './idempotency-keys.ts';
import type { SessionStore } from './session-store.ts';

interface SessionRecoveryOptions {
  readonly clock: Clock;
  readonly sessions: SessionStore;
  readonly sessionTtlMs: number;
  readonly verticals: readonly Vertical[];
  /** Called for each live session that was created with an Idempotency-Key; `sub` is the 32 bytes of its id. */
  readonly onIdempotentSession: (keyed: IdempotencyDigests, sub: Uint8Array) => void;
  /** Called for each recorded click, with the bytes of the session's id. */
  readonly onClick: (sub: Uint8Array) => void;
}

/**
 * Reads back what must survive a restart: from the ledger's records the sessions still live, with the Idempotency-Keys they
 * were created with and their widget counts, the sessions of each key today (docs/contract.md#sessions-per-day), and which sessions were
 * clicked; then from the journal's merges their pocket fields.
 * Feed it every record since `neededSinceMs`, then take `sessionCountsToday`.
 */
export class SessionRecovery {
  /** Key number to sessions created on `today`. */
  readonly sessionCountsToday = new Map<number, number>();
  readonly today: number;
  readonly #options: SessionRecoveryOptions;
  readonly #nowMs: number;
  readonly #tenants = new Map<string, Tenant>();

  constructor(options: SessionRecoveryOptions) {
    this.#options = options;
    this.#nowMs = options.clock.wallMs();
    this.today = dayOf(this.#nowMs);
  }

  /** Records from before this moment tell it nothing, even if the wall clock was set back a little meanwhile. */
  get replaySinceMs(): number {
    const oldestLiveMs = this.#nowMs - this.#options.sessionTtlMs;
    return Math.min(dayStartMs(this.today), oldestLiveMs) - bounds.clockSetBackMsMax;
  }

  /** A record as decoded from the ledger; its shape is checked here, since a file may hold anything. */
  applyRecord(record: unknown): void {
    if (!Array.isArray(record)) return;
    if (record[0] === ledgerRecordKind.sessionCreated) this.#applySessionCreated(record);
    else if (record[0] === ledgerRecordKind.offerClicked) this.#applyClick(record[2]);
    else if (record[0] === ledgerRecordKind.offersViewed && record[5] !== undefined)
      this.#applyWidgetRecord(record, record[5], null);
    else if (record[0] === ledgerRecordKind.widgetEventsReported) this.#applyWidgetRecord(record, record[3], record[4]);
  }

  #applySessionCreated(record: readonly unknown[]): void {
    const [, createdMs, sub, , keyNumber, , , key, payload] = record;
    if (typeof createdMs !== 'number' || typeof keyNumber !== 'number') return;
    if (!(sub instanceof Uint8Array) || sub.length !== subIdByteLength) return;
    if (dayOf(createdMs) === this.today) {
      this.sessionCountsToday.set(keyNumber, (this.sessionCountsToday.get(keyNumber) ?? 0) + 1);
    }
    if (this.#nowMs >= createdMs + this.#options.sessionTtlMs) return;
    const { account, vertical, mode } = decodeSubId(sub);
    const tenant = this.#internTenant(account, vertical, mode);
    if (tenant === null) return;
    const { sessions, onIdempotentSession } = this.#options;
    // A store that has become smaller keeps the older sessions.
    sessions.add(formatSubId(sub), tenant);
    const keyed = parseIdempotencyDigests(key, payload);
    if (keyed !== null) onIdempotentSession(keyed, sub);
  }

  #applyClick(sub: unknown): void {
    if (sub instanceof Uint8Array && sub.length === subIdByteLength) this.#options.onClick(sub);
  }

  /** What a widget has had counted: its view, or events by the digests of their ids, end to end. Of a live session only. */
  #applyWidgetRecord(record: readonly unknown[], load: unknown, digests: unknown): void {
    const sub = record[2];
    if (!(sub instanceof Uint8Array) || sub.length !== subIdByteLength) return;
    if (!(load instanceof Uint8Array) || load.length !== widgetIdBytes) return;
    const session = this.#options.sessions.get(formatSubId(sub));
    if (session === undefined) return;
    const use = session.widgetUsage;
    if (record[0] === ledgerRecordKind.offersViewed) use.markViewCounted(load);
    if (!(digests instanceof Uint8Array)) return;
    for (let at = 0; at + widgetIdBytes <= digests.length; at += widgetIdBytes) {
      use.claimEvent(digests.subarray(at, at + widgetIdBytes));
    }
  }

  /** A merge as the journal kept it; after the ledger's records, which bring its session. */
  applyMerge(sub: Uint8Array, changes: readonly number[]): void {
    this.#options.sessions.get(formatSubId(sub))?.mergeFields(changes);
  }

  /** One shared object for all sessions of a tenant; null for a vertical no longer served. */
  #internTenant(account: number, verticalNumber: number, mode: Mode): Tenant | null {
    const name = `${account} ${verticalNumber} ${mode}`;
    let tenant = this.#tenants.get(name);
    if (tenant === undefined) {
      const vertical = this.#options.verticals.find(({ number }) => number === verticalNumber);
      if (vertical === undefined) return null;
      tenant = { account, vertical, mode };
      this.#tenants.set(name, tenant);
    }
    return tenant;
  }
}
