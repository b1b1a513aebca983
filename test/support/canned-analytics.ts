import type {
  Analytics,
  DailyFigures,
  DayFigures,
  Figures,
  RowsPage,
  RowsQuery,
  SummaryFigures,
  SummaryQuery,
  WidgetCounts,
} from '../../src/analytics/analytics.ts';

/** As the aggregator answers them: a number for each type. */
export const noWidgetEvents: WidgetCounts = [0, 0, 0, 0, 0, 0, 0];

export const noFigures: Figures = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

/**
 * Answers every question with the figures it holds and remembers the last one: the rules of the operation show without
 * the lender confirmations and the 45 days that such figures take.
 */
export class CannedAnalytics implements Analytics {
  readonly foldedPosition = 0;
  readonly healthy = true;
  asked: SummaryQuery | null = null;
  askedForRows: RowsQuery | null = null;
  /** Thrown instead of an answer. */
  fault: Error | null = null;
  figures: SummaryFigures = {
    ...noFigures,
    topLenders: [],
    widgetEvents: noWidgetEvents,
    byDevice: [],
    matured: { sessions: 0, confirmedMicros: 0, confirmedUsdSquared: 0 },
    subsOutsideDates: 0,
    keptFromDay: 0,
    asOfMs: null,
  };

  days: readonly DayFigures[] = [];
  keptFromDay = 0;
  page: RowsPage = { rows: [], keptFromDay: 0, next: null };

  async summary(query: SummaryQuery): Promise<SummaryFigures> {
    this.asked = query;
    if (this.fault !== null) throw this.fault;
    return this.figures;
  }

  async daily(query: SummaryQuery): Promise<DailyFigures> {
    this.asked = query;
    if (this.fault !== null) throw this.fault;
    return { days: this.days, keptFromDay: this.keptFromDay };
  }

  async rows(query: RowsQuery): Promise<RowsPage> {
    this.askedForRows = query;
    if (this.fault !== null) throw this.fault;
    return this.page;
  }

  async close(): Promise<void> {}
}
