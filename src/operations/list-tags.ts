import Type from 'typebox';
import type { Analytics } from '../analytics/analytics.ts';
import { daysSinceEpoch } from '../domain/calendar.ts';
import type { Clock } from '../domain/clock.ts';
import { invalidRequest, type Outcome } from '../domain/outcome.ts';
import type { NameCursors } from '../ids/cursors.ts';
import { toTagView } from './analytics-responses.ts';
import { type TagsResponse, tagsSchema } from './analytics-schemas.ts';
import { defineOperation } from './api-operation.ts';
import { pageLimitSchema, recentDaysSchema, refuseIfUnavailable } from './query-analytics.ts';

export interface ListTagsDeps {
  readonly analytics: Pick<Analytics, 'listTags'>;
  readonly clock: Clock;
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
    recent_days: {
      description: 'Lists only tags with sessions on the last days, today included, and adds the member `recent`.',
      schema: recentDaysSchema,
    },
  },
  response: { description: 'A page of tags.', schema: tagsSchema, examples: { tags: { recorded: 'tags' } } },
  errors: [],
  invalidParamExample: 'cursor',
  async handle(
    { analytics, clock, tagCursors }: ListTagsDeps,
    { limit, cursor, recent_days: recentDays },
    { caller, signal },
  ): Promise<Outcome<TagsResponse>> {
    const { account, vertical, mode } = caller;
    const tenant = { account, vertical: vertical.number, mode };
    const afterTag = cursor === undefined ? '' : tagCursors.verify(tenant, cursor);
    if (afterTag === null) return invalidRequest('cursor');
    const toDay = daysSinceEpoch(clock.wallMs());
    const query = {
      ...tenant,
      afterTag,
      limit,
      ...(recentDays === undefined ? {} : { recent: { fromDay: toDay - recentDays + 1, toDay } }),
    };
    return refuseIfUnavailable(async () => {
      const { tags, nextAfterTag } = await analytics.listTags(query, signal);
      return {
        data: tags.map(toTagView),
        has_more: nextAfterTag !== null,
        next_cursor: nextAfterTag === null ? null : tagCursors.createCursor(tenant, nextAfterTag),
      };
    });
  },
});
