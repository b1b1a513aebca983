import type { OfferUrls } from '../catalogs/offer-view.ts';
import { formatIsoTimestamp } from '../domain/calendar.ts';
import type { OffersResult } from './show-offers.ts';

/**
 * Renders the response of `GET /marketplace` (docs/contract.md#envelope) from prepared JSON fragments, which is many times faster than
 * `JSON.stringify`. The JSON has the same content as the object from `createMarketplaceResponse` and `reportIgnoredParameters`.
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
