import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';

/** Member `ignored` of a response, so that developers notice misspelt names (docs/contract.md#ignored-names). */
export interface IgnoredParameters {
  /** Members and query parameters of the request without effect: at most 64, each cut to 64 characters; absent if there are none. */
  readonly ignored?: readonly string[];
}

/** Names of the members and query parameters that each operation accepts. */
export const knownRequestParameters = {
  create_session: ['referrer_tag', 'user_agent', 'metadata'],
  submit_inputs: ['sub_id', 'fields'],
  get_marketplace: ['sub_id', 'format', 'max_offers', 'sort', 'explain'],
  query_analytics: ['referrer_tag', 'sub_id_list', 'date_from', 'date_to', 'granularity', 'limit', 'cursor'],
  list_tags: ['limit', 'cursor'],
} as const;

/** Returns a name in lower case without separators, so that `group_by`, `group-by` and `groupBy` are equal. */
function toCompactName(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '');
}

/**
 * Compact names under which other reporting APIs have features, and those of the parameters of GET /analytics. Responses to analytics queries
 * list such names as ignored for live keys too, because a caller that expects another format, time zone, grouping or period would misread
 * the figures.
 */
const featureNames: ReadonlySet<string> = new Set([
  ...knownRequestParameters.query_analytics.map(toCompactName),
  ...['breakdown', 'columns', 'compare', 'currency', 'days', 'device', 'dimensions', 'end', 'enddate'],
  ...['fields', 'filter', 'filters', 'format', 'from', 'group', 'groupby', 'interval', 'metrics', 'offset'],
  ...['order', 'orderby', 'page', 'pagesize', 'period', 'perpage', 'range', 'since', 'sort', 'sortby', 'start'],
  ...['startdate', 'subids', 'tag', 'tags', 'timezone', 'to', 'tz', 'until'],
]);

/** Query parameters of an operation as received. Absent parameters are undefined. */
export type RequestParameters<Operation extends keyof typeof knownRequestParameters> = {
  readonly [Name in (typeof knownRequestParameters)[Operation][number]]?: string | undefined;
};

/**
 * Returns the names of a request that its response lists as ignored: the names that the operation does not know. For a live key, returns only
 * names of features, in requests for analytics. Limits the number and the length of the names, and returns each name once.
 */
export function listIgnoredNames(
  { mode }: { readonly mode: ApiKeyMode },
  operation: keyof typeof knownRequestParameters,
  names: Iterable<string>,
): readonly string[] {
  const isAnalytics = operation === 'query_analytics' || operation === 'list_tags';
  if (mode === 'live' && !isAnalytics) return [];
  const known: readonly string[] = knownRequestParameters[operation];
  const ignored = new Set<string>();
  for (const name of names) {
    if (ignored.size === bounds.ignoredNamesShownMax) break;
    if (known.includes(name) || (mode === 'live' && !featureNames.has(toCompactName(name)))) continue;
    // `slice` shortens a name before the name is split into code points, because splitting a very long name would be slow.
    ignored.add(
      [...name.slice(0, 2 * bounds.ignoredNameCharactersShown)].slice(0, bounds.ignoredNameCharactersShown).join(''),
    );
  }
  return [...ignored];
}

/** Adds `names` to the member `ignored` of a response. */
export function reportIgnoredParameters<View extends object>(
  view: View & IgnoredParameters,
  names: readonly string[],
): View & IgnoredParameters {
  return names.length === 0 ? view : { ...view, ignored: [...(view.ignored ?? []), ...names] };
}
