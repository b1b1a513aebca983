import { Command, InvalidArgumentError } from 'commander';
import { bounds } from '../../bounds.ts';
import { parseIsoDate } from '../../domain/calendar.ts';
import { isReferrerTag } from '../../sessions/referrer-tags.ts';
import { servedVerticals } from '../../verticals/registry.ts';
import type { AnalyticsReportOptions } from '../actions/analytics.ts';
import { type CommandHelp, withHelp } from '../command-help.ts';
import { choiceOption, parseAccountName } from '../option-parsers.ts';

export type AnalyticsReportKind = 'summary' | 'daily' | 'sessions';

const metricMembers = {
  sessions_total: 'sessions created',
  marketplace_views: 'times that offers were shown to these sessions',
  offer_clicks: 'offers clicked, each counted once per session',
  click_rate: 'clicks per view',
  rev_attributed: 'revenue expected from the clicks, in USD',
  rev_confirmed: 'revenue that lenders confirmed, in USD',
  rev_per_session: 'confirmed revenue per session, in USD',
} as const;

const positionMember = 'position of the last ledger record that is counted';

const reportDefinitions: Readonly<
  Record<AnalyticsReportKind, { readonly summary: string; readonly description: string; readonly help: CommandHelp }>
> = {
  summary: {
    summary: 'print the totals of an experiment',
    description: 'Prints the totals of one referrer tag, with the same figures as GET /analytics.',
    help: {
      examples: [
        'marketplace analytics summary --account acme --tag hero-short-form',
        'marketplace analytics summary --account acme --tag hero-short-form --from 2026-11-01 --to 2026-11-30 --json | jq .rev_confirmed',
      ],
      json: {
        output: 'one object: the response of the API (docs/api.md) and the position in the ledger',
        members: {
          referrer_tag: 'referrer tag of the sessions',
          ...metricMembers,
          top_lenders: 'one object per lender: `lender`, `clicks`, `rev_confirmed`',
          granularity: '`summary`',
          date_from: 'first day of the sessions, UTC',
          date_to: 'last day of the sessions, UTC',
          sessions_kept_from:
            'first day whose single sessions are retained; earlier days are included in the figures; or null',
          ids_outside_dates: '0',
          matured_from:
            'first day of the three matured figures: the requested day, or 180 days ago by default; or null',
          matured_to: 'last day of the matured figures, or null',
          sessions_matured: 'sessions older than 45 days',
          rev_per_session_matured: 'confirmed revenue per matured session in USD, or null',
          rev_per_session_ci95: 'its 95 % confidence interval: an object with `low` and `high`, or null',
          by_device: 'one object per device class with the seven figures',
          widget_events: 'number of widget events by type',
          as_of: 'time of the last record that is counted, ISO 8601, or null',
          as_of_position: positionMember,
        },
      },
    },
  },
  daily: {
    summary: 'print the figures of an experiment by day',
    description: 'Prints the figures of one referrer tag by the UTC day on which its sessions were created.',
    help: {
      examples: [
        'marketplace analytics daily --account acme --tag hero-short-form',
        'marketplace analytics daily --account acme --tag hero-short-form --from 2026-01-01 --json | jq -r .date',
      ],
      json: {
        output: 'one object per line and day, as in the API (docs/api.md)',
        members: {
          date: 'UTC day',
          ...metricMembers,
          widget_events: 'number of widget events by type',
          matured: 'whether the sessions are older than 45 days',
          as_of_position: positionMember,
        },
      },
    },
  },
  sessions: {
    summary: 'print the sessions of an experiment',
    description:
      'Prints the sessions of one referrer tag in the order of their creation. It reads page by page, so while a server runs, later pages may count more events than earlier ones.',
    help: {
      examples: [
        'marketplace analytics sessions --account acme --tag hero-short-form --from 2026-01-01',
        `marketplace analytics sessions --account acme --tag hero-short-form --json | jq -r 'select(.rev_confirmed > 0) | .sub_id'`,
      ],
      json: {
        output: 'one object per line and session, as in the API (docs/api.md)',
        members: {
          sub_id: 'id of the session',
          referrer_tag: 'referrer tag of the session',
          created_at: 'ISO 8601, as all times',
          sandbox: 'whether its key is a test key',
          device: 'device class',
          metadata: 'metadata from the request that created the session, or null',
          marketplace_views: 'times that offers were shown',
          offer_clicks: 'offers clicked, each counted once',
          rev_attributed: metricMembers.rev_attributed,
          rev_confirmed: metricMembers.rev_confirmed,
          last_event_at: 'time of the last event that is counted',
          lenders: 'one object per lender with a click: `lender`, `clicks`, `rev_confirmed`',
          as_of_position: positionMember,
        },
      },
    },
  },
};

