import type { CancelSignal } from '../domain/async.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { Experiment } from '../experiments/experiment.ts';
import type { ExperimentResults } from '../experiments/experiment-results.ts';
import type { UnitsPosition } from '../ids/cursors.ts';

/**
 * Query interface of the analytics (docs/contract.md#cohorts). A query result includes every ledger record that was appended before the
 * query, so a caller sees the effect of all its earlier requests.
 *
 * A query rejects with `AnalyticsUnavailableError` if the aggregator is not running, the queue is full, or the query times out. A query
 * also rejects if the caller cancels it through `signal` before it runs.
 */
export interface Analytics {
  getSummary(query: SummaryQuery, signal?: CancelSignal | null): Promise<SummaryResult>;
  /** Returns one entry for each day from `fromDay` to `toDay`, in ascending order. */
  listDailyAnalytics(query: SummaryQuery, signal?: CancelSignal | null): Promise<DailyAnalyticsResult>;
  /** Returns a page of sessions in ledger order, or the newest first. */
  listSessions(query: SessionRowsQuery, signal?: CancelSignal | null): Promise<SessionRowsPage>;
  /** Returns a page of the offers that were shown to the sessions of a referrer tag, in the alphabetical order of their ids. */
  listOffers(query: OffersQuery, signal?: CancelSignal | null): Promise<OffersPage>;
  /** Returns the figures of offers over all accounts, in the order of the query. */
  listOfferTotals(query: OfferTotalsQuery, signal?: CancelSignal | null): Promise<readonly OfferTotal[]>;
  /** Returns a page of referrer tags in alphabetical order, with the figures of all their days. */
  listTags(query: TagsQuery, signal?: CancelSignal | null): Promise<TagsPage>;
  /** Returns an experiment, also a deleted one; null if the tenant has none with the name. */
  findExperiment(query: ExperimentQuery, signal?: CancelSignal | null): Promise<Experiment | null>;
  /** Returns what decides whether an experiment can be defined with the arms of the query. */
  checkDefinition(query: DefinitionQuery, signal?: CancelSignal | null): Promise<DefinitionCheck>;
  /** Returns a page of experiments in alphabetical order, without the deleted ones. */
  listExperiments(query: ExperimentsQuery, signal?: CancelSignal | null): Promise<ExperimentsPage>;
  /** Returns the results of an experiment, also of a deleted one, or null if the tenant has no experiment with the name. */
  getExperimentResults(query: ExperimentResultsQuery, signal?: CancelSignal | null): Promise<ExperimentResults | null>;
  /** Returns a page of the units of an experiment, also of a deleted one, or null if the tenant has no experiment with the name. */
  listExperimentUnits(query: ExperimentUnitsQuery, signal?: CancelSignal | null): Promise<ExperimentUnitsPage | null>;
  /** Position of the last ledger record that is included in the figures. */
  readonly appliedPosition: number;
  readonly healthy: boolean;
  close(): Promise<void>;
}

export class AnalyticsUnavailableError extends Error {
  override readonly name = 'AnalyticsUnavailableError';
}

export interface AnalyticsTenant {
  readonly account: number;
  /** Number of the vertical. */
  readonly vertical: number;
  readonly mode: ApiKeyMode;
}

/**
 * Selects the sessions of one tenant that match the filters `referrerTag` and `subs`. Either `referrerTag` or `subs` can be null (no
 * filter).
 */
export interface CohortFilter extends AnalyticsTenant {
  readonly referrerTag: string | null;
  /** Verified sub_ids of the tenant, without duplicates; null for no filter. An array contains one or more sub_ids of 32 bytes. */
  readonly subs: readonly Uint8Array[] | null;
}

export interface CohortQuery extends CohortFilter {
  /** First and last day of the cohort window, inclusive, as day numbers (UTC). */
  readonly fromDay: number;
  readonly toDay: number;
}

export interface SummaryQuery extends CohortQuery {
  /** Day number of the current day (UTC). Sessions older than 45 days are matured (docs/contract.md#matured-figures). */
  readonly today: number;
  /** First cohort day of the figures in `matured`: `fromDay` (the default) or an earlier day. The last cohort day is `toDay`. */
  readonly maturedFromDay?: number;
}

/** Orders of sessions by their position in the ledger. */
export const sessionOrders = ['oldest', 'newest'] as const;
export type SessionOrder = (typeof sessionOrders)[number];

/** Selects up to `limit` sessions that follow the ledger position `afterPosition` in the order; all sessions follow position 0. */
export interface SessionRowsQuery extends CohortQuery {
  readonly order: SessionOrder;
  readonly afterPosition: number;
  readonly limit: number;
}

