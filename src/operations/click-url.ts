import { bounds } from '../bounds.ts';
import { parseQueryParameters } from '../domain/query-string.ts';
import type { ClickRequest } from './follow-click.ts';

export const clickPath = '/c';

const clickParameters = ['sub', 'offer', 'v'] as const;

/** Click URLs up to the sub_id, for the base URL of the redirect host. */
export function clickUrlPrefix(clickBaseUrl: string): string {
  return `${clickBaseUrl}${clickPath}?sub=`;
}

/** Parses a `click_url`, for a program that redirects clicks itself. */
export function parseClickUrl(url: string | URL, userAgent: string, method: string): ClickRequest {
  const text = String(url);
  const question = text.indexOf('?');
  return parseClickQuery(question < 0 ? '' : text.slice(question + 1), userAgent, method);
}

/** A repeated or badly encoded parameter makes a link that belongs to no session. Only a GET counts as a click. */
export function parseClickQuery(query: string, userAgent: string, method: string): ClickRequest {
  const parsed = parseQueryParameters(query, clickParameters);
  const { sub = '', offer = '', v = '' } = parsed.ok ? parsed.values : {};
  return { sub, offer, v, userAgent: userAgent.slice(0, bounds.userAgentCharactersMax), isHead: method !== 'GET' };
}

/** Whether the value of a `Purpose`, `Sec-Purpose` or `X-Moz` header, empty if absent, announces a prefetch. */
export function isPrefetchPurpose(purpose: string): boolean {
  return purpose !== '' && /prefetch|prerender|preview/i.test(purpose);
}
