import { bounds } from '../bounds.ts';
import type { Mode } from '../domain/mode.ts';
import { succeeded, invalidRequest, type Outcome } from '../domain/outcome.ts';
import { type SortOrder, sortOrders } from '../offers/matcher.ts';

/** Query parameters as sent, undefined when absent (docs/contract.md#marketplace-parameters). */
export interface MarketplaceRequest {
  readonly sub_id?: string | undefined;
  readonly format?: string | undefined;
  readonly max_offers?: string | undefined;
  readonly sort?: string | undefined;
  /** `true` or `false`; only a test key may ask for `true`, and only for `format=json`. */
  readonly explain?: string | undefined;
}

/** How many offers, and in which order. */
export interface OfferSelection {
  readonly sort: SortOrder;
  readonly maxOffers: number;
}

export function parseOfferSelection(request: Pick<MarketplaceRequest, 'max_offers' | 'sort'>): Outcome<OfferSelection> {
  const maxOffers = parseMaxOffers(request.max_offers);
  if (maxOffers === null) return invalidRequest('max_offers');
  const sort = (request.sort ?? 'recommended') as SortOrder;
  if (!sortOrders.includes(sort)) return invalidRequest('sort');
  return succeeded({ sort, maxOffers });
}

/** Whether the reasons why offers do not match are asked for. */
export function parseExplain({ format, explain }: MarketplaceRequest, mode: Mode): Outcome<boolean> {
  if (explain === undefined || explain === 'false') return succeeded(false);
  return explain === 'true' && mode === 'test' && format === 'json' ? succeeded(true) : invalidRequest('explain');
}

/** 1 to 20 in plain digits; null for anything else. */
function parseMaxOffers(text: string | undefined): number | null {
  if (text === undefined) return bounds.offersShownDefault;
  if (!/^[1-9][0-9]?$/.test(text)) return null;
  const count = Number(text);
  return count <= bounds.offersShownMax ? count : null;
}
