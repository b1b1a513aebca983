import { bounds } from '../bounds.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { OfferValueSeal } from '../clicks/offer-value-seal.ts';
import { compactDate, dayOf } from '../domain/calendar.ts';
import type { CancelSignal } from '../domain/cancel-signal.ts';
import type { Clock } from '../domain/clock.ts';
import { isoTimestamp } from '../domain/iso-timestamp.ts';
import { done, type Outcome, unavailable } from '../domain/outcome.ts';
import type { TaskQueue } from '../domain/task-queue.ts';
import type { EventLog } from '../events/event-log.ts';
import { type OffersViewed, recordKind } from '../events/ledger-record.ts';
import type { CatalogLibrary } from '../offers/catalog-library.ts';
import type { ClosedOffers } from '../offers/closed-offers.ts';
import type { CompiledCatalog } from '../offers/compile-catalog.ts';
import { countOpen } from '../offers/count-open.ts';
import { type Explanation, explainOffers } from '../offers/explain-offers.ts';
import { type Matcher, type Ranking, type Sort, sorts } from '../offers/matcher.ts';
import { hasOffer } from '../offers/offer-bits.ts';
import { renderOffers } from '../offers/offer-json.ts';
import { offerAt } from '../offers/packed-orders.ts';
import type { Ranked, Session } from '../sessions/session.ts';
import type { SubIds } from '../sessions/sub-id.ts';
import type { WidgetUse } from '../sessions/widget-use.ts';
import { fieldIndex, type PocketVector } from '../verticals/pocket-vector.ts';
import type { Readiness } from '../verticals/readiness.ts';

export interface ShowOffersPorts {
  readonly clock: Clock;
  readonly subIds: SubIds;
  readonly catalogs: CatalogLibrary;
  readonly matcher: Matcher;
  readonly seal: OfferValueSeal;
  readonly caps: Pick<DailyCaps, 'closedOffers' | 'see'>;
  readonly ledger: EventLog;
  /** Explains one after the other, so that many who ask why slow down each other and nobody else. */
  readonly explanations: TaskQueue;
  /** Click URLs up to the sub_id, e.g. `https://go.example/c?sub=`, as they stand between the quotes of JSON. */
  readonly clickUrlHead: string;
  /** A view went out that the log could not take, so clicks on it will not count: an alert. */
  readonly onViewLost: () => void;
}

/** What is to be shown to whom, with the borrower as it was when the request came. */
export interface OffersAsked {
  readonly subId: string;
  readonly borrower: Readonly<PocketVector>;
  /** The session's, of that borrower. */
  readonly revision: number;
  readonly readiness: Readiness;
  readonly sort: Sort;
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
  readonly use: WidgetUse;
}

/**
 * Shows a session its offers (docs/contract.md#envelope): the value is the JSON text of the envelope, and what it shows is on record.
 *
 * The answer comes at once where the ranking is known, and as a promise where it must be made: an answer given before the
 * engine gets control back needs no abort handler and no deadline. A request cancelled meanwhile is neither explained, ranked nor
 * rendered any further, and is no view.
 */
export function showOffers(
  ports: ShowOffersPorts,
  session: Session,
  asked: OffersAsked,
): Outcome<string> | Promise<Outcome<string>> {
  const { vertical, mode } = session.tenant;
  const nowMs = ports.clock.wallMs();
  const catalog = ports.catalogs.current(vertical.number, mode);
  const today = compactDate(dayOf(nowMs));
  const closed = ports.caps.closedOffers(catalog, nowMs);
  const { ranked } = session;
  if (!asked.explain && ranked?.ranking.catalogVersion === catalog.version && ranked.today === today) {
    const counted = countedWith(catalog, asked.borrower, ranked, closed);
    if (counted !== null && chooseShown(counted, asked)) {
      if (counted !== ranked) session.keepRanking(counted, asked.revision);
      return answer(ports, asked, catalog, counted, nowMs, null);
    }
  }
  return answerAnew(ports, asked, session, { catalog, today, closed });
}

/** All that a new ranking depends on besides the borrower. */
interface Offered {
  readonly catalog: CompiledCatalog;
  readonly today: number;
  readonly closed: ClosedOffers;
}

/** The offers that an answer shows, in its order: chosen and rendered in one go, by one answer after the other. */
const shownOffers = new Uint16Array(bounds.offersMax);

/** Puts the best open offers into `shownOffers`; false when the ranking has fewer of them than the answer must show. */
function chooseShown({ ranking, closed }: Ranked, { sort, maxOffers }: OffersAsked): boolean {
  const { orders, total } = ranking;
  const wanted = Math.min(total, maxOffers);
  const places = orders.length / sorts.length;
  const from = sorts.indexOf(sort) * places;
  let shown = 0;
  for (let at = from; at < from + places && shown < wanted; at++) {
    const offer = offerAt(orders, at);
    if (closed.bits === null || !hasOffer(closed.bits, offer)) shownOffers[shown++] = offer;
  }
  return shown === wanted;
}

/** The ranking with a total that counts these closed offers, the same one where it does; null when it must be made again. */
function countedWith(
  { tables }: CompiledCatalog,
  borrower: Readonly<PocketVector>,
  ranked: Ranked,
  closed: ClosedOffers,
): Ranked | null {
  if (ranked.closed === closed) return ranked;
  const { ranking, today } = ranked;
  const total = countOpen(tables, ranking, borrower, today, ranked.closed, closed);
  return total === null ? null : { ...ranked, closed, ranking: { ...ranking, total } };
}

