import Type from 'typebox';
import { bounds } from '../bounds.ts';
import type { OfferUrls } from '../catalogs/offer-view.ts';
import { parseQueryParameters } from '../domain/query-string.ts';
import { copyToFlatString } from '../domain/text.ts';
import type { ClickRequest } from './follow-click.ts';
import { sessionMember } from './request-members.ts';
import { isNavigation } from './speculative-request.ts';

export const clickPath = '/c';

/** Query parameters of a click URL. A click with an invalid parameter gets 404. */
export const clickParameters = {
  sub: sessionMember,
  offer: { description: 'The offer.', schema: Type.String() },
  v: { description: 'Encrypted offer terms at the time of the view.', schema: Type.String() },
};
const clickParameterNames = ['sub', 'offer', 'v'] as const satisfies (keyof typeof clickParameters)[];

/** Creates the prefixes of click URLs and logo URLs. `click` is the base URL of the redirect host, `cdn` the base URL of the logos. */
export function createOfferUrls({ click, cdn }: { readonly click: string; readonly cdn: string }): OfferUrls {
  const clickPrefix = `${click}${clickPath}?sub=`;
  return { clickPrefix, clickPrefixJson: copyToFlatString(JSON.stringify(clickPrefix).slice(1, -1)), logos: cdn };
}

/** Properties of the HTTP request that opened a click URL. */
export interface ClickContext {
  /** HTTP method. Default: `GET`. A request with a method other than GET is redirected but not recorded as a click. */
  readonly method?: string | undefined;
  readonly userAgent?: string | undefined;
  /**
   * Values of the headers `Sec-Purpose`, `Purpose`, `X-Purpose` and `X-Moz`, joined by commas. Browsers mark speculative requests, such as
   * prefetches, with these headers.
   */
  readonly purpose?: string | undefined;
  /** Value of the header `Sec-Fetch-Dest`. A request for a part of a page, such as an image, is redirected but not recorded as a click. */
  readonly fetchDestination?: string | undefined;
  /** Value of the header `Sec-Fetch-Mode`. A request of a script is redirected but not recorded as a click. */
  readonly fetchMode?: string | undefined;
}

/** Parses a `click_url` for a program that handles click requests itself. */
export function parseClickUrl(url: string | URL, context: ClickContext): ClickRequest {
  const text = String(url);
  const question = text.indexOf('?');
  return parseClickQuery(question < 0 ? '' : text.slice(question + 1), context);
}

/** Parses the query of a click URL. A repeated or badly encoded parameter makes the URL invalid. Only GET navigations count as clicks. */
export function parseClickQuery(
  query: string,
  { method = 'GET', userAgent = '', fetchDestination = '', fetchMode = '' }: ClickContext,
): ClickRequest {
  const parsed = parseQueryParameters(query, clickParameterNames);
  const { sub = '', offer = '', v = '' } = parsed.ok ? parsed.values : {};
  return {
    sub,
    offer,
    v,
    userAgent: userAgent.slice(0, bounds.userAgentCharactersMax),
    uncounted: method !== 'GET' ? 'not_get' : isNavigation(fetchDestination, fetchMode) ? null : 'not_navigation',
  };
}
