import { bounds } from '../../../bounds.ts';
import { type Failure, invalidRequest } from '../../../domain/outcome.ts';
import { parseCount, parseQueryParameters } from '../../../domain/query-string.ts';

const limitRule = `must be an integer from 1 to ${bounds.operatorPageItemsMax}`;
export const cursorRule = 'must be the next_cursor of the page before';

/** Returns the rule of `limit` for a list with too many items for one answer. @param items such as `keys` */
export function limitNeededRule(items: string): string {
  return `is required for more than ${bounds.unpagedItemsMax} ${items}, and ${limitRule}`;
}

type PageQuery<Name extends string> =
  | Failure
  | {
      readonly ok: true;
      readonly values: Partial<Record<Name | 'limit' | 'cursor', string>>;
      /** Maximum number of items; undefined if the query has no `limit`. */
      readonly limit: number | undefined;
    };

/** Parses the parameters `limit` and `cursor` of a page, and the parameters `names`. Ignores all other parameters. */
export function parsePageQuery<Name extends string = never>(
  query: string,
  names: readonly Name[] = [],
): PageQuery<Name> {
  const parsed = parseQueryParameters<Name | 'limit' | 'cursor'>(query, [...names, 'limit', 'cursor']);
  if (!parsed.ok) return parsed;
  const { values } = parsed;
  if (values.limit === undefined) return { ok: true, values, limit: undefined };
  const limit = parseCount(values.limit, bounds.operatorPageItemsMax);
  return limit === null ? invalidRequest('limit', limitRule) : { ok: true, values, limit };
}

/** Page of a list in an answer. */
export type Page<View> = ReturnType<typeof toPageJson<never, View>>;

/**
 * Creates the JSON of a page.
 *
 * @param found items of the page, and one more item if there is a next page
 * @param cursorOf returns the cursor of the page after an item
 */
export function toPageJson<Item, View>(
  found: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
  toView: (item: Item) => View,
) {
  const items = found.slice(0, limit);
  const hasMore = found.length > limit;
  return {
    data: items.map(toView),
    has_more: hasMore,
    next_cursor: hasMore ? cursorOf(items.at(-1)!) : null,
  };
}
