import { Command } from 'commander';
import { analyticsReportCommand } from './analytics-query-command.ts';
import { withHelp } from './guide.ts';

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
      const { printTagCounts } = await import('./analytics-tags.ts');
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
      const { rebuildAnalytics } = await import('./analytics-rebuild.ts');
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
