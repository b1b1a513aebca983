import type { Tenant } from '../verticals/tenant.ts';
import type { Session } from './session.ts';

/** The port of the live sessions. It never drops a live session silently: when full, it refuses a new one. */
export interface SessionStore {
  /** Undefined when it is not here; whether it is expired is the caller's question. Any text may be asked for. */
  get(subId: string): Session | undefined;
  /**
   * Puts in a session without fields, unless it is here; the id, issued for it, tells when it was created. False when the store is
   * full (503). Throws a TypeError for what is no id.
   */
  add(subId: string, tenant: Tenant): boolean;
  delete(subId: string): void;
  /** Sessions held, expired ones not yet swept included. */
  readonly size: number;
  close(): void;
}
