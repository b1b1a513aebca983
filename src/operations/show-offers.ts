import { bounds } from '../bounds.ts';
import type { LedgerBookings } from '../budgets/ledger-bookings.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { OfferList } from '../catalogs/offer-view.ts';
import type { CancelSignal, SerialQueue } from '../domain/async.ts';
import { daysSinceEpoch, toCompactDate } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { type FieldVector, findFieldIndex } from '../domain/field-vector.ts';
import { type Outcome, serviceUnavailable, successOutcome } from '../domain/outcome.ts';
import type { MatchReadiness } from '../domain/pocket-fields.ts';
import { type SortOrder, sortOrderNames } from '../domain/vertical.ts';
import type { ClickTokenCipher } from '../ids/click-tokens.ts';
import type { SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind, type OffersViewedRecord } from '../ledger/ledger-record.ts';
import { countAvailableOffers } from '../matching/eligibility.ts';
import { explainOffers, type MatchExplanation } from '../matching/explain-offers.ts';
import { type Matcher, type Ranking, readPackedOffer, type UnavailableOffers } from '../matching/matcher.ts';
import { hasOffer } from '../matching/offer-set.ts';
import type { CachedRanking } from '../sessions/ranking-arena.ts';
import type { Session } from '../sessions/session.ts';
import type { WidgetUsage } from '../sessions/widget-usage.ts';

/** Selected and priced offers of one response. HTTP routes render the offers as JSON; the embedded API returns objects. */
export interface OffersResult extends OfferList {
  readonly catalog: CompiledCatalog;
  readonly sort: SortOrder;
  readonly matchQuality: 'high' | 'partial' | 'none';
  /** Number of matching offers, including those that are not shown. */
  readonly totalOffers: number;
  readonly generatedMs: number;
  /** Explanation of the ranking; null if the request has no `explain=true`. */
  readonly explanation: MatchExplanation | null;
}

export interface ShowOffersDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly catalogs: CatalogStore;
  readonly matcher: Matcher;
  readonly clickTokens: ClickTokenCipher;
  readonly availability: Pick<LedgerBookings, 'unavailableOffers' | 'listUnavailabilityReasons'>;
  readonly ledger: Ledger;
  /** Queue that runs one explanation at a time, so that requests with `explain` do not slow down requests without `explain`. */
  readonly explanations: SerialQueue;
  /** Called if the ledger refuses the record of a view; clicks on the offers of the view will not be counted. */
  readonly onViewLost: () => void;
}

/** A validated request for offers. `borrower` contains the session's pocket fields at the arrival of the request. */
interface ShowOffersRequest {
  readonly subId: string;
  readonly borrower: Readonly<FieldVector>;
  /** Revision of the session's fields, a number that changes when the fields change. */
  readonly revision: number;
  readonly readiness: MatchReadiness;
  readonly sort: SortOrder;
  readonly maxOffers: number;
  readonly explain: boolean;
  /** Whether the response counts as a view, which is recorded in the ledger (docs/contract.md#views). */
  readonly countsAsView: boolean;
  /** Page load of the widget that sent the request; null for API requests. All responses to one page load count as one view at most. */
  readonly load: WidgetPageLoad | null;
  /** Signal that cancels the request; null if the caller cannot cancel. */
  readonly signal: CancelSignal | null;
}

export interface WidgetPageLoad {
  /** ID of the widget load, 8 bytes. */
  readonly id: Uint8Array;
  readonly usage: WidgetUsage;
}

/**
 * Selects and prices the offers of a session (docs/contract.md#envelope), and records the view.
 *
 * Returns synchronously if the session has a usable cached ranking; otherwise usually returns a promise. If the result is not a promise,
 * the HTTP route needs no abort handler. A request that is cancelled in the queue records no view.
 */
