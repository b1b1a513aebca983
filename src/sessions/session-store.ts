import type { Ranking, UnavailableOffers } from '../matching/matcher.ts';
import type { FieldVector } from '../verticals/field-vector.ts';
import type { Tenant } from '../verticals/tenant.ts';
import type { WidgetUsage } from './widget-usage.ts';

/**
 * A live session (docs/contract.md#sessions): what the service must remember between two calls. Account, vertical, mode and
 * creation time are in the sub_id too, tag and metadata in the ledger; millions of sessions are held, so nothing else is kept
 * here.
 *
 * live --(four hours after createdMs)--> expired. There is no other transition, and expiry is judged by the clock alone:
 * an expired session may still lie in the store, and one absent from it is not thereby expired.
 *
 * Whoever holds one across an `await` may find that the store has dropped it: then it has no fields and no ranking, and takes
 * none.
 */
export interface Session {
  /** One object shared by all sessions of a key. */
  readonly tenant: Tenant;
  readonly createdMs: number;
  /** The borrower as it is now; a copy, which no later merge changes. */
  readonly fields: Readonly<FieldVector>;
  /** How often fields were merged: another borrower, another revision. */
  readonly revision: number;
  /** The ranking of the fields as they are now, or null before the first one and after every merge. */
  readonly cachedRanking: CachedRanking | null;
  /** What it remembers of its widgets, from the first time it is asked for: most sessions have none. */
  readonly widgetUsage: WidgetUsage;
  /**
   * Writes the changes (position, value, position, value) over the fields, which drops the ranking. The fields as they are then, or
   * null when the store has dropped the session.
   */
  mergeFields(changes: readonly number[]): Readonly<FieldVector> | null;
  /** Keeps a ranking, unless it is of another revision than the present one. */
  cacheRanking(ranked: CachedRanking, revision: number): void;
}

export interface CachedRanking {
  readonly ranking: Ranking;
  /** The compact date ages were reckoned on: tomorrow a borrower may have come of age. */
  readonly rankedOn: number;
  /** The offers that were closed when `ranking.total` was counted: with another set it is counted again (docs/contract.md#daily-caps). */
  readonly unavailableOffers: UnavailableOffers;
  /** The borrower's credit band, as its index: with the catalog's version all that the worth of a click depends on. */
  readonly creditBand: number;
  /** Those two, sealed: what the click URLs of this ranking carry as `v` (docs/contract.md#click-urls). */
  readonly clickToken: string;
}

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