function analyticsReportCommand(kind: AnalyticsReportKind): Command {
  const { summary, description, help } = reportDefinitions[kind];
  const command = new Command(kind)
    .summary(summary)
    .description(
      `${description} It reads the analytics store of the data folder, also while a server runs, and prints the position of the last ledger record that is counted. The newest events may not be counted yet.`,
    )
    .requiredOption('--account <name>', 'account of the sessions', parseAccountName)
    .requiredOption('--tag <tag>', 'referrer tag of the sessions', parseReferrerTag)
    .addOption(
      choiceOption(
        '--vertical <segment>',
        'vertical of the sessions',
        servedVerticals,
        ({ segment }) => segment,
      ).default(servedVerticals[0], servedVerticals[0]!.segment),
    )
    .addOption(choiceOption('--mode <mode>', 'sessions of live keys or of test keys', ['live', 'test']).default('live'))
    .option(
      '--from <date>',
      `first UTC day on which the sessions were created (default: ${bounds.analyticsDefaultDays} days before the last one)`,
      parseDate,
    )
    .option('--to <date>', 'last UTC day on which the sessions were created (default: today)', parseDate)
    .option('--json', kind === 'summary' ? 'print one JSON object' : 'print one JSON object per line')
    .action(async (options: AnalyticsReportOptions) => {
      const { printAnalyticsReport } = await import('../actions/analytics.ts');
      await printAnalyticsReport(kind, options);
    });
  return withHelp(command, { exitCodes: { 1: null }, ...help });
}

function parseReferrerTag(text: string): string {
  if (isReferrerTag(text)) return text;
  throw new InvalidArgumentError('It must be 3 to 64 lower-case letters, digits, underscores or hyphens.');
}

/** Parses a date and returns its day number. */
function parseDate(text: string): number {
  const day = parseIsoDate(text);
  if (day !== null) return day;
  throw new InvalidArgumentError('It must be a date like 2026-11-21.');
}

export function analyticsCommand(): Command {
  const command = new Command('analytics')
    .summary('print the figures of experiments, or rebuild them')
    .description(
      'Reads the analytics store of the data folder (SVC_DATA_DIR, or ./data), also while a server runs, and rebuilds it.',
    )
    .addCommand(analyticsReportCommand('summary'))
    .addCommand(analyticsReportCommand('daily'))
    .addCommand(analyticsReportCommand('sessions'))
    .addCommand(tagsCommand())
    .addCommand(rebuildCommand());
  return withHelp(command, {
    examples: [
      'marketplace analytics summary --account acme --tag hero-short-form',
      'marketplace analytics daily --account acme --tag hero-short-form --from 2026-11-01',
      'marketplace analytics rebuild',
    ],
    exitCodes: { 1: null, 3: null, 130: null },
  });
}

function tagsCommand(): Command {
  const command = new Command('tags')
    .summary('count the referrer tags of each account')
    .description(
      'Counts the different referrer tags of each account, vertical and mode, which SVC_LIMIT_REFERRER_TAGS limits. The highest count is ' +
        'printed first. Tags remain counted when the retention deletes their sessions. Reads the analytics store of the data folder, also ' +
        'while a server runs.',
    )
    .option('--json', 'print an array of JSON objects')
    .action(async (options: { readonly json?: true }) => {
      const { printTagCounts } = await import('../actions/analytics.ts');
      await printTagCounts(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace analytics tags',
      `marketplace analytics tags --json | jq -r '.[] | select(.tags > 50000) | .account'`,
    ],
    exitCodes: { 1: null },
    json: {
      output: 'array with one object per account, vertical and mode, the highest count first',
      members: {
        account: 'name of the account, or null if the key file has no key of it',
        vertical: 'path segment of the vertical, or null if this version does not know it',
        mode: '`live` or `test`',
        tags: 'number of different referrer tags',
        as_of_position: positionMember,
      },
    },
  });
}

function rebuildCommand(): Command {
  const command = new Command('rebuild')
    .summary('rebuild the analytics store from the ledger')
    .description(
      'Verifies the ledger, computes all figures from its records and from the archived figures of days whose records the retention ' +
        'deleted (SVC_RETENTION_DAYS), and replaces the analytics store. The service must be stopped. A rebuild is seldom needed: the ' +
        'service rebuilds a store that is damaged, missing or of another version at its start. If the command is killed, run it again.',
    )
    .option('--json', 'print one JSON object')
    .action(async (options: { readonly json?: true }) => {
      const { rebuildAnalytics } = await import('../actions/analytics-rebuild.ts');
      await rebuildAnalytics(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace analytics rebuild',
      'SVC_DATA_DIR=/backup/data marketplace analytics rebuild --json | jq .left_out',
    ],
    exitCodes: { 1: null, 3: 'the ledger is damaged; the store is unchanged', 130: null },
    json: {
      output: 'one object',
      members: {
        store: 'path of the store',
        replaced: 'whether there was a store before',
        records: 'number of ledger records read',
        left_out: 'object with the number of records that are not counted, by reason',
        missing: 'sentences about missing records that the figures leave out',
        tail_bytes: 'bytes after the last complete record; the next start of the service moves them to a file',
      },
    },
  });
}
