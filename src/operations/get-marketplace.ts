import { bounds } from '../bounds.ts';
import type { DailyCaps } from '../clicks/daily-caps.ts';
import type { OfferValueSeal } from '../clicks/offer-value-seal.ts';
import { compactDate, dayOf } from '../domain/calendar.ts';
import { isoTimestamp } from '../domain/iso-timestamp.ts';
import { done, invalidRequest, type Outcome, refusedFor, unavailable } from '../domain/outcome.ts';
import type { TaskQueue } from '../domain/task-queue.ts';
import type { EventLog } from '../events/event-log.ts';
import { type OffersViewed, recordKind } from '../events/ledger-record.ts';
import type { CatalogLibrary } from '../offers/catalog-library.ts';
import type { ClosedOffers } from '../offers/closed-offers.ts';
import type { CompiledCatalog } from '../offers/compile-catalog.ts';
import { type Explanation, explainOffers } from '../offers/explain-offers.ts';
import { type Matcher, type Ranking, type Sort, sorts } from '../offers/matcher.ts';
import { renderOffers } from '../offers/offer-json.ts';
import { type FindSessionPorts, findSession } from '../sessions/find-session.ts';
import type { Ranked, Session } from '../sessions/session.ts';
import { fieldIndex, type PocketVector } from '../verticals/pocket-vector.ts';
import { type Readiness, readinessOf } from '../verticals/readiness.ts';
import type { Tenant } from '../verticals/tenant.ts';

export interface GetMarketplacePorts extends FindSessionPorts {
  readonly catalogs: CatalogLibrary;
  readonly matcher: Matcher;
  readonly seal: OfferValueSeal;
  readonly caps: DailyCaps;
  readonly ledger: EventLog;
  /** Explains one after the other, so that many who ask why slow down each other and nobody else. */
  readonly explanations: TaskQueue;
  /** Click URLs up to the sub_id, e.g. `https://go.example/c?sub=`, as they stand between the quotes of JSON. */
  readonly clickUrlHead: string;
  /** A view went out that the log could not take, so clicks on it will not count: an alert. */
  readonly onViewLost: () => void;
}

/** Query parameters as sent, undefined when absent (contract 4.3). */
export interface MarketplaceRequest {
  readonly sub_id?: string | undefined;
  readonly format?: string | undefined;
  readonly max_offers?: string | undefined;
  readonly sort?: string | undefined;
  /** `true` or `false`; only a test key may ask for `true`. */
  readonly explain?: string | undefined;
}

/**
 * GET /marketplace (contract 4.3, D8). The value is the JSON text of the envelope. `counts` is false for HEAD, which shows
 * nothing to anybody and so is no view.
 *
 * The answer comes at once where the ranking is known, and as a promise where it must be made: an answer given before the
 * engine gets control back needs no abort handler and no deadline.
 */
export function getMarketplace(
  ports: GetMarketplacePorts,
  tenant: Tenant,
  request: MarketplaceRequest,
  counts: boolean,
): Outcome<string> | Promise<Outcome<string>> {
  const { sub_id: subId, format } = request;
  if (subId === undefined) return invalidRequest('sub_id');
  // iframe and js are formats of the contract, but not served yet (see the README).
  if (format !== 'json') return invalidRequest('format');
  const maxOffers = parseMaxOffers(request.max_offers);
  if (maxOffers === null) return invalidRequest('max_offers');
  const sort = (request.sort ?? 'recommended') as Sort;
  const order = sorts.indexOf(sort);
  if (order < 0) return invalidRequest('sort');
  const explain = request.explain === 'true';
  if (explain ? tenant.mode === 'live' : !isFalseOrAbsent(request.explain)) return invalidRequest('explain');

  const found = findSession(ports, tenant, subId);
  if (!found.ok) return found;
  const session = found.value;
  const readiness = readinessOf(tenant.vertical, session.fields);
  if (readiness.matchReadiness === 'insufficient') return refusedFor('INSUFFICIENT_INPUTS');

  const nowMs = ports.clock.wallMs();
  const catalog = ports.catalogs.current(tenant.vertical.number, tenant.mode);
  const today = compactDate(dayOf(nowMs));
  const closed = ports.caps.closedOffers(catalog, nowMs);
  const asked: Asked = { subId, borrower: session.fields, readiness, sort, order, maxOffers, explain, counts };
  const { ranked } = session;
  if (
    !explain &&
    ranked !== null &&
    ranked.ranking.catalogVersion === catalog.version &&
    ranked.today === today &&
    ranked.closed === closed
  ) {
    return answer(ports, asked, catalog, ranked, null);
  }
  return answerAnew(ports, asked, session, { catalog, today, closed });
}

/** All that a ranking depends on besides the borrower. */
interface Offered {
  readonly catalog: CompiledCatalog;
  readonly today: number;
  readonly closed: ClosedOffers;
}

