import type {
  Analytics,
  CohortMetrics,
  DailyAnalyticsResult,
  DayMetrics,
  DefinitionCheck,
  ExperimentsPage,
  OffersPage,
  OffersQuery,
  SessionRowsPage,
  SessionRowsQuery,
  SummaryQuery,
  SummaryResult,
  TagsPage,
  TagsQuery,
  UnbookedClickCounts,
  WidgetCounts,
} from '../../src/analytics/analytics.ts';

/** Counts of widget events in the order of `WidgetCounts`, all zero. */
export const noWidgetEvents: WidgetCounts = [0, 0, 0, 0, 0, 0, 0];

/** Counts of clicks without revenue in the order of `UnbookedClickCounts`, all zero. */
export const noUnbookedClicks: UnbookedClickCounts = [0, 0, 0, 0];

export const noFigures: CohortMetrics = { sessions: 0, views: 0, clicks: 0, attributedMicros: 0, confirmedMicros: 0 };

/** Returns preset figures and records the last query. Tests need no ledger with confirmations and old sessions. */
export class CannedAnalytics implements Analytics {
  readonly appliedPosition = 0;
  readonly healthy = true;
  lastQuery: SummaryQuery | null = null;
  lastRowsQuery: SessionRowsQuery | null = null;
  /** Error that every query throws, or null. */
  error: Error | null = null;
  figures: SummaryResult = {
    ...noFigures,
    topLenders: [],
    unbookedClicks: noUnbookedClicks,
    widgetEvents: noWidgetEvents,
    byDevice: [],
    matured: { sessions: 0, sessionsWithRevenue: 0, confirmedMicros: 0, confirmedUsdSquared: 0 },
    subsOutsideDates: 0,
    retainedFromDay: 0,
    tagHasSessions: true,
    asOfMs: null,
  };

  days: readonly DayMetrics[] = [];
  retainedFromDay = 0;
  tagHasSessions = true;
  page: SessionRowsPage = { rows: [], retainedFromDay: 0, tagHasSessions: true, nextAfterPosition: null };
  lastOffersQuery: OffersQuery | null = null;
  offers: OffersPage = {
    offers: [],
    retainedFromDay: 0,
    tagHasSessions: true,
    offersFromDay: 0,
    nextAfterOfferId: null,
  };

  lastTagsQuery: TagsQuery | null = null;
  tags: TagsPage = { tags: [], nextAfterTag: null };

  setTagHasSessions(tagHasSessions: boolean): void {
    this.tagHasSessions = tagHasSessions;
    this.figures = { ...this.figures, tagHasSessions };
    this.page = { ...this.page, tagHasSessions };
  }

  async getSummary(query: SummaryQuery): Promise<SummaryResult> {
    this.lastQuery = query;
    if (this.error !== null) throw this.error;
    return this.figures;
  }

  async listDailyAnalytics(query: SummaryQuery): Promise<DailyAnalyticsResult> {
    this.lastQuery = query;
    if (this.error !== null) throw this.error;
    return { days: this.days, retainedFromDay: this.retainedFromDay, tagHasSessions: this.tagHasSessions };
  }

  async listSessions(query: SessionRowsQuery): Promise<SessionRowsPage> {
    this.lastRowsQuery = query;
    if (this.error !== null) throw this.error;
    return this.page;
  }

  async listOffers(query: OffersQuery): Promise<OffersPage> {
    this.lastOffersQuery = query;
    if (this.error !== null) throw this.error;
    return this.offers;
  }

  async listOfferTotals(): Promise<never> {
    throw new Error('no preset figures');
  }

  async listTags(query: TagsQuery): Promise<TagsPage> {
    this.lastTagsQuery = query;
    if (this.error !== null) throw this.error;
    return this.tags;
  }

  async findExperiment(): Promise<null> {
    return null;
  }

  async checkDefinition(): Promise<DefinitionCheck> {
    return { experiment: null, hasSessions: false, experimentCount: 0, isTagInUse: false };
  }

  async getExperimentResults(): Promise<null> {
    return null;
  }

  async listExperimentUnits(): Promise<null> {
    return null;
  }

  async listExperiments(): Promise<ExperimentsPage> {
    return { experiments: [], nextAfterName: null };
  }

  async close(): Promise<void> {}
}