export function selectOffersAndRecordView(
  deps: ShowOffersDeps,
  session: Session,
  request: ShowOffersRequest,
): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
  const context = currentContext(deps, session);
  const { catalog, unavailableOffers } = context;
  const { cachedRanking } = session;
  if (cachedRanking !== null && isCurrent(cachedRanking, context) && !request.explain) {
    const selected = selectOffers(cachedRanking, request, catalog, unavailableOffers);
    if (selected !== null) return createResult(deps, request, catalog, cachedRanking, selected, context.nowMs, null);
  }
  return rankAndAnswer(deps, request, session, context);
}

/** Inputs of a ranking, except the borrower's fields. */
type RankingContext = ReturnType<typeof currentContext>;

function currentContext({ clock, catalogs, availability }: ShowOffersDeps, { tenant }: Session) {
  const nowMs = clock.wallMs();
  const catalog = catalogs.currentCatalog(tenant.vertical.number, tenant.mode);
  const today = toCompactDate(daysSinceEpoch(nowMs));
  return { nowMs, catalog, today, unavailableOffers: availability.unavailableOffers(catalog, nowMs) };
}

/**
 * Whether a cached ranking is still valid: it was computed for the current catalog and day. A ranking that contains only available offers
 * (`availableOnly`) is valid only while the set of unavailable offers is the same as during the ranking.
 */
function isCurrent(
  { ranking: { catalogVersion, availableOnly }, rankedOn, unavailableSet }: CachedRanking,
  { catalog, today, unavailableOffers }: RankingContext,
): boolean {
  if (catalogVersion !== catalog.version || rankedOn !== today) return false;
  return !availableOnly || unavailableSet === unavailableOffers.setNumber;
}

/** Offers of one response. */
interface SelectedOffers {
  readonly indexes: readonly number[];
  /** Number of all available offers that match the borrower. */
  readonly total: number;
}

/** Returns the best available offers, best first; null if the ranking contains fewer available offers than the response needs. */
function selectOffers(
  { ranking: { total: matching, orders }, rankedOn }: CachedRanking,
  { sort, maxOffers, borrower }: ShowOffersRequest,
  { tables, product }: CompiledCatalog,
  unavailable: UnavailableOffers,
): SelectedOffers | null {
  const total = countAvailableOffers(product, tables, matching, borrower, rankedOn, unavailable);
  const { bits } = unavailable;
  const count = Math.min(total, maxOffers);
  const orderLength = orders.length / sortOrderNames.length;
  const start = sortOrderNames.indexOf(sort) * orderLength;
  const indexes: number[] = [];
  for (let rank = start; rank < start + orderLength && indexes.length < count; rank++) {
    const offer = readPackedOffer(orders, rank);
    if (bits === null || !hasOffer(bits, offer)) indexes.push(offer);
  }
  return indexes.length === count ? { indexes, total } : null;
}

/** Prices the selected offers, then records the view, so that no view is recorded if pricing fails. */
function createResult(
  deps: ShowOffersDeps,
  request: ShowOffersRequest,
  catalog: CompiledCatalog,
  { clickToken }: CachedRanking,
  { indexes, total }: SelectedOffers,
  nowMs: number,
  explanation: MatchExplanation | null,
): Outcome<OffersResult> {
  const { subId, sort } = request;
  const offers = catalog.product.priceOffers(catalog, indexes, request.borrower);
  if (request.countsAsView) recordView(deps, request, nowMs, catalog, indexes);
  return successOutcome({
    catalog,
    offers,
    subId,
    clickToken,
    sort,
    matchQuality: matchQuality(request.readiness, total),
    totalOffers: total,
    generatedMs: nowMs,
    explanation,
  });
}

/** Computes the explanation before the ranking, so that no view is recorded if the explanation fails. */
function rankAndAnswer(
  deps: ShowOffersDeps,
  request: ShowOffersRequest,
  session: Session,
  context: RankingContext,
): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
  if (!request.explain) return requestRanking(deps, request, session, context, null);
  const { catalog, today } = context;
  const listReasons = (offer: number) => deps.availability.listUnavailabilityReasons(catalog, offer);
  const explaining = deps.explanations.run(
    () => explainOffers(catalog.product, catalog.tables, session.tenant.vertical, request.borrower, today, listReasons),
    request.signal,
  );
  if (explaining === null) return serviceUnavailable(bounds.retryAfterSeconds);
  return explaining.then((explanation) =>
    explanation === null
      ? serviceUnavailable(bounds.retryAfterSeconds)
      : requestRanking(deps, request, session, context, explanation),
  );
}

