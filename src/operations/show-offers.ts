import { bounds } from '../bounds.ts';
import type { CatalogStore } from '../catalogs/catalog-store.ts';
import type { CompiledCatalog } from '../catalogs/compile-catalog.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { CancelSignal, SerialQueue } from '../domain/async.ts';
import { dayOf, isoTimestamp, toCompactDate } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { type Outcome, succeeded, unavailable } from '../domain/outcome.ts';
import type { ClickTokenCipher } from '../ids/click-token-cipher.ts';
import type { SubIds } from '../ids/sub-id.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { ledgerRecordKind, type OffersViewed } from '../ledger/ledger-record.ts';
import { recountAvailable } from '../matching/eligibility.ts';
import { type Explanation, explainOffers } from '../matching/explain-offers.ts';
import {
  type Matcher,
  packedOfferAt,
  type Ranking,
  type SortOrder,
  sortOrders,
  type UnavailableOffers,
} from '../matching/matcher.ts';
import { hasOffer } from '../matching/offer-set.ts';
import type { CachedRanking, Session } from '../sessions/session-store.ts';
import type { WidgetUsage } from '../sessions/widget-usage.ts';
import { type FieldVector, fieldIndex } from '../verticals/field-vector.ts';
import { renderOffersJson } from '../verticals/personal-loans/offer-view.ts';
import type { Readiness } from '../verticals/readiness.ts';
import type { IgnoredNames } from './ignored-names.ts';

/** One offer of the marketplace (docs/contract.md#offers), as `offers/offer-json.ts` writes it. */
export interface OfferView {
  readonly svc_offer_id: string;
  readonly lender_name: string;
  readonly logo_url: string;
  readonly apr_range: { readonly min: number; readonly max: number };
  /** The term, in months, that the monthly payment is for. */
  readonly payment_term_months: number;
  readonly monthly_payment_estimate: number;
  readonly svc_star_rating: number;
  readonly features: readonly string[];
  readonly prequalification: boolean;
  readonly click_url: string;
  readonly loan_amount_range: { readonly min: number; readonly max: number };
  readonly term_months: readonly number[];
  readonly position: number;
}

/** The marketplace envelope (docs/contract.md#envelope), as `show-offers.ts` writes it. */
export interface MarketplaceView extends IgnoredNames {
  readonly sub_id: string;
  readonly match_quality: 'high' | 'partial' | 'none';
  readonly offers: readonly OfferView[];
  readonly total_offers: number;
  readonly generated_at: string;
  readonly sort: SortOrder;
  readonly catalog_version: string;
  readonly disclosure: string;
  /** Where it was asked for. */
  readonly explain?: Explanation;
}

export interface ShowOffersDeps {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly catalogs: CatalogStore;
  readonly matcher: Matcher;
  readonly seal: ClickTokenCipher;
  readonly caps: Pick<DailyCaps, 'unavailableOffers'>;
  readonly ledger: Ledger;
  /** Explains one after the other, so that many who ask why slow down each other and nobody else. */
  readonly explanations: SerialQueue;
  /** Click URLs up to the sub_id, e.g. `https://go.example/c?sub=`, as they stand between the quotes of JSON. */
  readonly clickUrlHead: string;
  /** A view went out that the log could not take, so clicks on it will not count: an alert. */
  readonly onViewLost: () => void;
}

/** What is to be shown to whom, with the borrower as it was when the request came. */
interface ShowOffersRequest {
  readonly subId: string;
  readonly borrower: Readonly<FieldVector>;
  /** The session's, of that borrower. */
  readonly revision: number;
  readonly readiness: Readiness;
  readonly sort: SortOrder;
  readonly maxOffers: number;
  readonly explain: boolean;
  /** Whether somebody sees the answer, so that it is put on record (docs/contract.md#views). */
  readonly counts: boolean;
  /** The widget load that asks, whose first answer alone is a view; null for an answer that is one by itself. */
  readonly load: WidgetLoad | null;
  /** Of the request; null where nothing can cancel it. */
  readonly signal: CancelSignal | null;
}

export interface WidgetLoad {
  /** 8 bytes. */
  readonly id: Uint8Array;
  readonly usage: WidgetUsage;
}

/**
 * Shows a session its offers (docs/contract.md#envelope): the value is the JSON text of the envelope, and what it shows is on record.
 *
 * The answer comes at once where the ranking is known, and as a promise where it must be made: an answer given before the
 * engine gets control back needs no abort handler and no deadline. A request cancelled meanwhile is neither explained, ranked nor
 * rendered any further, and is no view.
 */
