import type { CatalogStore } from '../catalogs/catalog-store.ts';
import { parseQueryParameters } from '../domain/query-string.ts';
import type { ClickIds } from '../ids/click-tokens.ts';
import { decodeSubId, formatSubId } from '../ids/sub-id.ts';
import type { SessionStore } from '../sessions/session-store.ts';

export interface DescribeClickDeps {
  readonly clickIds: ClickIds;
  readonly catalogs: CatalogStore;
  readonly sessions: SessionStore;
}

/** A click, as the built-in landing pages show it. */
export interface DescribedClick {
  readonly lenderName: string;
  readonly offerId: string;
  /** Expected revenue in micro-dollars: what a live click booked, or what a sandbox click would have booked; null if unknown. */
  readonly valueMicros: number | null;
}

/**
 * Describes the click of a `click_id` in the query of a built-in landing page. Returns null if this service did not issue the `click_id`, if
 * no catalog has its offer, or if the click led to another page: a lender knows the `click_id` of its clicks, and must not learn their
 * values. The amount of a sandbox click depends on the credit band, so it is known only while the session is stored.
 */
export function describeClick(
  { clickIds, catalogs, sessions }: DescribeClickDeps,
  page: 'sandbox' | 'example',
  query: string,
): DescribedClick | null {
  const parameters = parseQueryParameters(query, ['click_id']);
  const text = parameters.ok ? parameters.values.click_id : undefined;
  const click = text === undefined ? null : clickIds.verify(text);
  if (click === null) return null;
  const { sub, offerId, valueMicros } = click;
  const { vertical, mode } = decodeSubId(sub);
  const offer = catalogs.findOffer(vertical, mode, offerId);
  if (offer === null) return null;
  if (page === 'example' ? mode !== 'live' || !offer.isExample : mode !== 'test') return null;
  const { lenderName } = offer;
  if (mode === 'live') return { lenderName, offerId, valueMicros };
  const ranking = sessions.get(formatSubId(sub))?.cachedRanking;
  const catalog = ranking ? catalogs.findCatalogByVersion(ranking.ranking.catalogVersion) : null;
  const offerIndex = catalog?.findOfferIndex(offerId) ?? -1;
  const isKnown = ranking && catalog !== null && offerIndex >= 0;
  return {
    lenderName,
    offerId,
    valueMicros: isKnown ? catalog.clickValueMicros(offerIndex, ranking.creditBand) : null,
  };
}
