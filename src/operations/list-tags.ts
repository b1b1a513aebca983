import Type from 'typebox';
import type { Analytics } from '../analytics/analytics.ts';
import { invalidRequest, type Outcome } from '../domain/outcome.ts';
import type { NameCursors } from '../ids/cursors.ts';
import { toTagView } from './analytics-responses.ts';
import { type TagsResponse, tagsSchema } from './analytics-schemas.ts';
import { defineOperation } from './api-operation.ts';
import { pageLimitSchema, refuseIfUnavailable } from './query-analytics.ts';

export interface ListTagsDeps {
  readonly analytics: Pick<Analytics, 'listTags'>;
  readonly tagCursors: NameCursors;
}

/** GET /tags (docs/contract.md#tags): returns a page of the caller's referrer tags in alphabetical order, with their figures. */
export const listTags = defineOperation({
  id: 'listTags',
  method: 'GET',
  path: '/tags',
  limit: 'analytics',
  scope: 'analytics',
  summary: 'List referrer tags',
  description: 'The tags of your sessions. Counts toward the limit of analytics queries.',
  parameters: {
    limit: { description: 'Maximum number of tags.', schema: pageLimitSchema },
    cursor: { description: 'The `next_cursor` of the previous page.', schema: Type.Optional(Type.String()) },
  },
  response: { description: 'A page of tags.', schema: tagsSchema, examples: { tags: { recorded: 'tags' } } },
  errors: [],
  invalidParamExample: 'cursor',
  async handle(
    { analytics, tagCursors }: ListTagsDeps,
    { limit, cursor },
    { caller, signal },
  ): Promise<Outcome<TagsResponse>> {
    const { account, vertical, mode } = caller;
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
  },
});
