import type { Ranking, UnavailableOffers } from '../matching/matcher.ts';
import type { FieldVector } from '../verticals/field-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { WidgetUsage } from './widget-usage.ts';

/**
 * A live session (docs/contract.md#sessions). It contains only data that later calls need, because the store has millions of sessions. The
 * referrer tag and the metadata are in the ledger.
 *
 * live --(sessionTtlMs after createdMs)--> expired. Only the clock determines the state: the store may still contain an expired session.
 *
 * The store may delete a session during an `await`. The fields and the ranking of a deleted session are empty and cannot be changed.
 */
export interface Session {
  /** Tenant of the session. All sessions of an API key share this object. */
  readonly tenant: Tenant;
  readonly createdMs: number;
  /** Copy of the pocket fields. */
  readonly fields: Readonly<FieldVector>;
  /** Number of merges into the fields so far. */
  readonly revision: number;
  /** Ranking for the current fields, or null if no ranking was computed for them. */
  readonly cachedRanking: CachedRanking | null;
  /** Widget usage. Created on first access, because most sessions have no widget. */
  readonly widgetUsage: WidgetUsage;
  /**
   * Merges changes (position, value, position, value, ...) into the fields and drops the ranking. Returns the new fields, or null if the
   * store has deleted the session.
   */
  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null;
  /** Caches the ranking of a revision. Has no effect if fields were merged after that revision. */
  cacheRanking(ranked: CachedRanking, revision: number): void;
}

export interface CachedRanking {
  readonly ranking: Ranking;
  /** Compact date (YYYYMMDD) for which ages were computed. */
  readonly rankedOn: number;
  /** Unavailable offers at the time when `ranking.total` was counted (docs/contract.md#daily-caps). */
  readonly unavailableOffers: UnavailableOffers;
  /** Index of the borrower's credit band. Click values depend on it and on the catalog version. */
  readonly creditBand: number;
  /** Credit band and catalog version, encrypted: the parameter `v` of the click URLs (docs/contract.md#click-urls). */
  readonly clickToken: string;
}

/** Store of the live sessions. A full store rejects new sessions and never drops a live session. */
export interface SessionStore {
  /** Finds a session, which may have expired. `subId` may be any text. */
  get(subId: string): Session | undefined;
  /**
   * Adds a session without pocket fields, unless the store has the session. The id contains the creation time. Returns false if the store
   * is full. Throws a TypeError for an invalid sub_id.
   */
  add(subId: string, tenant: Tenant): boolean;
  delete(subId: string): void;
  /** Number of sessions, including expired sessions that are not deleted yet. */
  readonly size: number;
  close(): void;
}
