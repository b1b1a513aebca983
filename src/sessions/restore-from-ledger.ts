import { dayOf } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import type { Mode } from '../domain/mode.ts';
import { recordKind } from '../events/ledger-record.ts';
import { merge, noPocketFields } from '../verticals/pocket-vector.ts';
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
  /** Called for each live session that was created with an Idempotency-Key. */
  readonly onKeyedSession: (session: KeyedSession) => void;
}

/** A session as a repeat of its first request must be answered. */
export interface KeyedSession {
  readonly subId: string;
  readonly tenant: Tenant;
  readonly createdMs: number;
  readonly referrerTag: string;
  readonly keyed: KeyedRequestDigests;
}

/**
 * Reads back what must survive a restart: from the ledger's records the sessions still live, with the Idempotency-Keys they
 * were created with, and how many each key has created today (D13); then from the journal's merges their pocket fields.
 * Feed it every record, then take `sessionsToday`.
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

  /** A record as decoded from the ledger; its shape is checked here, since a file may hold anything. */
  visit(record: unknown): void {
    if (!Array.isArray(record) || record[0] !== recordKind.sessionCreated) return;
    const [, createdMs, sub, referrerTag, keyNumber, , , key, payload] = record as unknown[];
    if (typeof createdMs !== 'number' || typeof keyNumber !== 'number') return;
    if (!(sub instanceof Uint8Array) || sub.length !== subIdBytes) return;
    if (dayOf(createdMs) === this.today) {
      this.sessionsToday.set(keyNumber, (this.sessionsToday.get(keyNumber) ?? 0) + 1);
    }
    if (this.#nowMs >= createdMs + this.#options.sessionTtlMs) return;
    const { account, vertical, mode } = decodeSubId(sub);
    const tenant = this.#tenant(account, vertical, mode);
    if (tenant === null) return;
    const subId = subIdText(sub);
    const { sessions, onKeyedSession } = this.#options;
    // A store that has become smaller keeps the older sessions.
    sessions.add(subId, { tenant, createdMs, fields: noPocketFields(tenant.vertical), ranked: null });
    const keyed = parseKeyedRequest(key, payload);
    if (keyed !== null && typeof referrerTag === 'string') {
      onKeyedSession({ subId, tenant, createdMs, referrerTag, keyed });
    }
  }

  /** A merge as the journal kept it; after the ledger's records, which bring its session. */
  visitMerge(sub: Uint8Array, changes: readonly number[]): void {
    const session = this.#options.sessions.get(subIdText(sub));
    if (session !== undefined) session.fields = merge(session.fields, changes);
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