export function showOffers(
  ports: ShowOffersDeps,
  session: Session,
  asked: ShowOffersRequest,
): Outcome<string> | Promise<Outcome<string>> {
  const { vertical, mode } = session.tenant;
  const nowMs = ports.clock.wallMs();
  const catalog = ports.catalogs.current(vertical.number, mode);
  const today = toCompactDate(dayOf(nowMs));
  const closed = ports.caps.unavailableOffers(catalog, nowMs);
  const { cachedRanking } = session;
  if (!asked.explain && cachedRanking?.ranking.catalogVersion === catalog.version && cachedRanking.rankedOn === today) {
    const counted = withUpdatedTotal(catalog, asked.borrower, cachedRanking, closed);
    if (counted !== null && selectShownOffers(counted, asked)) {
      if (counted !== cachedRanking) session.cacheRanking(counted, asked.revision);
      return renderAnswer(ports, asked, catalog, counted, nowMs, null);
    }
  }
  return rankAndAnswer(ports, asked, session, { catalog, today, closed });
}

/** All that a new ranking depends on besides the borrower. */
interface RankingContext {
  readonly catalog: CompiledCatalog;
  readonly today: number;
  readonly closed: UnavailableOffers;
}

/** The offers that an answer shows, in its order: chosen and rendered in one go, by one answer after the other. */
const shownOfferIndexes = new Uint16Array(bounds.offersShownMax);

/** Puts the best open offers into `shownOffers`; false when the ranking has fewer of them than the answer must show. */
function selectShownOffers(
  { ranking, unavailableOffers }: CachedRanking,
  { sort, maxOffers }: ShowOffersRequest,
): boolean {
  const { orders, total } = ranking;
  const wanted = Math.min(total, maxOffers);
  const places = orders.length / sortOrders.length;
  const from = sortOrders.indexOf(sort) * places;
  let shown = 0;
  for (let at = from; at < from + places && shown < wanted; at++) {
    const offer = packedOfferAt(orders, at);
    if (unavailableOffers.bits === null || !hasOffer(unavailableOffers.bits, offer)) shownOfferIndexes[shown++] = offer;
  }
  return shown === wanted;
}

/** The ranking with a total that counts these closed offers, the same one where it does; null when it must be made again. */
function withUpdatedTotal(
  { tables }: CompiledCatalog,
  borrower: Readonly<FieldVector>,
  ranked: CachedRanking,
  unavailableOffers: UnavailableOffers,
): CachedRanking | null {
  if (ranked.unavailableOffers === unavailableOffers) return ranked;
  const { ranking, rankedOn } = ranked;
  const total = recountAvailable(tables, ranking, borrower, rankedOn, ranked.unavailableOffers, unavailableOffers);
  return total === null ? null : { ...ranked, unavailableOffers, ranking: { ...ranking, total } };
}

/** The answer with the offers that `selectShownOffers` has just chosen. */
function renderAnswer(
  ports: ShowOffersDeps,
  asked: ShowOffersRequest,
  catalog: CompiledCatalog,
  { ranking, clickToken }: CachedRanking,
  nowMs: number,
  explanation: Explanation | null,
): Outcome<string> {
  const { subId } = asked;
  const shown = Math.min(ranking.total, asked.maxOffers);
  const offers = renderOffersJson(
    catalog,
    shownOfferIndexes,
    shown,
    asked.borrower,
    ports.clickUrlHead,
    subId,
    clickToken,
  );
  if (asked.counts) recordView(ports, asked, nowMs, catalog, shown);
  return succeeded(
    `{"sub_id":"${subId}","match_quality":"${matchQuality(asked.readiness, ranking.total)}","offers":${offers}` +
      `,"total_offers":${ranking.total},"generated_at":"${isoTimestamp(nowMs)}","sort":"${asked.sort}"` +
      `,"catalog_version":"${catalog.version}","disclosure":${catalog.disclosureJson}` +
      `${explanation === null ? '' : `,"explain":${JSON.stringify(explanation)}`}}`,
  );
}

/** Ranks and answers. An explanation comes first, so that no view is noted without its reasons. */
function rankAndAnswer(
  ports: ShowOffersDeps,
  asked: ShowOffersRequest,
  session: Session,
  offered: RankingContext,
): Outcome<string> | Promise<Outcome<string>> {
  return asked.explain
    ? explainRankAndAnswer(ports, asked, session, offered)
    : requestRanking(ports, asked, session, offered, null);
}

