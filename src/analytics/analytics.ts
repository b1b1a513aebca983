import type { Mode } from '../domain/mode.ts';

/**
 * The analytics port: figures by cohort (D12). An answer counts every record appended to the log before the question was
 * asked, so a caller who reads after writing sees what it wrote.
 */
export interface Analytics {
  /** Rejects with `AnalyticsUnavailable` when the aggregator is gone or too many questions wait. */
  summary(query: SummaryQuery): Promise<SummaryFigures>;
  /** The last record of the log that is in the counters. */
  readonly foldedPosition: number;
  readonly healthy: boolean;
  close(): Promise<void>;
}

export class AnalyticsUnavailable extends Error {
  override readonly name = 'AnalyticsUnavailable';
}

/** Whose sessions, which of them, and over which days. At least one of `referrerTag` and `subs` is given; both: their intersection. */
export interface SummaryQuery {
  readonly account: number;
  readonly vertical: number;
  readonly mode: Mode;
  readonly referrerTag: string | null;
  /** The caller's own, genuine ids as their 32 bytes, without repeats; null for all. */
  readonly subs: readonly Uint8Array[] | null;
  /** First and last day of the cohort window, inclusive (day numbers, UTC). */
  readonly fromDay: number;
  readonly toDay: number;
  /** Today's day number: decides which sessions are matured (older than 45 days). */
  readonly today: number;
}

/** Money in micro-dollars, unrounded; ratios are the asker's business. */
export interface Figures {
  readonly sessions: number;
  readonly views: number;
  /** Unique (session, offer) clicks on offers shown. */
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
}

export interface SummaryFigures extends Figures {
  /** Lenders with a click, by clicks descending, then name; at most 20. */
  readonly topLenders: readonly {
    readonly lender: string;
    readonly clicks: number;
    readonly confirmedMicros: number;
  }[];
  /** Only devices that occur, by their class number. */
  readonly byDevice: readonly (Figures & { readonly device: number })[];
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
