import { bounds } from '../bounds.ts';
import { parseQueryParameters } from '../domain/query-string.ts';
import { copyToFlatString } from '../domain/text.ts';
import type { OfferUrls } from '../verticals/offer-view.ts';
import type { ClickRequest } from './follow-click.ts';

export const clickPath = '/c';

const clickParameters = ['sub', 'offer', 'v'] as const;

/** Creates the prefixes of click URLs and logo URLs. `click` is the base URL of the redirect host, `cdn` the base URL of the logos. */
export function createOfferUrls({ click, cdn }: { readonly click: string; readonly cdn: string }): OfferUrls {
  const clickPrefix = `${click}${clickPath}?sub=`;
  return { clickPrefix, clickPrefixJson: copyToFlatString(JSON.stringify(clickPrefix).slice(1, -1)), logos: cdn };
}

/** Parses a `click_url` for a program that handles click requests itself. */
export function parseClickUrl(url: string | URL, userAgent: string, method: string): ClickRequest {
  const text = String(url);
  const question = text.indexOf('?');
  return parseClickQuery(question < 0 ? '' : text.slice(question + 1), userAgent, method);
}

/** Parses the query of a click URL. A repeated or badly encoded parameter makes the URL invalid. Only GET requests count as clicks. */
export function parseClickQuery(query: string, userAgent: string, method: string): ClickRequest {
  const parsed = parseQueryParameters(query, clickParameters);
  const { sub = '', offer = '', v = '' } = parsed.ok ? parsed.values : {};
  return {
    sub,
    offer,
    v,
    userAgent: userAgent.slice(0, bounds.userAgentCharactersMax),
    isRedirectOnly: method !== 'GET',
  };
}

/**
 * Whether a header value announces a prefetch. `purpose` is the value of the header `Purpose`, `Sec-Purpose` or `X-Moz`; empty if the
 * request has no such header.
 */
export function isPrefetchPurpose(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}
