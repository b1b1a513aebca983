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
