import type { Ranking, UnavailableOffers } from '../matching/matcher.ts';
import type { FieldVector } from '../verticals/field-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { WidgetUsage } from './widget-usage.ts';

/**
 * A live session (docs/contract.md#sessions). It contains only what later calls need, since the store has millions of sessions; tag and
 * metadata are in the ledger.
 *
 * live --(sessionTtlMs after createdMs)--> expired. Only the clock decides: the store may still contain an expired session.
 *
 * The store may delete a session during an `await`. Then its fields and ranking are empty and cannot be changed.
 */
export interface Session {
  /** All sessions of a key share this object. */
  readonly tenant: Tenant;
  readonly createdMs: number;
  /** A copy of the pocket fields. */
  readonly fields: Readonly<FieldVector>;
  /** Number of merges so far. */
  readonly revision: number;
  /** The ranking of the current fields, or null if they have not been ranked. */
  readonly cachedRanking: CachedRanking | null;
  /** Created on first access: most sessions have no widget. */
  readonly widgetUsage: WidgetUsage;
  /**
   * Merges changes (position, value, position, value, ...) into the fields and drops the ranking. Returns the new fields, or null
   * if the store has deleted the session.
   */
  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null;
  /** Caches the ranking of a revision, unless fields were merged since. */
  cacheRanking(ranked: CachedRanking, revision: number): void;
}

export interface CachedRanking {
  readonly ranking: Ranking;
  /** The compact date for which ages were computed. */
  readonly rankedOn: number;
  /** The unavailable offers when `ranking.total` was counted (docs/contract.md#daily-caps). */
  readonly unavailableOffers: UnavailableOffers;
  /** Index of the borrower's credit band. Click values depend on it and on the catalog version. */
  readonly creditBand: number;
  /** Both of them encrypted: the `v` of the click URLs (docs/contract.md#click-urls). */
  readonly clickToken: string;
}

/** The live sessions. A full store rejects new sessions; it never drops a live one. */
export interface SessionStore {
  /** Finds a session, which may have expired. Accepts any text. */
  get(subId: string): Session | undefined;
  /**
   * Adds a session without fields, unless the store has it. Its creation time is in the id. Returns false if the store is full.
   * Throws a TypeError for an invalid sub_id.
   */
  add(subId: string, tenant: Tenant): boolean;
  delete(subId: string): void;
  /** Number of sessions, including expired ones that are not yet deleted. */
  readonly size: number;
  close(): void;
}