/** The answer with the offers that `chooseShown` has just chosen. */
function answer(
  ports: ShowOffersPorts,
  asked: OffersAsked,
  catalog: CompiledCatalog,
  { ranking, sealedValue }: Ranked,
  nowMs: number,
  explanation: Explanation | null,
): Outcome<string> {
  const { subId } = asked;
  const shown = Math.min(ranking.total, asked.maxOffers);
  const offers = renderOffers(catalog, shownOffers, shown, asked.borrower, ports.clickUrlHead, subId, sealedValue);
  if (asked.counts) noteView(ports, asked, nowMs, catalog, shown);
  return done(
    `{"sub_id":"${subId}","match_quality":"${matchQuality(asked.readiness, ranking.total)}","offers":${offers}` +
      `,"total_offers":${ranking.total},"generated_at":"${isoTimestamp(nowMs)}","sort":"${asked.sort}"` +
      `,"catalog_version":"${catalog.version}","disclosure":${catalog.disclosureJson}` +
      `${explanation === null ? '' : `,"explain":${JSON.stringify(explanation)}`}}`,
  );
}

/** Ranks and answers. An explanation comes first, so that no view is noted without its reasons. */
function answerAnew(
  ports: ShowOffersPorts,
  asked: OffersAsked,
  session: Session,
  offered: Offered,
): Outcome<string> | Promise<Outcome<string>> {
  return asked.explain ? explainAndRank(ports, asked, session, offered) : rank(ports, asked, session, offered, null);
}

async function explainAndRank(
  ports: ShowOffersPorts,
  asked: OffersAsked,
  session: Session,
  offered: Offered,
): Promise<Outcome<string>> {
  const { catalog, today, closed } = offered;
  const explanation = await ports.explanations.run(
    () => explainOffers(catalog.tables, session.tenant.vertical, asked.borrower, today, closed.bits),
    asked.signal,
  );
  if (explanation === null) return unavailable(bounds.retryAfterSeconds);
  return rank(ports, asked, session, offered, explanation);
}

function rank(
  ports: ShowOffersPorts,
  asked: OffersAsked,
  session: Session,
  offered: Offered,
  explanation: Explanation | null,
): Outcome<string> | Promise<Outcome<string>> {
  const { catalog, today, closed } = offered;
  const { borrower, signal } = asked;
  const ranking = ports.matcher.match({
    catalogVersion: catalog.version,
    borrower,
    today,
    closed: closed.bits,
    signal,
  });
  if (!(ranking instanceof Promise)) return answerRanked(ports, asked, session, offered, explanation, ranking);
  return ranking.then((made) => answerRanked(ports, asked, session, offered, explanation, made));
}

/**
 * Keeps the ranking unless the fields changed meanwhile, and answers with the offers that are open now. Where offers closed or
 * opened during the matching it starts again if the ranking does not serve any more, and an explanation always does.
 */
function answerRanked(
  ports: ShowOffersPorts,
  asked: OffersAsked,
  session: Session,
  { catalog, today, closed }: Offered,
  explanation: Explanation | null,
  ranking: Ranking | null,
): Outcome<string> | Promise<Outcome<string>> {
  if (ranking === null) return unavailable(bounds.retryAfterSeconds);
  const { subId, borrower } = asked;
  const { vertical, mode } = session.tenant;
  const nowMs = ports.clock.wallMs();
  const current = ports.catalogs.current(vertical.number, mode);
  const closedNow = ports.caps.closedOffers(current, nowMs);
  const changed = closedNow !== closed;
  let ranked: Ranked | null = null;
  if (!changed || (current === catalog && explanation === null)) {
    const creditBand = borrower[fieldIndex(vertical, vertical.roles.creditBand)]!;
    const basis = { catalogVersion: catalog.version, creditBand };
    const sealedValue = ports.seal.seal(ports.subIds.bytesOf(subId), basis);
    ranked = countedWith(catalog, borrower, { ranking, today, closed, creditBand, sealedValue }, closedNow);
  }
  if (ranked === null || !chooseShown(ranked, asked)) {
    if (!changed) throw new Error('the matcher ranked too few open offers');
    const offered = { catalog: current, today: compactDate(dayOf(nowMs)), closed: closedNow };
    return answerAnew(ports, asked, session, offered);
  }
  session.keepRanking(ranked, asked.revision);
  if (asked.signal?.over) return unavailable(bounds.retryAfterSeconds);
  return answer(ports, asked, catalog, ranked, nowMs, explanation);
}

/** Records what this answer shows (docs/contract.md#views); nobody waits for that. */
function noteView(
  ports: ShowOffersPorts,
  { subId, load }: OffersAsked,
  nowMs: number,
  catalog: CompiledCatalog,
  shown: number,
): void {
  const offerIds: string[] = [];
  for (let place = 0; place < shown; place++) offerIds.push(catalog.offers[shownOffers[place]!]!.id);
  const sub = ports.subIds.bytesOf(subId);
  const shownHere = [recordKind.offersViewed, nowMs, sub, catalog.version, offerIds] as const;
  const view: OffersViewed = load === null ? shownHere : [...shownHere, load.id, !load.use.isOwedView(load.id)];
  if (ports.ledger.note(view)) {
    ports.caps.see(view);
    load?.use.noteLoad(load.id);
  } else {
    ports.onViewLost();
  }
}

function matchQuality({ matchReadiness }: Readiness, total: number): 'high' | 'partial' | 'none' {
  if (total === 0) return 'none';
  return matchReadiness === 'high' && total >= 3 ? 'high' : 'partial';
}
