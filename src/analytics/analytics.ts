import type { CancelSignal } from '../domain/async.ts';
import type { Mode } from '../domain/mode.ts';

/**
 * Port to the analytics figures, by cohort (docs/contract.md#cohorts). A result includes every record appended before the query,
 * so that callers read their own writes.
 *
 * Queries reject with `AnalyticsUnavailableError` if the aggregator is not running, too many queries are waiting, the query times out,
 * or its signal ends before it is executed.
 */
export interface Analytics {
  getSummary(query: SummaryQuery, signal?: CancelSignal | null): Promise<SummaryResult>;
  /** Returns one entry per day of the window, ascending. For a page, query only the days of the page. */
  listDays(query: SummaryQuery, signal?: CancelSignal | null): Promise<DailyResult>;
  /** Returns a page of sessions in ledger order. */
  listRows(query: RowsQuery, signal?: CancelSignal | null): Promise<RowsPage>;
  /** Position of the last ledger record that is included in the figures. */
  readonly projectedPosition: number;
  readonly healthy: boolean;
  close(): Promise<void>;
}

export class AnalyticsUnavailableError extends Error {
  override readonly name = 'AnalyticsUnavailableError';
}

/** Selects sessions of one tenant. At least one of `referrerTag` and `subs` is not null; both select their intersection. */
export interface CohortFilter {
  readonly account: number;
  readonly vertical: number;
  readonly mode: Mode;
  readonly referrerTag: string | null;
  /** Verified sub_ids of the caller as their 32 bytes, without repeats; null for no filter. */
  readonly subs: readonly Uint8Array[] | null;
}

export interface CohortQuery extends CohortFilter {
  /** First and last day of the cohort window, inclusive (day numbers, UTC). */
  readonly fromDay: number;
  readonly toDay: number;
}

export interface SummaryQuery extends CohortQuery {
  /** Current day number. Sessions older than 45 days are matured. */
  readonly today: number;
  /** First cohort day of the matured figures, at or before `fromDay`; their last day is `toDay`. Default: `fromDay`. */
  readonly maturedFromDay?: number;
}

/** Selects up to `limit` sessions that were created after a ledger position. */
export interface RowsQuery extends CohortQuery {
  readonly afterPosition: number;
  readonly limit: number;
}

export interface CohortMetrics {
  readonly sessions: number;
  readonly views: number;
  /** Unique (session, offer) clicks on shown offers. */
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
}

/** Number of widget events by type, in the order of `widgetEventTypes` (docs/contract.md#widget-events). */
export type WidgetCounts = readonly number[];

export interface LenderMetrics {
  readonly lender: string;
  readonly clicks: number;
  readonly confirmedMicros: number;
}

interface RetentionCoverage {
  /**
   * First day (day number) with retained sessions; 0 when every session is retained. Rows and figures of listed sub_ids exclude
   * earlier sessions; figures of a tag include every day.
   */
  readonly retainedFromDay: number;
}

export interface DailyResult extends RetentionCoverage {
  /** One entry per day of the window, also for days without sessions. */
  readonly days: readonly DayMetrics[];
}

export interface DayMetrics extends CohortMetrics {
  /** Cohort day (day number). */
  readonly day: number;
  /** Whether the sessions of the day are older than 45 days. */
  readonly matured: boolean;
  readonly widgetEvents: WidgetCounts;
}

export interface SessionRow {
  /** The 32 bytes of the sub_id, which contain creation time and mode. */
  readonly sub: Uint8Array;
  readonly referrerTag: string;
  readonly device: number;
  /** The caller's metadata as JSON text, or null. */
  readonly metadata: string | null;
  readonly views: number;
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
  /** Wall time of the latest record that counted. */
  readonly lastEventMs: number;
  /** Lenders with a click, by clicks descending, then name. */
  readonly lenders: readonly LenderMetrics[];
}

export interface RowsPage extends RetentionCoverage {
  readonly rows: readonly SessionRow[];
  /** `afterPosition` of the next page; null if this is the last page. */
  readonly nextAfterPosition: number | null;
}

export interface SummaryResult extends CohortMetrics, RetentionCoverage {
  /** Lenders with a click, by clicks descending, then name; at most `bounds.topLendersMax`. */
  readonly topLenders: readonly LenderMetrics[];
  readonly widgetEvents: WidgetCounts;
  /** Device classes with a session, by class number. */
  readonly byDevice: readonly (CohortMetrics & { readonly device: number })[];
  readonly matured: {
    readonly sessions: number;
    readonly confirmedMicros: number;
    /** Sum of the squared confirmed USD per matured session, for the confidence interval. */
    readonly confirmedUsdSquared: number;
  };
  /** Number of `subs` that exist for this caller (and tag, if given) but were created outside the window. */
  readonly subsOutsideDates: number;
  /** Wall time of the last projected record; null when the ledger is empty. */
  readonly asOfMs: number | null;
}
