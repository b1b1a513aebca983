import { bounds } from '../bounds.ts';

/**
 * Member `ignored` of a response to a request with a test key. `ignored` lists the names in the request that the service does not know, so
 * that developers notice misspelt names.
 */
export interface IgnoredParameters {
  /** Unknown members and query parameters of the request: at most 64, each cut to 64 characters; absent if there are none. */
  readonly ignored?: readonly string[];
}

/** Names of the members and query parameters that each operation accepts. */
export const knownRequestParameters = {
  create_session: ['referrer_tag', 'user_agent', 'metadata'],
  submit_inputs: ['sub_id', 'fields'],
  get_marketplace: ['sub_id', 'format', 'max_offers', 'sort', 'explain'],
  query_analytics: ['referrer_tag', 'sub_id_list', 'date_from', 'date_to', 'granularity', 'limit', 'cursor'],
} as const;

/** Query parameters of an operation as received. Absent parameters are undefined. */
export type RequestParameters<Operation extends keyof typeof knownRequestParameters> = {
  readonly [Name in (typeof knownRequestParameters)[Operation][number]]?: string | undefined;
};

/** Lists the names that are not in `known`, each once, in their original order. Limits the number and the length of the listed names. */
export function collectUnknownParameters(names: Iterable<string>, known: readonly string[]): readonly string[] {
  const ignored = new Set<string>();
  for (const name of names) {
    if (ignored.size === bounds.ignoredNamesShownMax) break;
    // `slice` shortens a name before the name is split into code points, because splitting a very long name would be slow.
    if (!known.includes(name)) {
      ignored.add(
        [...name.slice(0, 2 * bounds.ignoredNameCharactersShown)].slice(0, bounds.ignoredNameCharactersShown).join(''),
      );
    }
  }
  return [...ignored];
}

/** Adds `ignored` to a response if the request contained unknown names. */
export function reportIgnoredParameters<View extends object>(
  view: View,
  names: readonly string[],
): View & IgnoredParameters {
  return names.length === 0 ? view : { ...view, ignored: names };
}
