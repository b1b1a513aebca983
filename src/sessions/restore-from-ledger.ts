import { bounds } from '../bounds.ts';
import { dayOf, dayStartMs } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { recordKind } from '../events/ledger-record.ts';
import { noPocketFields } from '../verticals/pocket-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { Vertical } from '../verticals/vertical.ts';
import type { SessionStore } from './session-store.ts';
import { decodeSubId, subIdBytes, subIdText } from './sub-id.ts';

export interface RestoreOptions {
  readonly clock: Clock;
  readonly sessions: SessionStore;
  readonly sessionTtlMs: number;
  readonly verticals: readonly Vertical[];
}

/**
 * Reads back, from the ledger's records, what must survive a restart: the sessions still live, without their pocket
 * fields, and how many each key has created today (D13). Feed it every record since `neededSinceMs`, then take
 * `sessionsToday`.
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
    if (!Array.isArray(record) || record[0] !== recordKind.sessionCreated) return;
    const [, createdMs, sub, , keyNumber] = record as unknown[];
    if (typeof createdMs !== 'number' || typeof keyNumber !== 'number') return;
    if (!(sub instanceof Uint8Array) || sub.length !== subIdBytes) return;
    if (dayOf(createdMs) === this.today) {
      this.sessionsToday.set(keyNumber, (this.sessionsToday.get(keyNumber) ?? 0) + 1);
    }
    if (this.#nowMs < createdMs + this.#options.sessionTtlMs) this.#restoreSession(createdMs, sub);
  }

  #restoreSession(createdMs: number, sub: Uint8Array): void {
    const { account, vertical, mode } = decodeSubId(sub);
    const tenant = this.#tenant(account, vertical, mode);
    const { sessions } = this.#options;
    if (tenant === null || !sessions.reserve()) return;
    sessions.add(subIdText(sub), { tenant, createdMs, fields: noPocketFields(tenant.vertical), ranked: null });
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