function requestRanking(
  deps: ShowOffersDeps,
  request: ShowOffersRequest,
  session: Session,
  context: RankingContext,
  explanation: MatchExplanation | null,
): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
  const { borrower, signal } = request;
  const ranking = deps.matcher.match({
    catalog: context.catalog,
    borrower,
    today: context.today,
    unavailable: context.unavailableOffers.bits,
    signal,
  });
  if (!(ranking instanceof Promise)) return cacheAndAnswer(deps, request, session, context, explanation, ranking);
  return ranking.then((settled) => cacheAndAnswer(deps, request, session, context, explanation, settled));
}

/**
 * Caches the ranking and returns the offers that are available now. The ranking is not cached if the session's fields have changed since
 * the ranking began. Requests a new ranking in three cases: the catalog changed during the ranking; the request asks for an explanation,
 * and offers became available or unavailable; or the ranking has too few available offers.
 */
function cacheAndAnswer(
  deps: ShowOffersDeps,
  request: ShowOffersRequest,
  session: Session,
  { catalog, today: rankedOn, unavailableOffers }: RankingContext,
  explanation: MatchExplanation | null,
  ranking: Ranking | null,
): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
  if (ranking === null) return serviceUnavailable(bounds.retryAfterSeconds);
  const { subId, borrower } = request;
  const { vertical } = session.tenant;
  const current = currentContext(deps, session);
  const changed = current.unavailableOffers !== unavailableOffers;
  if (current.catalog !== catalog || (changed && explanation !== null)) {
    return rankAndAnswer(deps, request, session, current);
  }
  // A vertical without credit bands has a single band.
  const creditBand = borrower[findFieldIndex(vertical, vertical.roles.creditBand)] ?? 0;
  const clickToken = deps.clickTokens.encrypt(deps.subIds.toBytes(subId), {
    catalogVersion: catalog.version,
    creditBand,
  });
  const ranked = { ranking, rankedOn, unavailableSet: unavailableOffers.setNumber, creditBand, clickToken };
  const selected = selectOffers(ranked, request, catalog, current.unavailableOffers);
  if (selected === null) {
    if (!changed) throw new Error('ranking has fewer available offers than its total');
    return rankAndAnswer(deps, request, session, current);
  }
  session.cacheRanking(ranked, request.revision);
  if (request.signal?.ended) return serviceUnavailable(bounds.retryAfterSeconds);
  return createResult(deps, request, catalog, ranked, selected, current.nowMs, explanation);
}

/** Appends the view to the ledger (docs/contract.md#views) without waiting until the record is durable. */
function recordView(
  deps: ShowOffersDeps,
  { subId, load }: ShowOffersRequest,
  nowMs: number,
  catalog: CompiledCatalog,
  indexes: readonly number[],
): void {
  const offerIds = indexes.map((index) => catalog.offers[index]!.id);
  const sub = deps.subIds.toBytes(subId);
  const shown = [ledgerRecordKind.offersViewed, nowMs, sub, catalog.version, offerIds] as const;
  const view: OffersViewedRecord = load === null ? shown : [...shown, load.id, !load.usage.shouldCountView(load.id)];
  if (deps.ledger.appendWithoutWaiting(view) !== null) {
    load?.usage.markViewCounted(load.id);
  } else {
    deps.onViewLost();
  }
}

function matchQuality({ matchReadiness }: MatchReadiness, total: number): OffersResult['matchQuality'] {
  if (total === 0) return 'none';
  return matchReadiness === 'high' && total >= 3 ? 'high' : 'partial';
}
