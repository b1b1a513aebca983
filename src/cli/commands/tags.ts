import type { Command } from 'commander';
import type { TagsPage, TagsQuery } from '../../analytics/analytics.ts';
import type { ReadOnlyAnalytics } from '../../analytics/read-only-analytics.ts';
import { bounds } from '../../bounds.ts';
import type { VerticalRegistry } from '../../catalogs/vertical-registry.ts';
import { readDataDir } from '../../config/config.ts';
import { toTagView } from '../../operations/analytics-responses.ts';
import {
  createModeOption,
  createVerticalOption,
  defineCommand,
  parseAccountName,
  type TenantOptions,
} from '../command.ts';
import { printPages, withStoredAnalytics } from './analytics.ts';
import { tagColumns } from './analytics-text.ts';
import { findTenant } from './keys.ts';

export function createCommand({ verticals }: VerticalRegistry): Command {
  return defineCommand('tags', {
    description:
      'Prints the referrer tags of an account in alphabetical order, with the figures of all their days, as GET /tags does. The command ' +
      'reads the analytics store of the data folder (SVC_DATA_DIR, or ./data), also while a server runs, and prints the position of the last ' +
      'counted ledger record. The newest events may not be counted yet.',
    examples: [
      'marketplace tags --account acme',
      `marketplace tags --account acme --json | jq -r 'select(.offer_clicks == 0) | .referrer_tag'`,
    ],
    json:
      'one object per line and tag, as in the API (docs/contract.md#tags): referrer_tag, first_session_at, last_session_at, sessions_total, ' +
      'marketplace_views, offer_clicks, rev_attributed, rev_confirmed, as_of_position',
  })
    .requiredOption('--account <name>', 'account of the sessions', parseAccountName)
    .addOption(createVerticalOption('vertical of the sessions', verticals).default(verticals[0], verticals[0]!.segment))
    .addOption(createModeOption('sessions of live keys or of test keys').default('live'))
    .action(printTags);
}

async function printTags({ json, ...options }: TenantOptions): Promise<void> {
  const { tenant, tenantDir } = findTenant(readDataDir(), options);
  await withStoredAnalytics(tenantDir, (analytics) =>
    printPages(readTagPages(analytics, tenant), analytics, {
      json: json ?? false,
      columns: tagColumns,
      itemName: 'tag',
    }),
  );
}

async function* readTagPages(
  analytics: ReadOnlyAnalytics,
  tenant: Omit<TagsQuery, 'afterTag' | 'limit'>,
): AsyncGenerator<ReturnType<typeof toTagView>[], void> {
  for (let afterTag: string | null = ''; afterTag !== null; ) {
    const page: TagsPage = await analytics.listTags({ ...tenant, afterTag, limit: bounds.analyticsPageItemsMax });
    yield page.tags.map(toTagView);
    afterTag = page.nextAfterTag;
  }
}
