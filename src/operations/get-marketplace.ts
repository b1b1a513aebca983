import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { OfferUrls } from '../catalogs/offer-view.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import type { CancelSignal } from '../domain/async.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import { failureOutcome, invalidRequest, type Outcome, successOutcome } from '../domain/outcome.ts';
import { computeMatchReadiness } from '../domain/pocket-fields.ts';
import { parseCount } from '../domain/query-string.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { Vertical } from '../domain/vertical.ts';
import { type SortOrder, sortOrderNames } from '../domain/vertical.ts';
import { type FindSessionDeps, findSession } from '../sessions/find-session.ts';
import type { RequestParameters } from './ignored-names.ts';
import { explanationSchema, offersProperties } from './offer-schemas.ts';
import { ignoredParametersProperty, type ValueOf } from './schema-parts.ts';
import { type OffersResult, type ShowOffersDeps, selectOffersAndRecordView } from './show-offers.ts';

/** Query parameters of GET /marketplace (docs/contract.md#marketplace-parameters). */
export type MarketplaceRequest = RequestParameters<'get_marketplace'>;

interface OfferSelection {
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

/** @param vertical a vertical that may accept only some of the sort orders */
export function parseSortAndLimit(
  request: Pick<MarketplaceRequest, 'max_offers' | 'sort'>,
  { sortOrders = sortOrderNames }: Pick<Vertical, 'sortOrders'>,
): Outcome<OfferSelection> {
  const { max_offers: text } = request;
  const maxOffers = text === undefined ? bounds.offersShownDefault : parseCount(text, bounds.offersShownMax);
  if (maxOffers === null) return invalidRequest('max_offers');
  const sort = (request.sort ?? 'recommended') as SortOrder;
  if (!sortOrders.includes(sort)) return invalidRequest('sort', `must be one of ${sortOrders.join(', ')}`);
  return successOutcome({ sort, maxOffers });
}

/** Parses the parameter `explain`, which may be `true` only with a test key and `format=json`. */
function parseExplain({ format, explain }: MarketplaceRequest, mode: ApiKeyMode): Outcome<boolean> {
  if (explain === undefined || explain === 'false') return successOutcome(false);
  return explain === 'true' && mode === 'test' && format === 'json' ? successOutcome(true) : invalidRequest('explain');
}

type ResponseFormat = 'json' | 'iframe' | 'js';

/**
 * Validates a GET /marketplace request, whose `format` must be one of `formats` (docs/contract.md#marketplace-parameters). Returns the
 * parsed parameters, the session, and a copy of the session's current pocket fields (`borrower`).
 */
export function validateMarketplaceRequest<Format extends ResponseFormat>(
  deps: FindSessionDeps,
  tenant: Tenant,
  request: MarketplaceRequest,
  formats: readonly Format[],
) {
  const { sub_id: subId } = request;
  if (subId === undefined) return invalidRequest('sub_id');
  const format = formats.find((each) => each === request.format);
  if (format === undefined) return invalidRequest('format');
  const selection = parseSortAndLimit(request, tenant.vertical);
  if (!selection.ok) return selection;
  const explain = parseExplain(request, tenant.mode);
  if (!explain.ok) return explain;

  const found = findSession(deps, tenant, subId);
  if (!found.ok) return found;
  const session = found.value;
  const { pocketFields: borrower, fieldsRevision: revision } = session;
  const readiness = computeMatchReadiness(tenant.vertical, borrower);
  if (readiness.matchReadiness === 'insufficient') {
    return failureOutcome({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
  }
  const { sort, maxOffers } = selection.value;
  return successOutcome({
    subId,
    format,
    session,
    borrower,
    revision,
    readiness,
    sort,
    maxOffers,
    explain: explain.value,
  });
}

const jsonFormats = ['json'] as const;

export interface GetMarketplaceDeps extends FindSessionDeps, ShowOffersDeps {}

/**
 * GET /marketplace with `format=json` (docs/contract.md#marketplace-answers). Returns a promise only if `selectOffersAndRecordView` returns a promise.
 *
 * @param countsAsView false for a HEAD request, which records no view
 * @param signal null if the caller cannot cancel the request
 */
export function getMarketplace(
  deps: GetMarketplaceDeps,
  tenant: Tenant,
  request: MarketplaceRequest,
  countsAsView: boolean,
  signal: CancelSignal | null,
): Outcome<OffersResult> | Promise<Outcome<OffersResult>> {
  const valid = validateMarketplaceRequest(deps, tenant, request, jsonFormats);
  if (!valid.ok) return valid;
  // This code avoids a rest pattern (`...rest`), which would take 5 % of the main thread's time for requests with a cached ranking.
  const { subId, session, borrower, revision, readiness, sort, maxOffers, explain } = valid.value;
  return selectOffersAndRecordView(deps, session, {
    subId,
    borrower,
    revision,
    readiness,
    sort,
    maxOffers,
    explain,
    countsAsView,
    load: null,
    signal,
  });
}

/** JSON response with offers (docs/contract.md#envelope). */
export type MarketplaceResponse = ValueOf<ReturnType<typeof createMarketplaceResponseSchema>>;

export function createMarketplaceResponseSchema(vertical: VerticalWithProduct) {
  return Type.Object(
    { ...offersProperties(vertical), explain: Type.Optional(explanationSchema), ...ignoredParametersProperty },
    { title: 'Marketplace' },
  );
}

/** Builds the JSON response with offers as an object. For the HTTP routes, `renderMarketplaceJson` renders this response as JSON text. */
export function createMarketplaceResponse(result: OffersResult, urls: OfferUrls): MarketplaceResponse {
  const { catalog, explanation } = result;
  return {
    sub_id: result.subId,
    match_quality: result.matchQuality,
    offers: catalog.offerRenderer(urls.logos).createOfferViews(result, urls),
    total_offers: result.totalOffers,
    generated_at: formatIsoTimestamp(result.generatedMs),
    sort: result.sort,
    catalog_version: catalog.version,
    disclosure: catalog.disclosure,
    ...(explanation !== null && { explain: explanation }),
  };
}
