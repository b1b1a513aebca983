import type { Analytics } from '../analytics/analytics.ts';
import type { CancelSignal } from '../domain/async.ts';
import { invalidRequest, type Outcome } from '../domain/outcome.ts';
import type { Tenant } from '../domain/tenant.ts';
import type { TagCursors } from '../ids/tag-cursor.ts';
import { toTagView } from './analytics-responses.ts';
import type { TagsResponse } from './analytics-schemas.ts';
import type { RequestParameters } from './ignored-names.ts';
import { parsePageLimit, refuseIfUnavailable } from './query-analytics.ts';

export interface ListTagsDeps {
  readonly analytics: Pick<Analytics, 'listTags'>;
  readonly tagCursors: TagCursors;
}

/** Query parameters of GET /tags. */
export type TagsRequest = RequestParameters<'list_tags'>;

/** GET /tags (docs/contract.md#tags): returns a page of the caller's referrer tags in alphabetical order, with their figures. */
export async function listTags(
  { analytics, tagCursors }: ListTagsDeps,
  { account, vertical, mode }: Tenant,
  { limit: limitText, cursor }: TagsRequest,
  signal: CancelSignal | null = null,
): Promise<Outcome<TagsResponse>> {
  const limit = parsePageLimit(limitText);
  if (limit === null) return invalidRequest('limit');
  const tenant = { account, vertical: vertical.number, mode };
  const afterTag = cursor === undefined ? '' : tagCursors.verify(tenant, cursor);
  if (afterTag === null) return invalidRequest('cursor');
  return refuseIfUnavailable(async () => {
    const { tags, nextAfterTag } = await analytics.listTags({ ...tenant, afterTag, limit }, signal);
    return {
      data: tags.map(toTagView),
      has_more: nextAfterTag !== null,
      next_cursor: nextAfterTag === null ? null : tagCursors.createCursor(tenant, nextAfterTag),
    };
  });
}
