import type {
  Analytics,
  CohortMetrics,
  DailyResult,
  DayMetrics,
  RowsPage,
  RowsQuery,
  SummaryQuery,
  SummaryResult,
  WidgetCounts,
} from '../../src/analytics/analytics.ts';

/** As the aggregator answers them: a number for each type. */
export const noWidgetEvents: WidgetCounts = [0, 0, 0, 0, 0, 0, 0];

export const noFigures: CohortMetrics = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

/**
 * Answers every question with the figures it holds and remembers the last one: the rules of the operation show without
 * the lender confirmations and the 45 days that such figures take.
 */
export class CannedAnalytics implements Analytics {
  readonly projectedPosition = 0;
  readonly healthy = true;
  asked: SummaryQuery | null = null;
  askedForRows: RowsQuery | null = null;
  /** Thrown instead of an answer. */
  fault: Error | null = null;
  figures: SummaryResult = {
    ...noFigures,
    topLenders: [],
    widgetEvents: noWidgetEvents,
    byDevice: [],
    matured: { sessions: 0, confirmedMicros: 0, confirmedUsdSquared: 0 },
    subsOutsideDates: 0,
    retainedFromDay: 0,
    asOfMs: null,
  };

  days: readonly DayMetrics[] = [];
  keptFromDay = 0;
  page: RowsPage = { rows: [], retainedFromDay: 0, nextAfterPosition: null };

  async getSummary(query: SummaryQuery): Promise<SummaryResult> {
    this.asked = query;
    if (this.fault !== null) throw this.fault;
    return this.figures;
  }

  async listDays(query: SummaryQuery): Promise<DailyResult> {
    this.asked = query;
    if (this.fault !== null) throw this.fault;
    return { days: this.days, retainedFromDay: this.keptFromDay };
  }

  async listRows(query: RowsQuery): Promise<RowsPage> {
    this.askedForRows = query;
    if (this.fault !== null) throw this.fault;
    return this.page;
  }

  async close(): Promise<void> {}
}
