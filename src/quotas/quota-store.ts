import { OperatorError } from '../domain/operator-error.ts';

/** A value, or a promise of the value from a store on another machine. */
export type Answer<Value> = Value | Promise<Value>;

/**
 * Kinds of quotas: booked clicks of a day, booked revenue of a day and of a month, and whether a click of a day did not fit into the budget
 * (1 or 0, without a limit). Stores contain indexes of this list, so its order must never change.
 */
export const quotaKinds = ['day_clicks', 'day_micros', 'month_micros', 'day_refusal'] as const;
export type QuotaKind = (typeof quotaKinds)[number];

/** An amount that the shards share: a daily cap or a budget of an offer in one period. */
export interface Quota {
  /** Vertical and mode of the offer, see `encodeVerticalAndMode`. */
  readonly scope: number;
  readonly offerId: string;
  readonly kind: QuotaKind;
  /** Number of the UTC day or month. */
  readonly period: number;
}

/** Amounts in clicks or micro-dollars. `granted` is at least `used`. */
export interface GrantAmounts {
  /** Amount that the shard may book in the period. */
  readonly granted: number;
  /** Amount that the shard has booked, as of its last request. */
  readonly used: number;
}

export interface StoredGrant extends GrantAmounts {
  readonly quota: Quota;
}

/** Use of a quota by a shard. */
export interface ReportedUse {
  readonly quota: Quota;
  readonly shard: number;
  readonly used: number;
}

/**
 * Replaces the grant of a shard: sets `granted` and `used`, and then adds at least `need` to `granted` if the limit has room. So one request
 * reports use, returns a part of a grant, or takes more.
 */
export interface GrantRequest extends GrantAmounts {
  readonly quota: Quota;
  /** Number of the request, higher than the numbers of all earlier requests of the shard in this epoch. */
  readonly number: number;
  /** Amount that is needed in addition to `granted`; 0 if the request takes nothing. */
  readonly need: number;
  /** Limit of the quota in the catalog that the shard has activated. Ignored if `need` is 0. */
  readonly limit: number;
}

/**
 * Result of a request. `exhausted`: the use of all shards and the needed amount exceed the limit, so the quota has no room for this amount.
 * `contended`: other shards may have an unused rest, and were asked to return it; or a shard has not yet declared its use. `outdated`: a
 * later request of the shard was applied first, or the shard has a later epoch; the request had no effect.
 */
export type GrantOutcome = 'settled' | 'granted' | 'exhausted' | 'contended' | 'outdated';

export interface CatalogActivation {
  /** Vertical and mode of the catalog. */
  readonly scope: number;
  readonly version: string;
  /** As in `GrantRequest`. */
  readonly number: number;
}

/** Recorded clicks of one day: the day number, and the number of clicks in each time slot of `clickDistributionSlotMs`. */
export type ClickCountsOfDay = readonly [day: number, counts: readonly number[]];

export interface StoredClickCounts {
  readonly shard: number;
  readonly scope: number;
  readonly days: readonly ClickCountsOfDay[];
}

export interface GrantReply {
  readonly request: GrantRequest;
  readonly outcome: GrantOutcome;
  /** Amount granted to the shard after the request. */
  readonly granted: number;
}

/** Error for a store that cannot be read or written. The message is one line. A call that throws the error may have had its effect. */
export class QuotaStoreUnavailableError extends OperatorError {
  override readonly name = 'QuotaStoreUnavailableError';
  /** Whether another process locked the store, so that the next call may succeed. */
  readonly isBusy: boolean;

  constructor(message: string, { isBusy = false, ...options }: ErrorOptions & { readonly isBusy?: boolean } = {}) {
    super(message, options);
    this.isBusy = isBusy;
  }
}

/**
 * Port of the store through which the shards share daily caps and budgets (docs/contributing/decisions/shared-limits.md). Each method is one
 * atomic operation on the whole store. All methods throw `QuotaStoreUnavailableError`, or reject with it.
 */
export interface QuotaStore {
  /**
   * Starts a new epoch of a shard, and returns the epoch and the grants of the shard. Requests of earlier epochs have no effect after this
   * call, even if they arrive late. Also withdraws the requests to return an unused rest.
   */
  startEpoch(shard: number): Answer<{ readonly epoch: number; readonly grants: readonly StoredGrant[] }>;
  /**
   * Applies the requests of a shard in order, by the rule `settleGrant`, and returns one reply for each request. The sum of the grants of a
   * quota must be read and changed atomically. When the call returns, the grants survive a power failure.
   */
  settle(shard: number, epoch: number, requests: readonly GrantRequest[]): Answer<readonly GrantReply[]>;
  /**
   * Stores that a shard has activated a catalog, and has declared its use of the limits in the catalog. Has no effect in a later epoch, or
   * after an activation with a higher number.
   */
  markCatalogActive(shard: number, epoch: number, activation: CatalogActivation): Answer<void>;
  /** Lists the quotas whose unused rest other shards need. A quota leaves the list when
   * the shard has no unused rest. */
  listContended(shard: number): Answer<readonly Quota[]>;
  /** Returns the use of all shards that changed after the change `since`, and the number of the last change. 0 returns everything. */
  readUse(since: number): Answer<{ readonly lastChange: number; readonly uses: readonly ReportedUse[] }>;
  /** Replaces the click counts of a shard for a vertical and mode. Has no effect in a later epoch. */
  writeClickCounts(shard: number, epoch: number, scope: number, days: readonly ClickCountsOfDay[]): Answer<void>;
  /** Returns the click counts of all shards. */
  readClickCounts(): Answer<readonly StoredClickCounts[]>;
  close(): Answer<void>;
}
