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

/** Properties of the HTTP request for a click URL. */
export interface ClickRequestSource {
  readonly method: string;
  readonly userAgent: string;
  /** Value of the header `Sec-Fetch-Dest`; empty without the header. */
  readonly destination: string;
  /** Value of the header `Sec-Fetch-Mode`; empty without the header. */
  readonly mode: string;
}

/** Parses a `click_url` for a program that handles click requests itself. */
export function parseClickUrl(url: string | URL, source: ClickRequestSource): ClickRequest {
  const text = String(url);
  const question = text.indexOf('?');
  return parseClickQuery(question < 0 ? '' : text.slice(question + 1), source);
}

/** Parses the query of a click URL. A repeated or badly encoded parameter makes the URL invalid. Only GET navigations count as clicks. */
export function parseClickQuery(
  query: string,
  { method, userAgent, destination, mode }: ClickRequestSource,
): ClickRequest {
  const parsed = parseQueryParameters(query, clickParameterNames);
  const { sub = '', offer = '', v = '' } = parsed.ok ? parsed.values : {};
  return {
    sub,
    offer,
    v,
    userAgent: userAgent.slice(0, bounds.userAgentCharactersMax),
    uncounted: method !== 'GET' ? 'not_get' : isNavigation(destination, mode) ? null : 'not_navigation',
  };
}
