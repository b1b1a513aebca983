import { formatIsoTimestamp } from '../../domain/calendar.ts';
import type { OffersResult } from '../../operations/show-offers.ts';
import type { WidgetOffers } from '../../operations/show-widget-offers.ts';
import { renderOffersJson } from '../../verticals/personal-loans/offer-view.ts';

/**
 * Renders the response of `GET /marketplace` (docs/contract.md#envelope) from prepared JSON fragments. The result equals the
 * `JSON.stringify` output for `toMarketplaceView` with `withIgnoredParameters`, but rendering fragments is many times faster.
 *
 * @param clickUrlPrefixJson start of each click URL, up to the sub_id, escaped for a JSON string
 */
export function renderMarketplaceJson(
  result: OffersResult,
  clickUrlPrefixJson: string,
  ignored: readonly string[],
): string {
  const { explanation } = result;
  return (
    `{${renderEnvelopeMembers(result, clickUrlPrefixJson)}` +
    `${explanation === null ? '' : `,"explain":${JSON.stringify(explanation)}`}` +
    `${ignored.length === 0 ? '' : `,"ignored":${JSON.stringify(ignored)}`}}`
  );
}

/** Renders the response of `GET /w/offers`, a `WidgetOffersView`. */
export function renderWidgetOffersJson(
  { result, loanAmount, expiresMs }: WidgetOffers,
  clickUrlPrefixJson: string,
): string {
  return (
    `{"loan_amount":${loanAmount},"expires_at":"${formatIsoTimestamp(expiresMs)}",` +
    `${renderEnvelopeMembers(result, clickUrlPrefixJson)}}`
  );
}

function renderEnvelopeMembers(result: OffersResult, clickUrlPrefixJson: string): string {
  const { subId, matchQuality, totalOffers, generatedMs, sort, catalog } = result;
  return (
    `"sub_id":"${subId}","match_quality":"${matchQuality}","offers":${renderOffersJson(result, clickUrlPrefixJson)}` +
    `,"total_offers":${totalOffers},"generated_at":"${formatIsoTimestamp(generatedMs)}","sort":"${sort}"` +
    `,"catalog_version":"${catalog.version}","disclosure":${catalog.offerRenderer.disclosureJson}`
  );
}
