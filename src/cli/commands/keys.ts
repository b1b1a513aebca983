import { Command, Option } from 'commander';
import { bounds } from '../../bounds.ts';
import { knownVerticals } from '../../verticals/registry.ts';
import type { CreateKeyOptions } from '../actions/keys.ts';
import { withHelp } from '../command-help.ts';
import { choiceOption, parseAccountName, parseFutureExpiry, parseIntegerUpTo } from '../option-parsers.ts';

/** What `toIssuedKeyJson` makes of a key, in the words of a guide. */
const keyJsonMembers = {
  id: 'what the key is called, `key_` and twelve hexadecimal digits',
  account: 'whose it is',
  vertical: 'the vertical it is good for',
  mode: '`live` or `test`',
  state: '`active`, `expired` or `revoked`',
  created_at: 'ISO 8601, as every time',
  expires_at: 'null for never',
  revoked_at: 'null while it is not',
  requests_per_minute: "its own limit; null for the service's",
  analytics_per_minute: 'the same for analytics queries',
  sessions_per_day: 'the same for sessions of one UTC day',
} as const;

function keysCreateCommand(): Command {
  const command = new Command('create')
    .summary('issue an API key and show it, once')
    .description('Issues an API key and shows it. Only its hash is kept, so it cannot be shown again.')
    .requiredOption(
      '--account <name>',
      'who the key belongs to; keys of one account and vertical share sessions and figures',
      parseAccountName,
    )
    .addOption(
      choiceOption(
        '--vertical <segment>',
        'the vertical it is good for',
        knownVerticals.map((vertical) => vertical.segment),
      ).makeOptionMandatory(),
    )
    .addOption(
      choiceOption('--mode <mode>', 'live: real users and revenue; test: synthetic offers, no revenue', [
        'live',
        'test',
      ]).makeOptionMandatory(),
    )
    .option(
      '--expires <when>',
      'a date, to the end of that UTC day, or an ISO 8601 timestamp (default: never)',
      parseFutureExpiry,
    )
    .option(
      '--requests-per-minute <n>',
      "requests in any 60 seconds (default: the service's)",
      parseIntegerUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--analytics-per-minute <n>',
      "analytics queries in any 60 seconds (default: the service's)",
      parseIntegerUpTo(bounds.limitPerMinuteMax),
    )
    .option(
      '--sessions-per-day <n>',
      "sessions created in a UTC day (default: the service's)",
      parseIntegerUpTo(bounds.limitPerDayMax),
    )
    .option('--raw', 'print the key alone, for scripts')
    .addOption(new Option('--json', 'print one JSON object').conflicts('raw'))
    .action(async (options: CreateKeyOptions) => {
      const { createAndPrintKey } = await import('../actions/keys.ts');
      createAndPrintKey(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys create --account acme --vertical personal-loans --mode live --expires 2030-12-31 --requests-per-minute 2000',
      'KEY=$(marketplace keys create --account acme --vertical personal-loans --mode test --raw)',
    ],
    exitCodes: { 1: null },
    json: { output: 'one object', members: { key: 'the key itself, only here', ...keyJsonMembers } },
  });
}

function keysListCommand(): Command {
  const command = new Command('list')
    .summary('list all keys, without the keys themselves')
    .description("Lists all keys ever issued, oldest first. A limit shown as - is the service's default.")
    .option('--json', 'print an array of JSON objects')
    .action(async (options: { readonly json?: true }) => {
      const { printKeys } = await import('../actions/keys.ts');
      printKeys(options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys list',
      `marketplace keys list --json | jq -r '.[] | select(.state == "active") | .id'`,
    ],
    exitCodes: { 1: null },
    json: { output: 'an array with an object for each key, oldest first', members: keyJsonMembers },
  });
}

function keysRevokeCommand(): Command {
  const command = new Command('revoke')
    .summary('end a key for good')
    .description('Ends a key for good. A running server refuses it within two seconds.')
    .argument('<id>', 'the id of the key, as listed; not the key itself')
    .option('--json', 'print one JSON object')
    .action(async (id: string, options: { readonly json?: true }) => {
      const { revokeKey } = await import('../actions/keys.ts');
      revokeKey(id, options);
    });
  return withHelp(command, {
    examples: [
      'marketplace keys revoke key_0123456789ab',
      `marketplace keys list --json | jq -r '.[] | select(.account == "acme") | .id' | xargs -n 1 marketplace keys revoke`,
    ],
    exitCodes: { 0: 'it is revoked, now or before', 1: null },
    json: {
      output: 'one object',
      members: { ...keyJsonMembers, revoked_before: 'whether it had been revoked already' },
    },
  });
}

export function keysCommand(): Command {
  const command = new Command('keys')
    .summary('issue, list and revoke API keys')
    .description(
      'Issues, lists and revokes API keys, in the key file of the data folder (SVC_DATA_DIR, or ./data). A server may be running.',
    )
    .addCommand(keysCreateCommand())
    .addCommand(keysListCommand())
    .addCommand(keysRevokeCommand());
  return withHelp(command, {
    examples: [
      'marketplace keys create --account acme --vertical personal-loans --mode test',
      'marketplace keys list',
      'marketplace keys revoke key_0123456789ab',
    ],
    exitCodes: { 1: null },
  });
}