/** Selects up to `limit` offers whose ids follow `afterOfferId` in alphabetical order; all offers follow the empty text. */
export interface OffersQuery extends CohortQuery {
  readonly referrerTag: string;
  readonly subs: null;
  readonly afterOfferId: string;
  readonly limit: number;
}

/** Selects the sessions of all accounts of a vertical and mode that were created from `fromDay` to `toDay`, both inclusive (UTC). */
export interface OfferTotalsQuery extends Omit<AnalyticsTenant, 'account'> {
  readonly fromDay: number;
  readonly toDay: number;
  readonly offerIds: readonly string[];
}

/** Selects up to `limit` referrer tags that follow `afterTag` in alphabetical order; all tags follow the empty text. */
export interface TagsQuery extends AnalyticsTenant {
  readonly afterTag: string;
  readonly limit: number;
  /** Selects only tags with sessions on these days, with their daily figures. */
  readonly recent?: CohortDays;
}

/** First and last day, inclusive, as day numbers (UTC). */
export interface CohortDays {
  readonly fromDay: number;
  readonly toDay: number;
}

export interface ExperimentQuery extends AnalyticsTenant {
  readonly name: string;
}

export interface DefinitionQuery extends ExperimentQuery {
  /** Referrer tags of the arms of the new definition. */
  readonly tags: readonly string[];
  /** Day number of the current day (UTC). */
  readonly today: number;
}

export interface DefinitionCheck {
  /** The experiment as it is, also a deleted one; null if the tenant has none with the name. */
  readonly experiment: Experiment | null;
  /** Whether a session with the tag of one of its arms was created after the first definition of the experiment. */
  readonly hasSessions: boolean;
  /** Number of all experiments of the tenant, also of deleted ones. */
  readonly experimentCount: number;
  /** Whether another running experiment of the tenant, even if deleted, has an arm with one of the tags of the query. */
  readonly isTagInUse: boolean;
}

export interface ExperimentResultsQuery extends ExperimentQuery {
  /** Day number of the current day (UTC). */
  readonly today: number;
  /** Whether to include the member `series` in the results. */
  readonly withSeries: boolean;
  /** Whether a closing is going to store the results. Their sentences do not describe later looks. */
  readonly isLast: boolean;
  /**
   * `device` or a dimension, by which the member `breakdown` groups the results; null for results without this member. The member is also
   * missing if the experiment has no such dimension.
   */
  readonly groupBy: string | null;
}

/** Selects up to `limit` units that follow a position. */
export interface ExperimentUnitsQuery extends ExperimentQuery {
  /** Day number of the current day (UTC). */
  readonly today: number;
  /** Null for the first page, whose figures end with the last closed day. */
  readonly position: UnitsPosition | null;
  readonly limit: number;
}

/** Figures of one unit up to the last day of the query. */
export interface ExperimentUnit {
  /** Index in the arms of the definition. */
  readonly arm: number;
  readonly firstDay: number;
  readonly sessions: number;
  readonly clicks: number;
  readonly matureSessions: number;
  /** Frozen revenue of the mature sessions. */
  readonly revenueMicros: number;
}

export interface ExperimentUnitsPage {
  /** Referrer tags of the arms. */
  readonly arms: readonly string[];
  readonly asOf: number;
  readonly units: readonly ExperimentUnit[];
  /** First day whose sessions are retained; 0 if no sessions were deleted. */
  readonly retainedFromDay: number;
  /** Start of the next page; null on the last page. */
  readonly next: UnitsPosition | null;
}

/** Selects up to `limit` experiments that follow `afterName` in alphabetical order; all names follow the empty text. */
export interface ExperimentsQuery extends AnalyticsTenant {
  readonly afterName: string;
  readonly limit: number;
  /** Selects only experiments whose results could change on this day or later: neither closed nor final before. As a day number (UTC). */
  readonly currentSinceDay?: number;
}

export interface ExperimentsPage {
  readonly experiments: readonly Experiment[];
  /** Value of `afterName` for the next page; null for the last page. */
  readonly nextAfterName: string | null;
}

export interface CohortMetrics {
  readonly sessions: number;
  readonly views: number;
  /** Number of clicks on shown offers; repeated clicks of a session on the same offer count once. */
  readonly clicks: number;
  readonly attributedMicros: number;
  readonly confirmedMicros: number;
}

/** Number of widget events by type, in the order of `widgetEventTypes` (docs/contract.md#widget-events). */
export type WidgetCounts = readonly number[];

/** Number of clicks that booked no revenue by reason, in the order of `unbookedReasons` (docs/contract.md#clicks-that-are-not-booked). */
export type UnbookedClickCounts = readonly number[];

export interface LenderMetrics {
  readonly lender: string;
  readonly clicks: number;
  readonly confirmedMicros: number;
}