/** A request that may be answered, with the borrower as it was when the request came. */
interface Asked {
  readonly subId: string;
  readonly borrower: Readonly<PocketVector>;
  readonly readiness: Readiness;
  readonly sort: Sort;
  /** Place of the sort among `sorts`. */
  readonly order: number;
  readonly maxOffers: number;
  readonly explain: boolean;
  readonly counts: boolean;
}

function answer(
  ports: GetMarketplacePorts,
  asked: Asked,
  catalog: CompiledCatalog,
  { ranking, sealedValue }: Ranked,
  explanation: Explanation | null,
): Outcome<string> {
  const { subId } = asked;
  const nowMs = ports.clock.wallMs();
  const ranks = Math.min(ranking.total, bounds.offersMax);
  const from = asked.order * ranks;
  const shown = Math.min(ranks, asked.maxOffers);
  const offers = renderOffers(
    catalog,
    ranking.orders,
    from,
    shown,
    asked.borrower,
    ports.clickUrlHead,
    subId,
    sealedValue,
  );
  if (asked.counts) noteView(ports, subId, nowMs, catalog, ranking, from, shown);
  return done(
    `{"sub_id":"${subId}","match_quality":"${matchQuality(asked.readiness, ranking.total)}","offers":${offers}` +
      `,"total_offers":${ranking.total},"generated_at":"${isoTimestamp(nowMs)}","sort":"${asked.sort}"` +
      `,"catalog_version":"${catalog.version}","disclosure":${catalog.disclosureJson}` +
      `${explanation === null ? '' : `,"explain":${JSON.stringify(explanation)}`}}`,
  );
}

/**
 * Ranks, keeps the ranking unless the fields changed meanwhile, and answers. Where an offer reached its daily cap during the
 * matching, it starts again: so no answer shows an offer that is closed when the answer is made.
 */
async function answerAnew(
  ports: GetMarketplacePorts,
  asked: Asked,
  session: Session,
  { catalog, today, closed }: Offered,
): Promise<Outcome<string>> {
  const { subId, borrower } = asked;
  const { vertical, mode } = session.tenant;
  const { version: catalogVersion } = catalog;
  // Before the ranking, so that what is shown is as fresh as in any other answer, and no view is noted without its reasons.
  const explanation = asked.explain
    ? await ports.explanations.run(() => explainOffers(catalog.tables, vertical, borrower, today, closed.bits))
    : null;
  if (asked.explain && explanation === null) return unavailable(bounds.retryAfterSeconds);
  const ranking = await ports.matcher.match({ catalogVersion, borrower, today, closed: closed.bits });
  if (ranking === null) return unavailable(bounds.retryAfterSeconds);

  const nowMs = ports.clock.wallMs();
  const current = ports.catalogs.current(vertical.number, mode);
  const closedNow = ports.caps.closedOffers(current, nowMs);
  if (closedNow !== closed) {
    const offered = { catalog: current, today: compactDate(dayOf(nowMs)), closed: closedNow };
    return answerAnew(ports, asked, session, offered);
  }
  const creditBand = borrower[fieldIndex(vertical, vertical.roles.creditBand)]!;
  const sealedValue = ports.seal.seal(ports.subIds.bytesOf(subId), { catalogVersion, creditBand });
  const ranked = { ranking, today, closed, creditBand, sealedValue };
  if (session.fields === borrower) session.ranked = ranked;
  return answer(ports, asked, catalog, ranked, explanation);
}

/** Records what this answer shows (D8); nobody waits for that. */
function noteView(
  ports: GetMarketplacePorts,
  subId: string,
  nowMs: number,
  catalog: CompiledCatalog,
  ranking: Ranking,
  from: number,
  shown: number,
): void {
  const offerIds: string[] = [];
  for (let i = from; i < from + shown; i++) offerIds.push(catalog.offers[ranking.orders[i]!]!.id);
  const sub = ports.subIds.bytesOf(subId);
  const view: OffersViewed = [recordKind.offersViewed, nowMs, sub, catalog.version, offerIds];
  if (ports.ledger.note(view)) ports.caps.see(view);
  else ports.onViewLost();
}

function matchQuality({ matchReadiness }: Readiness, total: number): 'high' | 'partial' | 'none' {
  if (total === 0) return 'none';
  return matchReadiness === 'high' && total >= 3 ? 'high' : 'partial';
}

function isFalseOrAbsent(text: string | undefined): boolean {
  return text === undefined || text === 'false';
}

/** 1 to 20 in plain digits; null for anything else. */
function parseMaxOffers(text: string | undefined): number | null {
  if (text === undefined) return bounds.offersDefault;
  if (!/^[1-9][0-9]?$/.test(text)) return null;
  const count = Number(text);
  return count <= bounds.offersMax ? count : null;
}
