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
  marketplace_views: 'times they were shown offers',
  offer_clicks: 'offers clicked, each once a session',
  click_rate: 'clicks by views',
  rev_attributed: 'USD that the clicks are expected to earn',
  rev_confirmed: 'USD that lenders confirmed',
  rev_per_session: 'USD confirmed, by sessions',
} as const;

const reportDefinitions: Readonly<
  Record<AnalyticsReportKind, { readonly summary: string; readonly description: string; readonly guide: CommandHelp }>
> = {
  summary: {
    summary: 'the figures of an experiment',
    description: 'Shows the figures of one referrer tag, as GET /analytics does.',
    guide: {
      examples: [
        'marketplace analytics summary --account acme --tag hero-short-form',
        'marketplace analytics summary --account acme --tag hero-short-form --from 2026-11-01 --to 2026-11-30 --json | jq .rev_confirmed',
      ],
      json: {
        output: 'one object, the answer of the API (docs/api.md), and how far the figures have followed the ledger',
        members: {
          referrer_tag: 'asked for',
          ...metricMembers,
          top_lenders: 'an object for each: `lender`, `clicks`, `rev_confirmed`',
          granularity: '`summary`',
          date_from: 'the first day of the sessions, UTC',
          date_to: 'the last',
          sessions_kept_from: 'days before are in these figures, but have no single sessions any more; or null',
          ids_outside_dates: '0',
          matured_from:
            'the first day of the three members below: the first day asked for, or 180 days ago without one; or null',
          matured_to: 'the last of them; or null',
          sessions_matured: 'sessions older than 45 days',
          rev_per_session_matured: 'of those, or null',
          rev_per_session_ci95: 'its interval: an object with `low` and `high`, or null',
          by_device: 'an object for each class of device that occurs, with the seven figures',
          widget_events: 'how many events of each type widgets told',
          as_of: 'when the last record counted happened, ISO 8601, or null',
          as_of_position: 'the position of that record in the ledger',
        },
      },
    },
  },
  daily: {
    summary: 'the same day by day',
    description: 'Shows the figures of one referrer tag for each day on which its sessions were created, UTC.',
    guide: {
      examples: [
        'marketplace analytics daily --account acme --tag hero-short-form',
        'marketplace analytics daily --account acme --tag hero-short-form --from 2026-01-01 --json | jq -r .date',
      ],
      json: {
        output: 'an object a line for each day, as in the data of the API (docs/api.md)',
        members: {
          date: 'the day, UTC',
          ...metricMembers,
          widget_events: 'how many events of each type widgets told',
          matured: 'whether its sessions are older than 45 days',
          as_of_position: 'of the last record of the ledger that is counted',
        },
      },
    },
  },
  sessions: {
    summary: 'its sessions, one by one',
    description:
      'Shows the sessions of one referrer tag in the order of their creation, read page by page: later pages may count more than earlier ones while a server runs.',
    guide: {
      examples: [
        'marketplace analytics sessions --account acme --tag hero-short-form --from 2026-01-01',
        `marketplace analytics sessions --account acme --tag hero-short-form --json | jq -r 'select(.rev_confirmed > 0) | .sub_id'`,
      ],
      json: {
        output: 'an object a line for each session, as in the data of the API (docs/api.md)',
        members: {
          sub_id: 'of the session',
          referrer_tag: 'asked for',
          created_at: 'ISO 8601, as every time',
          sandbox: 'whether its key is a test key',
          device: 'the class of device',
          metadata: 'as given at its creation, or null',
          marketplace_views: 'times it was shown offers',
          offer_clicks: 'offers clicked, each once',
          rev_attributed: metricMembers.rev_attributed,
          rev_confirmed: metricMembers.rev_confirmed,
          last_event_at: 'when the last of what counts happened',
          lenders: 'an object for each with a click: `lender`, `clicks`, `rev_confirmed`',
          as_of_position: 'of the last record of the ledger that is counted',
        },
      },
    },
  },
};

/** A question to the analytics store. */
function analyticsReportCommand(query: AnalyticsReportKind): Command {
  const { summary, description, guide } = reportDefinitions[query];
  const command = new Command(query)
    .summary(summary)
    .description(
      `${description} It reads the store of the data folder, also while a server runs, and says up to which record of the ledger the figures go: what happened in the last moments may not be counted yet.`,
    )
    .requiredOption('--account <name>', 'whose sessions', parseAccountName)
    .requiredOption('--tag <tag>', 'of which experiment', parseReferrerTag)
    .addOption(
      choiceOption(
        '--vertical <segment>',
        'of which vertical',
        servedVerticals.map(({ segment }) => segment),
      ).default(servedVerticals[0]!.segment),
    )
    .addOption(choiceOption('--mode <mode>', 'of live or of test keys', ['live', 'test']).default('live'))
    .option(
      '--from <date>',
      `sessions created from this UTC day on (default: ${bounds.analyticsDefaultDays} days before the last)`,
      parseDate,
    )
    .option('--to <date>', 'and up to this one (default: today)', parseDate)
    .option('--json', query === 'summary' ? 'print one JSON object' : 'print one JSON object a line')
    .action(async (options: AnalyticsReportOptions) => {
      const { printAnalyticsReport } = await import('../actions/analytics.ts');
      await printAnalyticsReport(query, options);
    });
  return withHelp(command, { exitCodes: { 1: null }, ...guide });
}

function parseReferrerTag(text: string): string {
  if (isReferrerTag(text)) return text;
  throw new InvalidArgumentError('It must be 3 to 64 lower-case letters, digits, underscores or hyphens.');
}

function parseDate(text: string): string {
  if (parseIsoDate(text) !== null) return text;
  throw new InvalidArgumentError('It must be a date like 2026-11-21.');
}

export function analyticsCommand(): Command {
  const command = new Command('analytics')
    .summary('ask for figures, or derive them again from the ledger')
    .description(
      'Answers from the analytics store of the data folder (SVC_DATA_DIR, or ./data), also while a server runs, and derives it again.',
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
      'Counts the different referrer tags that each account has used in each vertical and mode, the most first: what ' +
        'SVC_LIMIT_REFERRER_TAGS limits. Tags count for ever, also when their single sessions were given up. It reads the store of ' +
        'the data folder, also while a server runs.',
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
      output: 'an array with an object for each account, vertical and mode, the most tags first',
      members: {
        account: 'its name, or null where no key of it is left in the key file',
        vertical: 'path segment, or null where this version does not know it',
        mode: '`live` or `test`',
        tags: 'how many different referrer tags it has used',
        as_of_position: 'of the last record of the ledger that is counted',
      },
    },
  });
}

function rebuildCommand(): Command {
  const command = new Command('rebuild')
    .summary('derive every figure again from the ledger')
    .description(
      'Checks the ledger, derives every figure again from its records and from the sealed figures of days whose records were ' +
        'given up (SVC_RETENTION_DAYS), and replaces the analytics store with the outcome. ' +
        'The service must be stopped. It never needs this by itself: a store that is damaged, gone or of another version is ' +
        'derived again at its start. Killed at any moment, it can be run again.',
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
    exitCodes: { 1: null, 3: 'the ledger is damaged; the store is as it was', 130: null },
    json: {
      output: 'one object',
      members: {
        store: 'the file',
        replaced: 'whether there was one before',
        records: 'of the ledger that it is derived from',
        left_out: 'an object: how many of them counted nothing, by the reason',
        missing: 'sentences about what the figures leave out since it is gone',
        tail_bytes: 'behind the last whole record of the ledger; the next start of the service moves them to a file',
      },
    },
  });
}
