import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { OfferUrls } from '../catalogs/offer-view.ts';
import type { VerticalWithProduct } from '../catalogs/product.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import { failureOutcome, invalidRequest, type Outcome, successOutcome } from '../domain/outcome.ts';
import { computeMatchReadiness } from '../domain/pocket-fields.ts';
import { parseCount } from '../domain/query-string.ts';
import { type SortOrder, sortOrderNames } from '../domain/vertical.ts';
import { findSession } from '../sessions/find-session.ts';
import { defineOperation, reportIgnoredParameters } from './api-operation.ts';
import { type EmbedWidgetDeps, embedWidget, type WidgetEmbedResponse, widgetEmbedSchema } from './embed-widget.ts';
import { explanationSchema, offersProperties } from './offer-schemas.ts';
import { flagSchema, type ParameterTexts, sessionMember, type VerticalRules } from './request-members.ts';
import { ignoredParametersProperty, stringEnum, type ValueOf } from './schema-parts.ts';
import { type OffersResult, type ShowOffersDeps, selectOffersAndRecordView } from './show-offers.ts';

/** JSON response with offers (docs/contract.md#envelope). */
export type MarketplaceResponse = ValueOf<ReturnType<typeof createMarketplaceResponseSchema>>;

function createMarketplaceResponseSchema(vertical: VerticalWithProduct) {
  return Type.Object(
    { ...offersProperties(vertical), explain: Type.Optional(explanationSchema), ...ignoredParametersProperty },
    { title: 'Marketplace' },
  );
}

function describeSortOrders({ vertical, product }: VerticalWithProduct): string {
  const { sortOrders = sortOrderNames } = vertical;
  const { sortOrderDescriptions } = product;
  const meanings = sortOrders.map((order) => `\`${order}\`: ${sortOrderDescriptions[order]}`);
  const refused = sortOrderNames
    .filter((order) => !sortOrders.includes(order))
    .map((order) => ` As an exception of this vertical, \`${order}\` gets 400 \`INVALID_REQUEST\`.`);
  return `Order of the offers. ${meanings.join('; ')}.${refused.join('')}`;
}

const sortSchema = (sortOrders: readonly SortOrder[]) => stringEnum(sortOrders, { default: 'recommended' });

function acceptsSort(sort: unknown, { sortOrders = sortOrderNames }: VerticalRules): boolean {
  return sortOrders.includes(sort as SortOrder);
}

/** Parameters that select offers, also for widgets. A vertical may accept only some of the sort orders. */
export const selectionParameters = {
  max_offers: {
    description: 'Maximum number of offers in the response.',
    schema: Type.Integer({ minimum: 1, maximum: bounds.offersShownMax, default: bounds.offersShownDefault }),
  },
  sort: {
    schema: sortSchema(sortOrderNames),
    forVertical: (vertical: VerticalWithProduct) => ({
      description: describeSortOrders(vertical),
      schema: sortSchema(vertical.vertical.sortOrders ?? sortOrderNames),
    }),
    accepts: acceptsSort,
    rule: ({ sortOrders = sortOrderNames }: VerticalRules) => `must be one of ${sortOrders.join(', ')}`,
  },
};

export interface GetMarketplaceDeps extends ShowOffersDeps, EmbedWidgetDeps {
  readonly offerUrls: OfferUrls;
}

/**
 * GET /marketplace (docs/contract.md#marketplace-answers). Returns a promise only if `selectOffersAndRecordView` returns a promise. A HEAD
 * request records no view.
 */
