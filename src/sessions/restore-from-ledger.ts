import { bounds } from '../bounds.ts';
import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { recordKind, widgetIdBytes } from '../events/ledger-record.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { Vertical } from '../verticals/vertical.ts';
import { type KeyedRequestDigests, parseKeyedRequest } from './idempotency-keys.ts';
import type { SessionStore } from './session-store.ts';
import { decodeSubId, subIdBytes, subIdText } from './sub-id.ts';

export interface RestoreOptions {
  readonly clock: Clock;
  readonly sessions: SessionStore;
  readonly sessionTtlMs: number;
  readonly verticals: readonly Vertical[];
  /** Called for each live session that was created with an Idempotency-Key; `sub` is the 32 bytes of its id. */
  readonly onKeyedSession: (keyed: KeyedRequestDigests, sub: Uint8Array) => void;
  /** Called for each recorded click, with the bytes of the session's id. */
  readonly onClick: (sub: Uint8Array) => void;
}

/**
 * Reads back what must survive a restart: from the ledger's records the sessions still live, with the Idempotency-Keys they
 * were created with and their widget counts, the sessions of each key today (docs/contract.md#sessions-per-day), and which sessions were
 * clicked; then from the journal's merges their pocket fields.
 * Feed it every record since `neededSinceMs`, then take `sessionsToday`.
 */
export class RestoreFromLedger {
  /** Key number to sessions created on `today`. */
  readonly sessionsToday = new Map<number, number>();
  readonly today: number;
  readonly #options: RestoreOptions;
  readonly #nowMs: number;
  readonly #tenants = new Map<string, Tenant>();

  constructor(options: RestoreOptions) {
    this.#options = options;
    this.#nowMs = options.clock.wallMs();
    this.today = dayOf(this.#nowMs);
  }

  /** Records from before this moment tell it nothing, even if the wall clock was set back a little meanwhile. */
  get neededSinceMs(): number {
    const oldestLiveMs = this.#nowMs - this.#options.sessionTtlMs;
    return Math.min(dayStartMs(this.today), oldestLiveMs) - bounds.clockSetBackMs;
  }

  /** A record as decoded from the ledger; its shape is checked here, since a file may hold anything. */
  visit(record: unknown): void {
    if (!Array.isArray(record)) return;
    if (record[0] === recordKind.sessionCreated) this.#visitCreated(record);
    else if (record[0] === recordKind.offerClicked) this.#visitClicked(record[2]);
    else if (record[0] === recordKind.offersViewed && record[5] !== undefined)
      this.#visitWidget(record, record[5], null);
    else if (record[0] === recordKind.widgetReported) this.#visitWidget(record, record[3], record[4]);
  }

  #visitCreated(record: readonly unknown[]): void {
    const [, createdMs, sub, , keyNumber, , , key, payload] = record;
    if (typeof createdMs !== 'number' || typeof keyNumber !== 'number') return;
    if (!(sub instanceof Uint8Array) || sub.length !== subIdBytes) return;
    if (dayOf(createdMs) === this.today) {
      this.sessionsToday.set(keyNumber, (this.sessionsToday.get(keyNumber) ?? 0) + 1);
    }
    if (this.#nowMs >= createdMs + this.#options.sessionTtlMs) return;
    const { account, vertical, mode } = decodeSubId(sub);
    const tenant = this.#tenant(account, vertical, mode);
    if (tenant === null) return;
    const { sessions, onKeyedSession } = this.#options;
    // A store that has become smaller keeps the older sessions.
    sessions.add(subIdText(sub), tenant);
    const keyed = parseKeyedRequest(key, payload);
    if (keyed !== null) onKeyedSession(keyed, sub);
  }

  #visitClicked(sub: unknown): void {
    if (sub instanceof Uint8Array && sub.length === subIdBytes) this.#options.onClick(sub);
  }

  /** What a widget has had counted: its view, or events by the digests of their ids, end to end. Of a live session only. */
  #visitWidget(record: readonly unknown[], load: unknown, digests: unknown): void {
    const sub = record[2];
    if (!(sub instanceof Uint8Array) || sub.length !== subIdBytes) return;
    if (!(load instanceof Uint8Array) || load.length !== widgetIdBytes) return;
    const session = this.#options.sessions.get(subIdText(sub));
    if (session === undefined) return;
    const use = session.widget;
    if (record[0] === recordKind.offersViewed) use.noteLoad(load);
    if (!(digests instanceof Uint8Array)) return;
    for (let at = 0; at + widgetIdBytes <= digests.length; at += widgetIdBytes) {
      use.takeEvent(digests.subarray(at, at + widgetIdBytes));
    }
  }

  /** A merge as the journal kept it; after the ledger's records, which bring its session. */
  visitMerge(sub: Uint8Array, changes: readonly number[]): void {
    this.#options.sessions.get(subIdText(sub))?.merge(changes);
  }

  /** One shared object for all sessions of a tenant; null for a vertical no longer served. */
  #tenant(account: number, verticalNumber: number, mode: Mode): Tenant | null {
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
