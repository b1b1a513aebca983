import { bounds } from '../bounds.ts';
import type { ApiKeyMode } from '../domain/mode.ts';
import type { ApiOperation } from './api-operation.ts';
import { queryAnalytics } from './query-analytics.ts';

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
  ...queryAnalytics.knownNames.map(toCompactName),
  ...['breakdown', 'columns', 'compare', 'currency', 'days', 'device', 'dimensions', 'end', 'enddate'],
  ...['fields', 'filter', 'filters', 'format', 'from', 'group', 'groupby', 'interval', 'metrics', 'offset'],
  ...['order', 'orderby', 'page', 'pagesize', 'period', 'perpage', 'range', 'since', 'sort', 'sortby', 'start'],
  ...['startdate', 'subids', 'tag', 'tags', 'timezone', 'to', 'tz', 'until'],
]);

/** Whether responses of an operation can have names in `ignored`: all responses to test keys, and analytics for live keys. */
export function reportsIgnoredNames(
  { mode }: { readonly mode: ApiKeyMode },
  { limit }: Pick<ApiOperation, 'limit'>,
): boolean {
  return mode === 'test' || limit === 'analytics';
}

/**
 * Returns the names of a request that its response lists as ignored: the names that the operation does not know. For a live key, returns only
 * names of features, in requests for analytics. Limits the number and the length of the names, and returns each name once.
 */
export function listIgnoredNames(
  caller: { readonly mode: ApiKeyMode },
  operation: Pick<ApiOperation, 'limit' | 'knownNames'>,
  names: Iterable<string>,
): readonly string[] {
  if (!reportsIgnoredNames(caller, operation)) return [];
  const ignored = new Set<string>();
  for (const name of names) {
    if (ignored.size === bounds.ignoredNamesShownMax) break;
    const isFeature = () => featureNames.has(toCompactName(name));
    if (operation.knownNames.includes(name) || (caller.mode === 'live' && !isFeature())) continue;
    // `slice` shortens a name before the name is split into code points, because splitting a very long name would be slow.
    ignored.add(
      [...name.slice(0, 2 * bounds.ignoredNameCharactersShown)].slice(0, bounds.ignoredNameCharactersShown).join(''),
    );
  }
  return [...ignored];
}