export const getMarketplace = defineOperation({
  id: 'getMarketplace',
  method: 'GET',
  path: '/marketplace',
  limit: 'requests',
  summary: 'Get offers',
  description:
    'The ranked offers, or the embed code of a widget. With `json` each response counts as a view; `HEAD` does not.',
  parameters: {
    sub_id: sessionMember,
    format: {
      description: '`json` for your own offer cards, `iframe` or `js` for the widget.',
      schema: stringEnum(['json', 'iframe', 'js']),
    },
    ...selectionParameters,
    explain: {
      description: 'Explains why other offers do not match. Needs a test key and `format=json`.',
      schema: flagSchema,
    },
  },
  response: {
    description: 'The offers, or the embed code.',
    schema: (vertical) => Type.Union([createMarketplaceResponseSchema(vertical), widgetEmbedSchema]),
    examples: {
      json: { summary: 'format=json', recorded: 'offers' },
      explain: { summary: 'format=json&explain=true, with a test key', recorded: 'explained' },
      iframe: { summary: 'format=iframe, with Accept: application/json', recorded: 'iframe' },
      js: { summary: 'format=js, with Accept: application/json', recorded: 'js' },
    },
    html: {
      description: 'The embed code alone, unless the client prefers JSON.',
      examples: { iframe: { summary: 'format=iframe', recorded: 'iframeHtml' } },
    },
  },
  errors: ['SUB_ID_EXPIRED', 'INSUFFICIENT_INPUTS', 'SUB_ID_NOT_FOUND'],
  invalidParamExample: 'format',
  createResponse: (result: MarketplaceResult, { offerUrls }: GetMarketplaceDeps) =>
    'html' in result ? result : createMarketplaceResponse(result, offerUrls),
  renderJson: (result: MarketplaceResult, { offerUrls }, ignored) =>
    'html' in result
      ? JSON.stringify(reportIgnoredParameters(result, ignored))
      : renderMarketplaceJson(result, offerUrls, ignored),
  renderHtml: (result: MarketplaceResult) => ('html' in result ? `${result.html}\n` : null),
  parseValidTexts: parseJsonRequest,
  handle(
    deps: GetMarketplaceDeps,
    input,
    { caller, hasResponseBody, signal },
  ): Outcome<MarketplaceResult> | Promise<Outcome<MarketplaceResult>> {
    const { sub_id: subId, format, sort, explain } = input;
    if (explain && (caller.mode !== 'test' || format !== 'json')) return invalidRequest('explain');
    const found = findSession(deps, caller, subId);
    if (!found.ok) return found;
    const session = found.value;
    const { pocketFields: borrower, fieldsRevision: revision } = session;
    const readiness = computeMatchReadiness(caller.vertical, borrower);
    if (readiness.matchReadiness === 'insufficient') {
      return failureOutcome({ code: 'INSUFFICIENT_INPUTS', missingRequired: readiness.missingRequired });
    }
    if (format !== 'json') return successOutcome(embedWidget(deps, session, format, input));
    return selectOffersAndRecordView(deps, session, {
      subId,
      borrower,
      revision,
      readiness,
      sort,
      maxOffers: input.max_offers,
      explain,
      countsAsView: hasResponseBody,
      load: null,
      signal,
    });
  },
});

/** Parses the parameters of a usual request, for offers as JSON without an explanation, in a third of the time of the derived parser. */
function parseJsonRequest(
  { sub_id, format, max_offers: countText, sort = 'recommended', explain }: ParameterTexts,
  vertical: VerticalRules,
) {
  if (sub_id === undefined || format !== 'json' || explain !== undefined) return null;
  const max_offers = countText === undefined ? bounds.offersShownDefault : parseCount(countText, bounds.offersShownMax);
  if (max_offers === null || !acceptsSort(sort, vertical)) return null;
  return { sub_id, format, max_offers, sort: sort as SortOrder, explain: false } as const;
}

type MarketplaceResult = OffersResult | WidgetEmbedResponse;

/** Creates the JSON response with offers (docs/contract.md#envelope) as an object, for the embedded API. */
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

/**
 * Renders the response of `createMarketplaceResponse` and `reportIgnoredParameters` as JSON text from prepared fragments, which is many
 * times faster than `JSON.stringify`.
 */
export function renderMarketplaceJson(result: OffersResult, urls: OfferUrls, ignored: readonly string[]): string {
  const { explanation } = result;
  return (
    `{${renderEnvelopeMembers(result, urls)}` +
    `${explanation === null ? '' : `,"explain":${JSON.stringify(explanation)}`}` +
    `${ignored.length === 0 ? '' : `,"ignored":${JSON.stringify(ignored)}`}}`
  );
}

/** Renders the members that all responses with offers have, without the braces. */
export function renderEnvelopeMembers(result: OffersResult, urls: OfferUrls): string {
  const { subId, matchQuality, totalOffers, generatedMs, sort, catalog } = result;
  const renderer = catalog.offerRenderer(urls.logos);
  return (
    `"sub_id":"${subId}","match_quality":"${matchQuality}","offers":${renderer.renderOffersJson(result, urls)}` +
    `,"total_offers":${totalOffers},"generated_at":"${formatIsoTimestamp(generatedMs)}","sort":"${sort}"` +
    `,"catalog_version":"${catalog.version}","disclosure":${renderer.disclosureJson}`
  );
}
