// Answers of the operations API that the operator console shows (docs/operations-api.md).

export interface TestClock {
  readonly now: string;
  readonly advanced_days: number;
}

/** Limits of a key. Null means the default limit in `GET /keys`, and no limit in `default_limits`. */
export interface KeyLimits {
  readonly requests_per_minute: number | null;
  readonly analytics_per_minute: number | null;
  readonly sessions_per_day: number | null;
}

export interface Status {
  readonly ready: boolean;
  readonly reasons: readonly string[];
  readonly version: string;
  readonly engine: string;
  readonly node: string;
  readonly now: string;
  readonly started_at: string;
  readonly uptime_seconds: number;
  readonly verticals: readonly string[];
  readonly sessions: { readonly live: number; readonly limit: number };
  readonly requests_in_flight: number;
  readonly keys: number;
  readonly matching: { readonly threads: number; readonly threads_ready: number; readonly pending: number };
  readonly ledger: {
    readonly healthy: boolean;
    readonly appended_position: number;
    readonly durable_position: number;
  };
  readonly journal: { readonly healthy: boolean };
  readonly analytics: { readonly healthy: boolean; readonly lag_records: number; readonly lag_seconds: number };
  readonly disk: { readonly free_bytes: number; readonly size_bytes: number } | null;
  readonly certificate: { readonly expires_in_seconds: number; readonly reload_failed: boolean } | null;
  readonly test_clock: TestClock | null;
  readonly default_limits: KeyLimits;
}

export interface LimitUse {
  readonly limit: number | null;
  readonly used: number;
}

export interface Key extends KeyLimits {
  readonly id: string;
  readonly account: string;
  readonly vertical: string;
  readonly mode: 'live' | 'test';
  readonly scope: 'full' | 'analytics';
  readonly state: 'active' | 'expired' | 'revoked';
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
  readonly usage: Readonly<Record<keyof KeyLimits, LimitUse>>;
}

/** A page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

export interface KeysPage extends Page<Key> {
  readonly uses_known_since: string;
}

export type CreatedKey = Omit<Key, 'usage' | 'last_used_at'> & { readonly key: string };

export interface Origin {
  readonly account: string;
  readonly origin: string;
}

export interface AuditEntry {
  readonly number: number;
  readonly time: string;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly action: string;
  readonly subject: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly hash: string;
}

/** Upload of one request with confirmations. Counts are null while it is in progress. */
export interface ConfirmationUploadEntry {
  readonly batch: string;
  readonly submitted_at: string;
  readonly completed_at: string | null;
  readonly actor: string;
  readonly actor_name: string | null;
  readonly rows: number | null;
  readonly outcome: 'processed' | 'refused' | 'failed' | null;
  readonly accepted: number | null;
  readonly repeated: number | null;
  readonly rejected: number | null;
  readonly unknown: number | null;
  readonly rejected_by_reason: Readonly<Record<string, number>> | null;
}

export type OfferState = 'shown' | 'outdated' | 'daily_cap' | 'budget' | 'paced';

export interface Catalog {
  readonly vertical: string;
  readonly mode: 'live' | 'test';
  readonly version: string;
  readonly file: string | null;
  readonly activated_at: string;
  readonly reload_failed: boolean;
  readonly reload_errors: readonly unknown[];
  readonly offers: Readonly<Record<'total' | OfferState, number>>;
}

export interface BudgetPeriod {
  readonly limit_usd: number;
  readonly spent_usd: number | null;
}

export interface OfferBudget {
  readonly pacing: 'asap' | 'even';
  readonly day: BudgetPeriod | null;
  readonly month: BudgetPeriod | null;
  readonly spent_today_usd: number | null;
  readonly spent_by_hour_usd: readonly number[] | null;
  readonly even_pacing: {
    readonly day_budget_usd: number;
    readonly target_usd: number;
    readonly target_by_hour_usd: readonly number[];
    readonly hidden_until: string | null;
  } | null;
}

export interface CatalogOffer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly state: OfferState;
  readonly reasons: readonly OfferState[];
  readonly daily_cap: { readonly limit: number; readonly used: number | null } | null;
  readonly budget: OfferBudget | null;
  readonly last_30_days: {
    readonly shown: number;
    readonly offer_clicks: number;
    readonly rev_attributed: number;
    readonly rev_confirmed: number;
  } | null;
}

export interface CatalogOffersPage extends Page<CatalogOffer> {
  readonly version: string;
  readonly from: string;
  readonly to: string;
}

/** Changed member of an offer. `before` or `after` is absent if the member is missing there, or if its value is too long. */
export interface ChangedMember {
  readonly name: string;
  readonly before?: unknown;
  readonly after?: unknown;
  readonly too_long?: true;
}

export interface ChangedOffer {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly members: readonly ChangedMember[];
}

export interface CatalogChangesPage extends Page<ChangedOffer> {
  readonly version: string;
  readonly activated_at: string;
  readonly previous_version: string | null;
  readonly replaced_at: string | null;
  readonly offers: Readonly<Record<ChangedOffer['change'], number>>;
  readonly catalog_members: readonly string[];
}
