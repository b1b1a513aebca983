import { bounds } from '../bounds.ts';

/** What an answer to a test key has beside its own members, so that a misspelt name is noticed during development. */
export interface IgnoredNames {
  /**
   * Names of members and query parameters in the request that the operation does not know: at most 64, each cut to 64 characters.
   * Absent when there are none.
   */
  readonly ignored?: readonly string[];
}

/** Members and query parameters that each operation knows. */
export const knownRequestNames = {
  create_session: ['referrer_tag', 'user_agent', 'metadata'],
  submit_inputs: ['sub_id', 'fields'],
  get_marketplace: ['sub_id', 'format', 'max_offers', 'sort', 'explain'],
  query_analytics: ['referrer_tag', 'sub_id_list', 'date_from', 'date_to', 'granularity', 'limit', 'cursor'],
} as const;

/** Lists the names that are not `known`, each once and in order, within the bounds of {@link IgnoredNames}. */
export function collectIgnoredNames(names: Iterable<string>, known: readonly string[]): readonly string[] {
  const ignored = new Set<string>();
  for (const name of names) {
    if (ignored.size === bounds.ignoredNamesShownMax) break;
    // The first slice spares the longest names from being split into characters as a whole.
    if (!known.includes(name)) {
      ignored.add(
        [...name.slice(0, 2 * bounds.ignoredNameCharactersShown)].slice(0, bounds.ignoredNameCharactersShown).join(''),
      );
    }
  }
  return [...ignored];
}