export interface QueryCoverage {
  /**
   * First day (day number) whose sessions are retained; 0 if all sessions are retained. Session rows and the figures of listed sub_ids
   * exclude sessions created before the first retained day. The figures of a referrer tag include all days.
   */
  readonly retainedFromDay: number;
  /** False if no session of the tenant ever had the tag of the query. */
  readonly tagHasSessions: boolean;
}

export interface DailyAnalyticsResult extends QueryCoverage {
  readonly days: readonly DayMetrics[];
}

export interface DayMetrics extends CohortMetrics {
  /** UTC day on which the sessions were created, as a day number. */
  readonly day: number;
  /** Whether the sessions of the day are older than 45 days. */
  readonly matured: boolean;
  readonly unbookedClicks: UnbookedClickCounts;
  readonly widgetEvents: WidgetCounts;
}

export interface SessionRow extends Omit<CohortMetrics, 'sessions'> {
  /** The 32 bytes of the session's sub_id, which contain creation time and mode. */
  readonly sub: Uint8Array;
  readonly referrerTag: string;
  readonly device: number;
  /** Metadata of the session as JSON text, or null. */
  readonly metadata: string | null;
  /** Wall time of the session's latest counted record, in Unix milliseconds. */
  readonly lastEventMs: number;
  /** Lenders with at least one click, sorted by clicks descending, then by name. */
  readonly lenders: readonly LenderMetrics[];
}

export interface SessionRowsPage extends QueryCoverage {
  readonly rows: readonly SessionRow[];
  /** Value of `afterPosition` for the next page; null for the last page. */
  readonly nextAfterPosition: number | null;
}

/** Figures of one offer that was shown to the sessions of a referrer tag (docs/contract.md#offers). */
export interface OfferMetrics extends Pick<CohortMetrics, 'clicks' | 'attributedMicros' | 'confirmedMicros'> {
  readonly offerId: string;
  /** Name of the lender at the last click; null without a click. */
  readonly lender: string | null;
  /** How often the offer was shown at each of `bounds.offerPositionsMax` positions. The last one includes all later positions. */
  readonly shownByPosition: readonly number[];
}

/** Figures of one offer over all accounts. All counts are 0 for an offer that was never shown. */
export interface OfferTotal extends Pick<CohortMetrics, 'clicks' | 'attributedMicros' | 'confirmedMicros'> {
  readonly offerId: string;
  readonly shown: number;
}

export interface OffersPage extends QueryCoverage {
  readonly offers: readonly OfferMetrics[];
  /** First day (day number) of the figures of offers; 0 if the figures cover all days. */
  readonly offersFromDay: number;
  /** Value of `afterOfferId` for the next page; null for the last page. */
  readonly nextAfterOfferId: string | null;
}

/** Figures of all sessions of one referrer tag. */
export interface TagMetrics extends CohortMetrics {
  readonly tag: string;
  /**
   * Creation time of the first session, in Unix milliseconds; the start of its day if an earlier release archived the day. The same is true
   * for `lastSessionMs`.
   */
  readonly firstSessionMs: number;
  readonly lastSessionMs: number;
  /** Figures of each day of `TagsQuery.recent`, in ascending order; absent without it. */
  readonly recentDays?: readonly (CohortMetrics & { readonly day: number })[];
}

export interface TagsPage {
  readonly tags: readonly TagMetrics[];
  /** Value of `afterTag` for the next page; null for the last page. */
  readonly nextAfterTag: string | null;
}

export interface SummaryResult extends CohortMetrics, QueryCoverage {
  /** Lenders with at least one click, sorted by clicks descending, then by name; at most `bounds.topLendersMax` lenders. */
  readonly topLenders: readonly LenderMetrics[];
  readonly unbookedClicks: UnbookedClickCounts;
  readonly widgetEvents: WidgetCounts;
  /** Figures of each device class that has at least one session, in the order of `deviceClasses`. */
  readonly byDevice: readonly (CohortMetrics & { readonly device: number })[];
  readonly matured: {
    readonly sessions: number;
    /** Number of these sessions that have confirmed revenue; null if an earlier release archived one of the days. */
    readonly sessionsWithRevenue: number | null;
    readonly confirmedMicros: number;
    /** Sum of the squared confirmed revenue, in USD, of each matured session; used for the confidence interval of the mean revenue. */
    readonly confirmedUsdSquared: number;
  };
  /** Number of sessions in `subs` that match the tenant and tag of the query, but were created outside the cohort window. */
  readonly subsOutsideDates: number;
  /** Wall time of the last ledger record that the figures include; null if the ledger is empty. */
  readonly asOfMs: number | null;
}
