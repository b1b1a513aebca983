import type { FieldVector } from '../domain/field-vector.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Ranking } from '../matching/matcher.ts';
import type { WidgetUsage } from './widget-usage.ts';

/**
 * A live session (docs/contract.md#sessions). The store has millions of sessions, so a session contains only data that later requests need;
 * the referrer tag and the metadata are only in the ledger.
 *
 * A session expires `sessionTtlMs` after `createdMs`. Callers must check the time, because the store may still contain an expired session.
 *
 * The store may delete a session while code that uses the session awaits a promise. A deleted session has no fields and no ranking, and
 * ignores changes.
 */
export interface Session {
  /** Tenant of the session, an object that many sessions share. */
  readonly tenant: Tenant;
  readonly createdMs: number;
  /** Copy of the current pocket fields. */
  readonly pocketFields: Readonly<FieldVector>;
  /** Revision of the pocket fields: number of calls of `mergeFields`. */
  readonly fieldsRevision: number;
  /** Ranking for the current pocket fields, or null if there is no ranking for these fields. */
  readonly cachedRanking: CachedRanking | null;
  /** Widget usage, which is created on first access, because most sessions have no widget. */
  readonly widgetUsage: WidgetUsage;
  /**
   * Merges field changes (index, value, index, value, ...) into the pocket fields and drops the cached ranking. Returns the new fields, or
   * null if the store has deleted the session.
   */
  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null;
  /** Caches a ranking that was computed when `fieldsRevision` was `revision`. Ignores the ranking if `fieldsRevision` has changed. */
  cacheRanking(ranked: CachedRanking, revision: number): void;
}

export interface CachedRanking {
  readonly ranking: Ranking;
  /** Compact date (YYYYMMDD) for which the borrower's age was computed. */
  readonly rankedOn: number;
  /**
   * `setNumber` of the offers that were unavailable when the ranking was computed. An `availableOnly` ranking is valid only for the same
   * set of unavailable offers.
   */
  readonly unavailableSet: number;
  /** Index of the borrower's credit band in the list of credit bands. The revenue of a click depends on the credit band. */
  readonly creditBand: number;
  /** Encrypted credit band and catalog version. Value of the parameter `v` in click URLs (docs/contract.md#click-urls). */
  readonly clickToken: string;
}

/** Store of the live sessions. A full store rejects new sessions, and never drops a live session to make room. */
export interface SessionStore {
  /** Finds a session. The session may have expired. `subId` may be any text. */
  get(subId: string): Session | undefined;
  /** Deletes a few expired sessions if the store is full. Returns whether the store has room for another session. */
  tryMakeRoom(): boolean;
  /**
   * Adds a session without pocket fields, unless the store already contains the session. The creation time is part of the sub_id. Call
   * `tryMakeRoom` before. Throws a TypeError for an invalid sub_id, and a RangeError if the store is full.
   */
  add(subId: string, tenant: Tenant): void;
  /** Number of sessions, including expired sessions that are not deleted yet. */
  readonly size: number;
  /** Stops the deletion of expired sessions. */
  close(): void;
}