async function explainRankAndAnswer(
  ports: ShowOffersDeps,
  asked: ShowOffersRequest,
  session: Session,
  offered: RankingContext,
): Promise<Outcome<string>> {
  const { catalog, today, closed } = offered;
  const explanation = await ports.explanations.run(
    () => explainOffers(catalog.tables, session.tenant.vertical, asked.borrower, today, closed.bits),
    asked.signal,
  );
  if (explanation === null) return unavailable(bounds.retryAfterSeconds);
  return requestRanking(ports, asked, session, offered, explanation);
}

function requestRanking(
  ports: ShowOffersDeps,
  asked: ShowOffersRequest,
  session: Session,
  offered: RankingContext,
  explanation: Explanation | null,
): Outcome<string> | Promise<Outcome<string>> {
  const { catalog, today, closed } = offered;
  const { borrower, signal } = asked;
  const ranking = ports.matcher.match({
    catalogVersion: catalog.version,
    borrower,
    today,
    unavailable: closed.bits,
    signal,
  });
  if (!(ranking instanceof Promise)) return cacheAndAnswer(ports, asked, session, offered, explanation, ranking);
  return ranking.then((made) => cacheAndAnswer(ports, asked, session, offered, explanation, made));
}

/**
 * Keeps the ranking unless the fields changed meanwhile, and answers with the offers that are open now. Where offers closed or
 * opened during the matching it starts again if the ranking does not serve any more, and an explanation always does.
 */
function cacheAndAnswer(
  ports: ShowOffersDeps,
  asked: ShowOffersRequest,
  session: Session,
  { catalog, today: rankedOn, closed: unavailableOffers }: RankingContext,
  explanation: Explanation | null,
  ranking: Ranking | null,
): Outcome<string> | Promise<Outcome<string>> {
  if (ranking === null) return unavailable(bounds.retryAfterSeconds);
  const { subId, borrower } = asked;
  const { vertical, mode } = session.tenant;
  const nowMs = ports.clock.wallMs();
  const current = ports.catalogs.current(vertical.number, mode);
  const closedNow = ports.caps.unavailableOffers(current, nowMs);
  const changed = closedNow !== unavailableOffers;
  let ranked: CachedRanking | null = null;
  if (!changed || (current === catalog && explanation === null)) {
    const creditBand = borrower[fieldIndex(vertical, vertical.roles.creditBand)]!;
    const basis = { catalogVersion: catalog.version, creditBand };
    const clickToken = ports.seal.encrypt(ports.subIds.toBytes(subId), basis);
    ranked = withUpdatedTotal(
      catalog,
      borrower,
      { ranking, rankedOn, unavailableOffers, creditBand, clickToken },
      closedNow,
    );
  }
  if (ranked === null || !selectShownOffers(ranked, asked)) {
    if (!changed) throw new Error('the matcher ranked too few open offers');
    const offered = { catalog: current, today: toCompactDate(dayOf(nowMs)), closed: closedNow };
    return rankAndAnswer(ports, asked, session, offered);
  }
  session.cacheRanking(ranked, asked.revision);
  if (asked.signal?.ended) return unavailable(bounds.retryAfterSeconds);
  return renderAnswer(ports, asked, catalog, ranked, nowMs, explanation);
}

/** Records what this answer shows (docs/contract.md#views); nobody waits for that. */
function recordView(
  ports: ShowOffersDeps,
  { subId, load }: ShowOffersRequest,
  nowMs: number,
  catalog: CompiledCatalog,
  shown: number,
): void {
  const offerIds: string[] = [];
  for (let place = 0; place < shown; place++) offerIds.push(catalog.offers[shownOfferIndexes[place]!]!.id);
  const sub = ports.subIds.toBytes(subId);
  const shownHere = [ledgerRecordKind.offersViewed, nowMs, sub, catalog.version, offerIds] as const;
  const view: OffersViewed = load === null ? shownHere : [...shownHere, load.id, !load.usage.shouldCountView(load.id)];
  if (ports.ledger.appendWithoutWaiting(view) !== null) {
    load?.usage.markViewCounted(load.id);
  } else {
    ports.onViewLost();
  }
}

function matchQuality({ matchReadiness }: Readiness, total: number): 'high' | 'partial' | 'none' {
  if (total === 0) return 'none';
  return matchReadiness === 'high' && total >= 3 ? 'high' : 'partial';
}
