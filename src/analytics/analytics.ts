import type { CancelSignal } from '../domain/async.ts';
import type { Mode } from '../domain/mode.ts';

/**
 * The analytics port: figures by cohort (docs/contract.md#cohorts). An answer counts every record appended before the question was
 * asked, so a caller who reads after writing sees what it wrote.
 */
export interface Analytics {
  /**
   * Every question rejects with `AnalyticsUnavailable` when the aggregator is gone, when too many questions wait, and when its
   * signal is over before the aggregator came to it.
   */
  getSummary(query: SummaryQuery, signal?: CancelSignal | null): Promise<SummaryResult>;
  /** One entry for each day of the window, ascending: ask for a window as long as the page to be shown. */
  listDays(query: SummaryQuery, signal?: CancelSignal | null): Promise<DailyResult>;
  /** Sessions in ledger order, a page at a time. */
  listRows(query: RowsQuery, signal?: CancelSignal | null): Promise<RowsPage>;
  /** The last record of the log that is in the counters. */
  readonly projectedPosition: number;
  readonly healthy: boolean;
  close(): Promise<void>;
}

export class AnalyticsUnavailable extends Error {
  override readonly name = 'AnalyticsUnavailable';
}

/** Whose sessions, and which of them. At least one of `referrerTag` and `subs` is given; both: their intersection. */
export interface CohortFilter {
  readonly account: number;
  readonly vertical: number;
  readonly mode: Mode;
  readonly referrerTag: string | null;
  /** The caller's own, genuine ids as their 32 bytes, without repeats; null for all. */
  readonly subs: readonly Uint8Array[] | null;
}

export interface CohortQuery extends CohortFilter {
  /** First and last day of the cohort window, inclusive (day numbers, UTC). */
  readonly fromDay: number;
  readonly toDay: number;
}

export interface SummaryQuery extends CohortQuery {
  /** Today's day number: decides which sessions are matured (older than 45 days). */
  readonly today: number;
  /** First cohort day of the matured figures, which may lie before `fromDay`; they end with `toDay`. Default: `fromDay`. */
  readonly maturedFromDay?: number;
}

/** The sessions of a `CohortQuery` whose records lie behind a position of the ledger, at most `limit` of them. */
export interface RowsQuery extends CohortQuery {
  readonly afterPosition: number;
  readonly limit: number;
}

/** Money in micro-dollars, unrounded; ratios are the asker's business. */
export interface CohortMetrics {
  readonly sessions: number;
  readonly views: number;
  /** Unique (session, offer) clicks on offers shown. */
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
}

/** How many events of each type widgets told (docs/contract.md#widget-events): one number a type, in the order of `widgetEventTypes`. */
export type WidgetCounts = readonly number[];

export interface LenderMetrics {
  readonly lender: string;
  readonly clicks: number;
  readonly confirmedMicros: number;
}

/** What an answer that may tell sessions apart knows of them. */
interface RetentionCoverage {
  /**
   * The first day (day number) whose sessions are kept; 0 when all are. Rows and figures of listed ids begin there; figures
   * of a tag are whole for every day.
   */
  readonly retainedFromDay: number;
}

export interface DailyResult extends RetentionCoverage {
  /** One for each day of the window, whether anything happened or not. */
  readonly days: readonly DayMetrics[];
}

export interface DayMetrics extends CohortMetrics {
  /** Day number of the cohort. */
  readonly day: number;
  /** Whether its sessions are older than 45 days. */
  readonly matured: boolean;
  readonly widgetEvents: WidgetCounts;
}

export interface SessionRow {
  /** The 32 bytes of its sub_id, which tell its creation time and its mode. */
  readonly sub: Uint8Array;
  readonly referrerTag: string;
  readonly device: number;
  /** JSON text of the caller's metadata, or null. */
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
  /** The `afterPosition` of the next page; null when there is none now. */
  readonly nextAfterPosition: number | null;
}

export interface SummaryResult extends CohortMetrics, RetentionCoverage {
  /** Lenders with a click, by clicks descending, then name; at most 20. */
  readonly topLenders: readonly LenderMetrics[];
  readonly widgetEvents: WidgetCounts;
  /** Only devices that occur, by their class number. */
  readonly byDevice: readonly (CohortMetrics & { readonly device: number })[];
  readonly matured: {
    readonly sessions: number;
    readonly confirmedMicros: number;
    /** Sum over matured sessions of (confirmed USD of the session) squared, for the confidence interval. */
    readonly confirmedUsdSquared: number;
  };
  /** How many of `subs` exist for this caller (and tag, if given) but were created outside the window. */
  readonly subsOutsideDates: number;
  /** Wall time of the last record the counters have followed, or null when the log is empty. */
  readonly asOfMs: number | null;
}
