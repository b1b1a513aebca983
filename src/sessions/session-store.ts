import type { Session } from './session.ts';

/** The port of the live sessions. It never drops a live session silently: when full, it refuses a new one. */
export interface SessionStore {
  /** Undefined when it is not here; whether it is expired is the caller's question. */
  get(subId: string): Session | undefined;
  /** Puts a session in that is not here yet; false when the store is full (503). */
  add(subId: string, session: Session): boolean;
  delete(subId: string): void;
  /** Sessions held, expired ones not yet swept included. */
  readonly size: number;
  close(): void;
}
